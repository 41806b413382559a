"""Microaggregation: groups of nearby records, published by values that represent all of them."""
