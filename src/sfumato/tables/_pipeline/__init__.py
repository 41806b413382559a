"""From request to release."""
