"""Conformance suites: laws that models and algorithms obey, shipped so that extensions can run them."""
