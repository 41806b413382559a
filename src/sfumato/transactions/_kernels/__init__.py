"""Compiled loops of transactions."""
