"""Mechanisms of local differential privacy, one per module."""
