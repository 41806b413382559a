"""Requests of the workbench."""
