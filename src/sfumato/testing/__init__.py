"""Conformance checks for models, algorithms, attacks, metrics and formats, also those of plugins."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
