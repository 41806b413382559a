"""Made-up tables for the demo, the documentation, tests and benchmarks; nobody in them exists."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
