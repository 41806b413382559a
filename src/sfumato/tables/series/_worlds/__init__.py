"""Possible worlds of a series, for exact disclosure risk."""
