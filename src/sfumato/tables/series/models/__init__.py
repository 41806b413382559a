"""Privacy models of a series of releases."""
