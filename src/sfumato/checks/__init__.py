"""Conformance suites: laws that models, algorithms and formats obey, shipped so that other packages can run them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
