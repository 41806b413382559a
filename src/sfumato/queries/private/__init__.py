"""Stage QUERY: answers with differential privacy, each paid from a budget that survives restarts."""
