"""Recursive cuts of a table into segments, shared by several families."""
