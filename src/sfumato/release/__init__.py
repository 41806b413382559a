"""Make a release: search, apply, audit, record; write it, explore alternatives, recode later rows."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
