"""Repeated releases of changing tables."""
