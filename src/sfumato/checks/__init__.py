"""Conformance suites: laws that models, algorithms and releases keep, shipped so that extensions can run them."""
