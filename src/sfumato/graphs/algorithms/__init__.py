"""Algorithms of graphs."""
