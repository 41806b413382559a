"""Estimates from randomized values."""
