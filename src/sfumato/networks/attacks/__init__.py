"""Attacks on published networks."""
