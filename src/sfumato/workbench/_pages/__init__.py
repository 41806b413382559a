"""One module per step of the workbench."""
