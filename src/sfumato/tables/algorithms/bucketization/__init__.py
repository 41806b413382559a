"""Bucketization."""
