"""Attacks on trajectories."""
