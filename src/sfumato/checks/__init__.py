"""Conformance suites: laws that models and algorithms keep, shipped so that extensions can run them."""
