"""Sensitive values in buckets, unlinked from the records they belong to."""
