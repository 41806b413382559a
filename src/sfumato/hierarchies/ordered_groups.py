"""Ordered groups: values in a given order, with named groups of neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sfumato.hierarchies._nested_groups import NestedGroups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, init=False, repr=False)
class OrderedGroups(NestedGroups):
    """Generalize a value to groups of its neighbors in a given order.

    Parameters
    ----------
    groups : as the tree of a `Taxonomy`, from lowest to highest as written. A plain list is an order
        without groups.

    Examples
    --------
    >>> groups = OrderedGroups({"low": ["none", "primary"], "high": ["secondary", "degree"]})
    >>> groups.hierarchy.leaves
    ('none', 'primary', 'secondary', 'degree')
    """

    kind: ClassVar[str] = "ordered-groups"
    scale: ClassVar[str] = "ordinal"
    ordered: ClassVar[bool] = True
    tree_setting: ClassVar[str] = "groups"

    def __init__(self, groups: Mapping[str, object] | Sequence[object]) -> None:
        super().__init__(groups)
