"""Messages in English and Chinese."""
