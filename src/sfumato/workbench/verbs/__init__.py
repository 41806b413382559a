"""Verbs: what the worker can be asked to do, one module per function of the library."""
