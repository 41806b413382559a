"""Exact answers, denied if they and earlier ones would reveal a person's value."""
