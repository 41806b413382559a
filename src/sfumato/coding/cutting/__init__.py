"""Partitions of records that are cut in two, level by level: compiled loops and their plain twins."""
