"""Pages: one module per step, which arranges what is known for its template."""
