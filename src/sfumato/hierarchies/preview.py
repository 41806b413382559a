"""What a hierarchy does to a column: its levels with examples, its groups with their records, the values it misses."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require
from sfumato.io._values import encode_distinct, format_values

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import Hierarchy, HierarchyBuilder

Counts = npt.NDArray[np.int64]
FIRST_EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class LevelPreview:
    """How a column looks at one level: the number of labels that occur, the first of them and the last."""

    labels: int
    examples: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class NodePreview:
    """A node of a hierarchy: the values and records of the column below it, and its children, as far as shown.

    `level` is the lowest level at which the label stands; 0 is a value. `hidden` counts the children not shown.
    """

    label: str = field(repr=False)
    level: int
    values: int
    records: int
    children: tuple[NodePreview, ...] = field(repr=False)
    hidden: int = 0


@dataclass(frozen=True, kw_only=True)
class HierarchyPreview:
    """What a hierarchy does to a column.

    `values` and `records` count what is not missing; `levels` goes from the values to the root; `branches` are the
    groups directly below the root; `uncovered` are the values that have nothing above them, in order, and
    `uncovered_records` counts their records. Made for eyes inside the house: it holds values of the column.
    """

    values: int
    records: int
    levels: tuple[LevelPreview, ...]
    branches: tuple[NodePreview, ...]
    hidden: int
    uncovered: tuple[str, ...]
    uncovered_records: int

    def __repr__(self) -> str:
        return f"Outline({len(self.levels)} levels over {self.values} values, {len(self.uncovered)} not covered)"

    def to_dict(self) -> dict[str, Any]:
        """Return the outline as plain numbers, strings, lists and dictionaries."""
        return asdict(self)


def preview_hierarchy(
    hierarchy: HierarchyBuilder, column: pa.Array | pa.ChunkedArray, *, most: int = 200, depth: int | None = None
) -> HierarchyPreview:
    """Tell what a hierarchy does to a column, also while it does not cover all values yet.

    Parameters
    ----------
    hierarchy : how the column can be generalized, such as `Intervals(5, 10)`.
    column : the values, one per record; missing ones are left out.
    most : how many children of a node to show, those with the most records; the rest is counted.
    depth : how many levels of branches to show below the root; by default all.

    Examples
    --------
    >>> from sfumato.hierarchies import Intervals
    >>> found = preview_hierarchy(Intervals(5, 10, 20), pa.array(range(17, 91)))
    >>> [level.labels for level in found.levels]
    [74, 16, 9, 5, 1]
    >>> found.levels[3].examples
    ('[0, 20)', '[20, 40)', '[40, 60)', '[80, 100)')

    Raises
    ------
    HierarchyError
        If the hierarchy is not for values of this kind.
    """
    require(most >= 1, "outline", "most", "at least 1", most)
    require(depth is None or depth >= 1, "outline", "depth", "at least 1", depth)
    values, records = count_values(column)
    missed = hierarchy.find_uncovered(values)
    outside = pc.is_in(format_values(values), value_set=missed)
    tree = build_for_covered(hierarchy, values)
    per_leaf = _count_leaves(tree, format_values(values), records)
    shown = _CountedTree.from_hierarchy(tree, per_leaf, most)
    branches, hidden = shown.children(tree.height, 0, tree.height if depth is None else depth)
    return HierarchyPreview(
        values=len(values),
        records=int(records.sum()),
        levels=tuple(shown.level(height) for height in range(tree.height + 1)),
        branches=branches,
        hidden=hidden,
        uncovered=tuple(missed.to_pylist()),
        uncovered_records=int(records[outside.to_numpy(zero_copy_only=False)].sum()),
    )


def count_values(column: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, Counts]:
    """Return the distinct, nonmissing values of a column in their order, and how many records have each.

    >>> values, records = count_values(pa.array(["b", "a", None, "b"]))
    >>> values.to_pylist(), records.tolist()
    (['a', 'b'], [1, 2])
    """
    values, codes = encode_distinct(column.drop_null())
    records = np.bincount(codes.to_numpy(zero_copy_only=False), minlength=len(values)).astype(np.int64)
    order = pc.array_sort_indices(values)
    return values.take(order), records[order.to_numpy()]


def build_for_covered(hierarchy: HierarchyBuilder, values: pa.Array) -> Hierarchy:
    """Build a hierarchy over those distinct, nonmissing values that it covers."""
    missed = pc.is_in(format_values(values), value_set=hierarchy.find_uncovered(values))
    return hierarchy.build(values.filter(pc.invert(missed)))


def _count_leaves(tree: Hierarchy, values: pa.Array, records: Counts) -> Counts:
    at = pc.index_in(values, value_set=pa.array(tree.labels[0], pa.string()))
    known = at.is_valid().to_numpy(zero_copy_only=False)
    places = at.drop_null().to_numpy(zero_copy_only=False)
    return np.bincount(places, weights=records[known], minlength=len(tree.leaves)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _CountedTree:
    """A tree with the values and records below every node."""

    tree: Hierarchy
    values: tuple[Counts, ...]
    records: tuple[Counts, ...]
    most: int

    @classmethod
    def from_hierarchy(cls, tree: Hierarchy, per_leaf: Counts, most: int) -> _CountedTree:
        def summed(weights: Counts) -> tuple[Counts, ...]:
            return tuple(
                np.bincount(nodes, weights=weights, minlength=len(labels)).astype(np.int64)
                for nodes, labels in zip(tree.levels, tree.labels, strict=True)
            )

        return cls(tree, summed((per_leaf > 0).astype(np.int64)), summed(per_leaf), most)

    def level(self, height: int) -> LevelPreview:
        occurring = np.flatnonzero(self.values[height])
        some = [*occurring[:FIRST_EXAMPLES].tolist(), *occurring[FIRST_EXAMPLES:][-1:].tolist()]
        return LevelPreview(labels=len(occurring), examples=tuple(self.tree.labels[height][node] for node in some))

    def children(self, height: int, node: int, depth: int) -> tuple[tuple[NodePreview, ...], int]:
        if not height or not self.tree.leaves:
            return (), 0
        start, stop = np.searchsorted(self.tree.levels[height], [node, node + 1])
        below = self.tree.levels[height - 1]
        nodes = range(int(below[start]), int(below[stop - 1]) + 1)
        shown = self._most_frequent(height - 1, nodes) if depth else []
        return tuple(self._branch(height - 1, each, depth - 1) for each in shown), len(nodes) - len(shown)

    def _most_frequent(self, height: int, nodes: range) -> list[int]:
        """Return the nodes with the most records, as many as are shown, in their order."""
        records = self.records[height][nodes.start : nodes.stop]
        most = np.argsort(-records, kind="stable")[: self.most]
        return [nodes[at] for at in np.sort(most).tolist()]

    def _branch(self, height: int, node: int, depth: int) -> NodePreview:
        """Describe a node; levels at which it only repeats the one below are skipped."""
        label = self.tree.labels[height][node]
        first = int(np.searchsorted(self.tree.levels[height], node))
        while height and self.tree.labels[height - 1][int(self.tree.levels[height - 1][first])] == label:
            height, node = height - 1, int(self.tree.levels[height - 1][first])
        children, hidden = self.children(height, node, depth)
        return NodePreview(
            label=label,
            level=height,
            values=int(self.values[height][node]),
            records=int(self.records[height][node]),
            children=children,
            hidden=hidden,
        )
