"""Compiled loops that several data types share, and how loops are compiled."""
