"""Generalization hierarchies.

A builder (`Intervals`, `Prefixes`, `OrderedGroups`, `Taxonomy`) holds the settings of a user; its `build` turns the
values of a column into a `Hierarchy`, which holds one array of node numbers per level. `automatic`
proposes a builder, `draw` shows a hierarchy.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
