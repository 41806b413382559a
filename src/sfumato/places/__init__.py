"""Places and ways: locations and trajectories, published so that a few known points find nobody."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
