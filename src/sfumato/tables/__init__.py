"""Tables: the pipeline from a raw table to an audited release, and its results."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
