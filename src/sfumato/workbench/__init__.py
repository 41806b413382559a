"""The workbench: a local page from a raw table to an audited release."""
