"""Privacy models of tables, one per module."""
