"""Algorithms of tables, by family."""
