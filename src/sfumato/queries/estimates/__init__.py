"""What a published table says about sums and counts, with what is expected and what is certain."""
