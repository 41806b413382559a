"""Full-domain generalization."""
