"""Compiled loops of bucketization."""
