"""Remember: who was in which group of which release, so that releases of one table stay safe together."""
