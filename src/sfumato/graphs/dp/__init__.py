"""Differentially private statistics of graphs."""
