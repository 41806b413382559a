"""Condensation: synthetic records drawn from the statistics of groups of at least k records."""
