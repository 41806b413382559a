"""Roles and scales of columns."""
