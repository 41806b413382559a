"""Microaggregation: groups of records that are near each other, published by what stands for all of them."""
