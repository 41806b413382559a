"""Fuse: several owners of attributes of the same people make one anonymous table without showing their own."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
