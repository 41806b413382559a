"""Attacks on published tables and synthetic records."""
