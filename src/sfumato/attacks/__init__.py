"""Attacks on published tables: what an adversary gets right, beside guessing and beside a control."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
