"""Local differential privacy and randomization: values are perturbed before they leave their owner.

Randomization with public noise (`collect`, `reconstruct`) gives no epsilon; the mechanisms of local differential
privacy (`LocalClient`, `LocalServer`) bound what any report can reveal.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
