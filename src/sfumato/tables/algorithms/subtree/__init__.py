"""Subtree generalization."""
