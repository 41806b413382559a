"""Experiments of the thesis."""
