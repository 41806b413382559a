"""Privacy models of trajectories."""
