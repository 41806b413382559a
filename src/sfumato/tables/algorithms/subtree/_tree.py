"""Trees above the values of an attribute, and parts of it that are published alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain
from sfumato.tables.algorithms._labels import HierarchyBounds
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    RecodedAttribute,
    Suppressed,
    ValueSet,
)

Ints = npt.NDArray[np.int64]
MOST_LISTED = 100  # the most values of a published set


@dataclass(frozen=True, order=True)
class Part:
    """Leaves of one attribute that are published alike: a member of a cut.

    Parameters
    ----------
    runs : the codes, as ranges from first to last code, ascending.
    node : the node that they are all children of or, for a whole node, the node itself.
    members : which of its children they are; empty for a leaf, and if neighbors may be joined freely.
    """

    runs: tuple[tuple[int, int], ...]
    node: int
    members: tuple[int, ...] = ()

    @property
    def first(self) -> int:
        """The smallest code."""
        return self.runs[0][0]

    @property
    def last(self) -> int:
        """The largest code."""
        return self.runs[-1][1]


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes above the codes of one attribute; code i is node i, the root is the last node.

    Missing values, if any, are a child of the root. Nodes with the same leaves are one node, named like the lowest
    of them. Without a hierarchy, the values are the children of the root; if they have an order (`neighbors`), parts
    are ranges of them.

    Parameters
    ----------
    domain : the attribute's values.
    missing : whether missing values occur.
    first, last : the range of codes under every node.
    offsets, below : the children of node i are `below[offsets[i]:offsets[i + 1]]`.
    names : the level and the index on it that name every node.
    """

    domain: Domain
    missing: bool
    first: Ints
    last: Ints
    offsets: Ints
    below: Ints
    names: Ints

    @classmethod
    def of(cls, domain: Domain, *, missing: bool) -> Tree:
        """Build the tree above a domain."""
        codes = len(domain) + missing
        levels = [np.arange(codes), np.zeros(codes, dtype=np.int64)]
        if domain.hierarchy is not None:
            between = [nodes.astype(np.int64) for nodes in domain.hierarchy.levels[1:-1]]
            levels[1:1] = [np.append(nodes, nodes.max(initial=-1) + 1) for nodes in between] if missing else between
        current = np.arange(codes)
        first, last, names = [current], [current], [np.column_stack([np.zeros_like(current), current])]
        above = np.full(codes * len(levels), -1)
        nodes = codes
        for height, level in enumerate(levels[1:], start=1):
            starts = np.flatnonzero(np.diff(level, prepend=-1))
            stops = np.append(starts[1:], codes) - 1
            parting = current[starts] != current[stops]
            own = np.where(parting, nodes + np.cumsum(parting) - 1, current[starts])
            upper = np.repeat(own, stops - starts + 1)
            above[current[upper != current]] = upper[upper != current]
            first.append(starts[parting])
            last.append(stops[parting])
            names.append(np.column_stack([np.full(parting.sum(), height), level[starts[parting]]]))
            current, nodes = upper, nodes + int(parting.sum())
        starts, above = np.concatenate(first), above[:nodes]
        order = np.lexsort((starts, above))
        offsets = np.searchsorted(above[order], np.arange(nodes + 1))
        return cls(domain, missing, starts, np.concatenate(last), offsets, order, np.concatenate(names))

    @property
    def root(self) -> int:
        """The node above all codes."""
        return len(self.first) - 1

    @property
    def codes(self) -> int:
        """The number of codes, including that of missing values if they occur."""
        return len(self.domain) + self.missing

    @property
    def neighbors(self) -> bool:
        """Whether values are joined to ranges freely, because only an order relates them."""
        return self.domain.hierarchy is None and self.domain.scale.ordered

    def children(self, node: int) -> Ints:
        """Return the children of a node."""
        return self.below[self.offsets[node] : self.offsets[node + 1]]

    def whole(self, node: int) -> Part:
        """Return the part of everything under a node."""
        members = () if self.neighbors else tuple(self.children(node).tolist())
        return Part(((int(self.first[node]), int(self.last[node])),), node, members)

    def top(self) -> Part:
        """Return the part of all values."""
        return self.whole(self.root)

    def bottom(self) -> list[Part]:
        """Return one part per value."""
        return [self.whole(code) for code in range(self.codes)]

    def run(self, first: int, last: int) -> Part:
        """Return the part of a range of values."""
        if first == last:
            return self.whole(first)
        return Part(((first, last),), self.root)

    def joined(self, node: int, members: Sequence[int]) -> Part:
        """Return the part of some children of a node."""
        if len(members) == 1:
            return self.whole(members[0])
        if len(members) == self.offsets[node + 1] - self.offsets[node]:
            return self.whole(node)
        runs: list[tuple[int, int]] = []
        for member in members:
            first, last = int(self.first[member]), int(self.last[member])
            if runs and runs[-1][1] == first - 1:
                first = runs.pop()[0]
            runs.append((first, last))
        return Part(tuple(runs), node, tuple(members))

    def leaves(self, part: Part) -> int:
        """Count the values in a part; a missing value counts if it is alone."""
        values = sum(min(last, len(self.domain) - 1) - first + 1 for first, last in part.runs)
        return max(values, 1)

    def can_be_published(self, part: Part) -> bool:
        """Whether a label shows exactly which values a part has, and is not too long."""
        if part.runs == ((self.first[part.node], self.last[part.node]),):
            return True
        known = part.last < len(self.domain)
        return known and (self._is_range(part) or self.leaves(part) <= MOST_LISTED)

    def label(self, part: Part) -> Label:
        """Return the label of a part."""
        if part.runs != ((self.first[part.node], self.last[part.node]),):
            if self._is_range(part):
                bounds = self._bounds
                if bounds is not None and bounds.ends_at(part.first, part.last):
                    return bounds.interval(part.first, part.last)
                return Interval(self._values[part.first], self._values[part.last])
            codes = [code for first, last in part.runs for code in range(first, last + 1)]
            return ValueSet(tuple(self.domain.texts[code] for code in codes))
        if part.first == part.last:
            return MissingCell() if part.first == len(self.domain) else Exact(self._values[part.first])
        if part.node == self.root or self.domain.hierarchy is None:
            return Suppressed()
        level, place = self.names[part.node].tolist()
        text = self.domain.hierarchy.labels[level][place]
        return Suppressed() if text == SUPPRESSED_TEXT else Node(text)

    def _is_range(self, part: Part) -> bool:
        return self.domain.scale.ordered and len(part.runs) == 1

    @cached_property
    def _bounds(self) -> HierarchyBounds | None:
        return HierarchyBounds.of(self.domain)

    @cached_property
    def _values(self) -> list[object]:
        values: list[object] = self.domain.values.to_pylist()
        return values


