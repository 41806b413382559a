"""Data mining: item sets and rules, hiding the sensitive ones, and trees that single nobody out."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
