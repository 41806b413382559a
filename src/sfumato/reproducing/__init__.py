"""Experiments of published work, repeated: figures as numbers and pictures, and which findings were seen."""
