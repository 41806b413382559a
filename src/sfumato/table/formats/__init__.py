"""File formats and databases, one module each."""
