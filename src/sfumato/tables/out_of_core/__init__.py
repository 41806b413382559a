"""Releases of tables larger than memory."""
