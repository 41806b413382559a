"""Masking steps, one per module."""
