"""Judge what is published: audit, exposure, risk, measures and comparisons, all from the published table itself."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
