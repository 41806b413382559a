"""Charts as plain SVG."""
