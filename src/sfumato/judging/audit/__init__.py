"""What a published table keeps, found from the table alone."""
