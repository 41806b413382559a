"""Releases of tables that do not fit into memory: an engine touches the rows, and searches see counts."""
