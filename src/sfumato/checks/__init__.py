"""Conformance suites: laws for models, algorithms, formats and releases, which other packages can run, too."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
