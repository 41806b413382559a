"""Attacks that combine several releases."""
