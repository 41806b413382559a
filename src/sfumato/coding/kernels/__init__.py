"""Compiled loops. Each has a plain oracle in the tests and a NumPy path for small tables."""
