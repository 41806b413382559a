"""A taxonomy of items as arrays: the parent of every node, and how many items it stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.errors import HierarchyError
from sfumato.hierarchies.taxonomy import Taxonomy

Ints = npt.NDArray[np.int64]
SMALLEST_FAN = 2


@dataclass(frozen=True, eq=False, repr=False)
class ItemTaxonomy:
    """Nodes of a taxonomy, children before their parents; the items come first and the root comes last.

    Parameters
    ----------
    names : the label of every node.
    parents : the parent of every node; -1 for the root.
    item_count : how many nodes are items.
    """

    names: tuple[str, ...]
    parents: Ints
    item_count: int

    def __repr__(self) -> str:
        return f"ItemTaxonomy({self.item_count} items, {len(self.names)} nodes)"

    @classmethod
    def from_taxonomy(cls, taxonomy: Taxonomy) -> ItemTaxonomy:
        """Make a tree of a taxonomy; a label that several levels repeat is one node."""
        if len(taxonomy.rows) < SMALLEST_FAN:
            raise HierarchyError("The taxonomy has only one leaf, so nothing can be generalized; give it more items.")
        names: dict[str, int] = {}
        for labels in taxonomy.hierarchy.labels:
            for label in labels:
                names.setdefault(label, len(names))
        parents = np.full(len(names), -1, dtype=np.int64)
        for low, high in {pair for row in taxonomy.rows for pair in pairwise(row) if pair[0] != pair[1]}:
            parents[names[low]] = names[high]
        return cls(tuple(names), parents, len(taxonomy.rows))

    @property
    def root(self) -> int:
        """The number of the root."""
        return len(self.names) - 1

    @cached_property
    def leaves(self) -> Ints:
        """How many items every node stands for."""
        counts = np.zeros(len(self.names), dtype=np.int64)
        counts[: self.item_count] = 1
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                counts[parent] += counts[node]
        return counts

    @cached_property
    def penalty(self) -> Ints:
        """The certainty penalty of every node, not yet normalized: 0 for an item, else how many it stands for."""
        penalty = self.leaves.copy()
        penalty[: self.item_count] = 0
        return penalty

    @cached_property
    def first_leaf(self) -> Ints:
        """The first item of every node, in an order of items where every node is a run."""
        return self._spans[0]

    @cached_property
    def leaf_position(self) -> Ints:
        """The place of every item in that order."""
        return self._spans[1]

    @cached_property
    def _spans(self) -> tuple[Ints, Ints]:
        first = np.zeros(len(self.names), dtype=np.int64)
        filled = np.zeros(len(self.names), dtype=np.int64)
        for node in range(self.root - 1, -1, -1):  # parents come after their children, so they are placed before
            above = self.parents[node]
            first[node] = first[above] + filled[above]
            filled[above] += self.leaves[node]
        return first, first[: self.item_count]

    def without_parent(self, node: int) -> ItemTaxonomy:
        """Return the same nodes, of which one has nothing above it any more."""
        made = ItemTaxonomy(self.names, self.parents.copy(), self.item_count)
        for name in ("leaves", "penalty", "_spans"):  # which only the whole tree tells
            made.__dict__[name] = getattr(self, name)
        made.parents[node] = -1
        return made

    def item_codes(self, items: Iterable[str]) -> Ints:
        """Return the nodes of items; refuse items that are no leaf by number, since items are data."""
        place = {name: code for code, name in enumerate(self.names[: self.item_count])}
        codes = np.array([place.get(name, -1) for name in items], dtype=np.int64)
        outside = int((codes < 0).sum())
        if outside:
            raise HierarchyError(
                f"The taxonomy misses {outside:,} of the {len(codes):,} items; add each of them as a leaf."
            )
        return codes


def _named(group: Sequence[str], most: int) -> str:
    """Name a group by its items, or by the first and the last of many; one alone is itself."""
    if len(group) == 1:
        return group[0]
    return f"{{{','.join(group)}}}" if len(group) <= most else f"{{{group[0]}..{group[-1]}}}"


def balanced_taxonomy(items: Sequence[str], *, fan_out: int = 5) -> Taxonomy:
    """Put items under a tree of even groups, in the order of their names, or of their numbers if all are numbers.

    Its groups mean no more than that order does; a taxonomy that people made keeps more of what a release can tell.
    Groups are named by what they hold, so that a release with them can be read: by their items, or if these are many by
    the first and the last one in that order. So these names are published.

    Parameters
    ----------
    items : the names of all items, such as `baskets.items`.
    fan_out : how many items or groups a group joins.

    Examples
    --------
    >>> balanced_taxonomy(["a", "b", "c"], fan_out=2).rows
    (('a', '{a,b}', '*'), ('b', '{a,b}', '*'), ('c', 'c', '*'))
    >>> balanced_taxonomy([str(number) for number in range(1, 10)], fan_out=2).rows[4]
    ('5', '{5,6}', '{5..8}', '{1..8}', '*')
    """
    require(
        is_integer(fan_out) and fan_out >= SMALLEST_FAN, "balanced", "fan_out", "a whole number of at least 2", fan_out
    )
    numbers = all(name.isdecimal() for name in items)
    ordered = sorted(items, key=(lambda name: (int(name), name)) if numbers else None)
    columns, level = [ordered], 1
    while len(ordered) > fan_out**level:
        size = fan_out**level
        groups = [ordered[at : at + size] for at in range(0, len(ordered), size)]
        columns.append([name for group in groups for name in [_named(group, fan_out)] * len(group)])
        level += 1
    return Taxonomy.from_rows([(*row, "*") for row in zip(*columns, strict=True)])
