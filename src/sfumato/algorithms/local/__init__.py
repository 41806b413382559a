"""Local recoding: every group of records is published in its own way."""
