"""Experiments of published work, done again: figures as numbers and pictures, and which findings were seen."""
