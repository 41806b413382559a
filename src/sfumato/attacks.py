"""Attacks on published tables."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub("sfumato", __file__)
