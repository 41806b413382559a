"""Boxes of tree nodes that cover enough rows, and what rows are worth: compiled loops and their plain twins."""
