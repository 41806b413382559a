"""How far a group's distribution of sensitive values is from its table's."""
