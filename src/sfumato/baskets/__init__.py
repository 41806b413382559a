"""Sets: baskets, diagnoses, search queries, published so that no few known items find a person."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
