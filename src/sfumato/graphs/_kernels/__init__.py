"""Compiled loops of graphs."""
