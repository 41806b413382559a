"""Tables that stay where they are, because they do not fit into memory: an engine counts and rewrites their rows."""
