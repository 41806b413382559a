"""Information loss, utility and comparisons with the original."""
