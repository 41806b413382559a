"""Inspection of raw tables: roles and scales of columns, with reasons, and raw risk."""
