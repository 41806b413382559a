"""How far the distribution of sensitive values in a group is from that of the table."""
