"""Report: the folders that go out and stay in, with the pages that explain them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
