"""What a published table says about sums and counts: what to expect and what is certain."""
