"""Records as points, and the compiled loops that cluster them."""
