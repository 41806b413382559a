"""Possible worlds of a series of releases: what everybody's value may be, given all groups that she was ever in."""
