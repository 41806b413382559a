"""Searches for a network that keeps a promise."""
