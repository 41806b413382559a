"""Exact answers, denied where they and earlier ones would tell a person's value."""
