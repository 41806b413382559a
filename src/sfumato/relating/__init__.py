"""Relate: several tables about the same persons, published so that their join hides everybody in a group."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
