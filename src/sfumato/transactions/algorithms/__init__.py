"""Algorithms of transactions."""
