"""Collect: values are randomized before they leave their owner; distributions are estimated from what arrives.

There are two families. Randomization with public noise (`collect`, `reconstruct`) blurs values and promises no epsilon;
local differential privacy (`LocalClient`, `LocalServer` and the mechanisms) bounds what any report can reveal.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
