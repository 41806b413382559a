"""The audit of published tables: it never sees the search."""