class Cut:
    """The parts of one attribute: every code is in exactly one."""

    def __init__(self, tree: Tree, parts: Iterable[Part]) -> None:
        self.tree = tree
        self.parts = list(parts)
        self.number = np.zeros(tree.codes, dtype=np.int32)
        for number, part in enumerate(self.parts):
            self._place(part, number)

    def replace(self, old: Sequence[Part], parts: Sequence[Part]) -> None:
        """Replace some parts by other parts with the same values."""
        free = sorted(int(self.number[part.first]) for part in old)
        for part in parts:
            number = free.pop(0) if free else len(self.parts)
            self.parts[number : number + 1] = [part]
            self._place(part, number)
        for number in reversed(free):
            last = self.parts.pop()
            if number < len(self.parts):
                self.parts[number] = last
                self._place(last, number)

    def _place(self, part: Part, number: int) -> None:
        for first, last in part.runs:
            self.number[first : last + 1] = number

    def by_value(self) -> RecodedAttribute:
        """Return the label of every code, with that of missing values last."""
        number = self.number
        labels = [self.tree.label(part) for part in self.parts]
        if not self.tree.missing:
            number = np.append(number, np.int32(len(labels) if len(labels) > 1 else 0))
            labels = [*labels, MissingCell()] if len(labels) > 1 else labels
        return RecodedAttribute(labels, number)
