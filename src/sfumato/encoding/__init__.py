"""Dictionary encoding of tables."""
