"""The bounds that a hierarchy of numbers, dates or ranks draws, so that intervals need not end at somebody's value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.domain import Domain
from sfumato.core.publication import Center, Interval, Label
from sfumato.core.published.labels import parse_label
from sfumato.schema.scales import Scale

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HierarchyBounds:
    """The lowest nodes above the leaves, each as an interval; `node` is that of every leaf."""

    node: npt.NDArray[np.int32]
    nodes: tuple[Interval, ...]

    @classmethod
    def of(cls, domain: Domain) -> HierarchyBounds | None:
        """Read the bounds of a domain's hierarchy; nothing where it has none, or where its nodes are no intervals."""
        hierarchy = domain.hierarchy
        if hierarchy is None or not domain.scale.ordered or not len(domain):
            return None
        node = hierarchy.levels[1]
        if domain.scale is Scale.ORDINAL:
            values = domain.values.to_pylist()
            first = np.flatnonzero(np.diff(node, prepend=-1))
            last = np.append(first[1:], len(values)) - 1
            return cls(node, tuple(Interval(values[a], values[b]) for a, b in zip(first, last, strict=True)))
        read = [_parse_interval(parse_label(text, domain.scale, {})) for text in hierarchy.labels[1]]
        nodes = tuple(each for each in read if each is not None)
        return cls(node, nodes) if len(nodes) == len(read) else None

    def widened(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Widen ranges of leaves to whole nodes; a single leaf stays."""
        first = np.searchsorted(self.node, self.node[low], side="left")
        last = np.searchsorted(self.node, self.node[high], side="right") - 1
        return np.where(low == high, low, first), np.where(low == high, high, last)

    def ends_at(self, low: int, high: int) -> bool:
        """Return whether a range of leaves consists of whole nodes."""
        first, last = self.widened(np.array([low]), np.array([high]))
        return bool(first[0] == low and last[0] == high)

    def interval(self, low: int, high: int) -> Interval:
        """Return the interval from the node of one leaf to that of another."""
        first, last = self.nodes[self.node[low]], self.nodes[self.node[high]]
        return Interval(first.low, last.high, first.low_closed, last.high_closed)


def _parse_interval(label: Label) -> Interval | None:
    if isinstance(label, Center):
        return Interval(label.value, label.value)
    return label if isinstance(label, Interval) else None
