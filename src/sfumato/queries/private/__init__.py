"""Answers with differential privacy, each paid from a budget that survives restarts."""
