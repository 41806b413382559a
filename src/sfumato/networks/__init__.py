"""Networks: who knows whom, published so that what somebody knows of the structure finds nobody."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
