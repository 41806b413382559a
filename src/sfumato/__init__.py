"""Sfumato publishes tables about persons: it measures risk, keeps a stated promise, and proves it."""

from lazy_loader import attach_stub

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
