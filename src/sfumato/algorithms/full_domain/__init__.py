"""Full-domain recoding: one level per attribute, the same for all records."""
