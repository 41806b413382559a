"""What can be promised about a published network."""
