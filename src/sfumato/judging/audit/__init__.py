"""What a published table keeps, found from the table and nothing else."""
