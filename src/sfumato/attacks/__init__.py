"""Attacks on published tables: what an adversary gets right, compared with guessing and with a control."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
