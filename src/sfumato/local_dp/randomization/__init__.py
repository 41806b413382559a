"""Randomization with public noise."""
