"""Privacy models of transactions."""
