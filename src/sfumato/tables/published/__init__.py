"""Published tables: labels, groups and what they cover."""
