"""Mask: change or hide single cells as statistical offices do, one method per file, each with words and measures."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
