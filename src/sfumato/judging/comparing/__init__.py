"""Comparisons of a published or synthetic table with the original."""
