"""Stage SEARCH: algorithms, one file each. They find what to publish; they never judge it."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
