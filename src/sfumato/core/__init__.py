"""The narrow waist: what is published per record, counts per group, and how published cells are read back."""
