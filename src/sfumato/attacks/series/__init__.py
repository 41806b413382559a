"""Attacks on series of releases: what several tables tell together, and none of them alone."""
