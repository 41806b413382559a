"""Rows in groups that are published as boxes of tree nodes: compiled loops and their plain twins."""
