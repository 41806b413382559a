"""Algorithms of trajectories."""
