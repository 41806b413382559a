"""The space of records: distances and centers on every scale, shared by all methods of this package.

Scales and centers are those of Shi, Zhang, Dong 2024, section 1.5. On a taxonomy, two leaves are as far apart as the
number of levels on which they lie under different nodes, so sums of distances are sums of counts per level; a nominal
attribute is a taxonomy of height 1. All but numeric sums are sums of whole numbers, so ties are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import SchemaError
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._segments.cuts import make_axes
from sfumato.tables.algorithms.microaggregation._point_clusters import (
    STEP,
    CodedAxes,
    Codes,
    GrowthCandidates,
    Points,
    TreeAxes,
)
from sfumato.tables.published.groups import Groups, Histogram

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


Kind: TypeAlias = Literal["numeric", "ordinal", "taxonomy", "nominal"]

MOST_LEAVES = 5_000
HUGE = 2.0**960  # sums of larger numbers may exceed the range of floats, so they are scaled down first
KINDS: Mapping[Scale, Kind] = {
    Scale.NUMERIC: "numeric",
    Scale.ORDINAL: "ordinal",
    Scale.CATEGORICAL: "taxonomy",
    Scale.NOMINAL: "nominal",
}


@dataclass(frozen=True, eq=False)
class SpaceAxis:
    """One quasi-identifier on its scale.

    Parameters
    ----------
    column : the codes and their domain.
    kind : how distances and centers are computed.
    weight : the weight of this axis in the distance of records.
    positions : where the codes lie, so that the values that occur span a range of 1; unused on other than ordered
        scales.
    """

    column: CodedColumn
    kind: Kind
    weight: float
    positions: Floats

    @classmethod
    def of(cls, column: CodedColumn, weight: float = 1.0) -> SpaceAxis:
        """Place a column on the axis of its scale."""
        return cls(column, KINDS[column.domain.scale], weight, _positions(column))

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    @property
    def ordered(self) -> bool:
        """Whether distances are differences of positions."""
        return self.kind in {"numeric", "ordinal"}

    @cached_property
    def levels(self) -> tuple[npt.NDArray[np.int32], ...]:
        """The node above every leaf, level by level, without the root; only the leaves if there is no taxonomy."""
        hierarchy = self.column.domain.hierarchy
        if self.kind == "taxonomy" and hierarchy is not None:
            return hierarchy.levels[:-1]
        return (np.arange(len(self.column.domain), dtype=np.int32),)

    def distances(self) -> Floats:
        """Return the distance of every two codes, without the weight: of leaves of a taxonomy, or of nominal values."""
        leaves = len(self.column.domain)
        if leaves > MOST_LEAVES:
            raise SchemaError(
                f"Column {self.name!r} has {leaves:,} distinct values, but distances of at most {MOST_LEAVES:,} can be "
                "stored; generalize it first or give it an order."
            )
        apart = np.zeros((leaves, leaves), dtype=np.float64)
        for nodes in self.levels:
            apart += nodes[:, None] != nodes[None, :]
        return apart / len(self.levels)

    def center(self, counts: Sequence[int] | Ints) -> float | int:
        """Find the center of values with these counts: a number in its own unit, or a code."""
        counted = np.asarray(counts, dtype=np.int64)
        codes = np.flatnonzero(counted)
        offsets, missing = np.array([0, len(codes)]), np.zeros(1, dtype=np.int64)
        histogram = Histogram(offsets, codes.astype(np.int32), counted[codes], len(counted), missing)
        center = self.centers(histogram)[0]
        return float(center) if self.kind == "numeric" else int(center)

    def centers(self, values: Histogram) -> Floats | Ints:
        """Find the center of every group: numbers in their own unit, otherwise codes, the lowest among equals."""
        if self.kind == "numeric":
            return _means(values, self.column.domain.positions)
        return _middle_ranks(values) if self.kind == "ordinal" else _medoids(values, self.levels)[0]

    def losses(self, values: Histogram) -> Floats:
        """Sum the distances of every group's records to its center, without the weight."""
        if not self.ordered:
            return _medoids(values, self.levels)[1] / len(self.levels)
        if self.kind == "ordinal":
            apart: Ints = values.counts * np.abs(values.codes - _middle_ranks(values)[values.rows])
            return values.reduce(np.add, apart) / max(len(self.column.domain) - 1, 1)
        away: Floats = np.abs(self.positions[values.codes] - _means(values, self.positions)[values.rows])
        return values.reduce(np.add, values.counts * away)


@dataclass(frozen=True, eq=False)
class RecordSpace:
    """All quasi-identifiers on their axes; the distance of two records is the weighted sum over the axes."""

    axes: tuple[SpaceAxis, ...]

    @classmethod
    def of(cls, table: CodedTable, weights: Mapping[str, float] | None = None) -> RecordSpace:
        """Place every quasi-identifier on its axis, with weight 1 by default."""
        given = dict(weights or {})
        unknown = sorted(set(given) - {column.name for column in table.quasi})
        if unknown:
            names = ", ".join(repr(name) for name in unknown)
            raise SchemaError(f"There are weights for {names}, which are not quasi-identifiers; drop them.")
        return cls(tuple(SpaceAxis.of(column, float(given.get(column.name, 1.0))) for column in table.quasi))

    def centers(self, labels: npt.NDArray[np.integer], groups: int) -> tuple[Floats | Ints, ...]:
        """Find the center of every group on every axis; records with negative labels are in no group."""
        histograms = self._histograms(labels, groups)
        return tuple(axis.centers(histograms[axis.name]) for axis in self.axes)

    def losses(self, labels: npt.NDArray[np.integer], groups: int) -> Floats:
        """Sum the weighted distances of every group's records to its center."""
        histograms = self._histograms(labels, groups)
        total = np.zeros(groups, dtype=np.float64)
        for axis in self.axes:
            total += axis.weight * axis.losses(histograms[axis.name])
        return total

    def _histograms(self, labels: npt.NDArray[np.integer], groups: int) -> Mapping[str, Histogram]:
        return Groups.from_rows(labels, groups, [axis.column for axis in self.axes]).histograms


def _positions(column: CodedColumn) -> Floats:
    """Place the codes so that those that occur span a range of 1; ranks span their whole order."""
    domain = column.domain
    places = make_axes([domain]).positions
    if domain.scale is not Scale.NUMERIC or not len(places):
        return places
    occurring = np.flatnonzero(np.bincount(column.codes, minlength=len(domain) + 1)[: len(domain)])
    if not len(occurring):
        return places
    low, high = places[occurring[0]], places[occurring[-1]]
    return np.asarray((places - low) / (high - low)) if high > low else np.zeros_like(places)


def _means(values: Histogram, positions: Floats) -> Floats:
    """Average positions per group; the mean lies between smallest and largest, so equal ones are their own mean."""
    if np.abs(positions).max(initial=0) > HUGE:
        return _means(values, positions / HUGE) * HUGE
    filled = np.flatnonzero(np.diff(values.offsets))
    low, high = np.zeros(len(values.offsets) - 1), np.zeros(len(values.offsets) - 1)
    low[filled] = positions[values.codes[values.offsets[filled]]]
    high[filled] = positions[values.codes[values.offsets[filled + 1] - 1]]
    above = values.reduce(np.add, values.counts * (positions[values.codes] - low[values.rows]))
    sizes = np.maximum(values.reduce(np.add, values.counts), 1)
    return np.clip(low + above / sizes, low, high)


def _middle_ranks(values: Histogram) -> Ints:
    """Round the mean rank of every group toward the side with more records; to the nearer rank if neither has."""
    sizes = np.maximum(values.reduce(np.add, values.counts), 1)
    codes = values.codes.astype(np.int64)
    total = values.reduce(np.add, values.counts * codes)
    side = np.sign(codes * sizes[values.rows] - total[values.rows])
    heavier = values.reduce(np.add, values.counts * side)
    down, up, nearest = total // sizes, -(-total // sizes), (2 * total + sizes) // (2 * sizes)
    return np.where(heavier > 0, up, np.where(heavier < 0, down, nearest)).astype(np.int64)


def _medoids(values: Histogram, levels: Sequence[npt.NDArray[np.int32]]) -> tuple[Ints, Ints]:
    """Find the member of every group nearest to all others, and the total number of levels that others are apart."""
    rows, sizes = values.rows, values.reduce(np.add, values.counts)
    shared = np.zeros(len(rows), dtype=np.int64)
    for nodes in levels:
        here = nodes[values.codes]
        first = np.append(True, (np.diff(rows) != 0) | (np.diff(here) != 0))[: len(rows)]
        starts = np.flatnonzero(first)
        if len(starts):
            shared += np.add.reduceat(values.counts, starts)[np.cumsum(first) - 1]
    best = values.reduce(np.maximum, shared)
    top = np.flatnonzero(shared == best[rows])
    groups, place = np.unique(rows[top], return_index=True)
    medoids = np.zeros(len(sizes), dtype=np.int64)
    medoids[groups] = values.codes[top[place]]
    return medoids, len(levels) * sizes - best


# From a space to the arrays that compiled loops cluster.

Scaling: TypeAlias = Literal["deviation", "range"]
Nodes: TypeAlias = npt.NDArray[np.int32]


def to_points(space: RecordSpace, scaling: Scaling) -> Points:
    """Convert records to points for squared distances: numbers on lines, ranks and trees by code.

    With the scaling `"deviation"` every axis is divided by its mean squared distance to the center of all records,
    which turns numbers into z-scores; with `"range"` it is unchanged.
    """
    lines = [axis for axis in space.axes if axis.kind == "numeric"]
    coded = [axis for axis in space.axes if axis.kind != "numeric"]
    rows = len(space.axes[0].column.codes)
    places = np.zeros((len(lines), rows))
    for j, axis in enumerate(lines):
        line = axis.positions[axis.column.codes]
        places[j] = round_to_grid((line - line.mean()) * np.sqrt(_weight(axis, scaling)))
    weights = np.array([_weight(axis, scaling) for axis in coded], dtype=np.float64)
    ranks = [
        round_to_grid(axis.positions * np.sqrt(weight)) if axis.ordered else np.zeros(len(axis.column.domain))
        for axis, weight in zip(coded, weights.tolist(), strict=True)
    ]
    leaves, heights, starts, nodes = _tree_levels(coded)
    axes = CodedAxes(leaves, heights, starts, _offsets(leaves), weights, nodes, _concatenate(ranks))
    return Points(places, _codes(coded, rows), axes)


def to_center_points(space: RecordSpace, points: Points, labels: npt.NDArray[np.integer], groups: int) -> Points:
    """Convert the centers of groups to points; records with negative labels are in no group."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=groups)
    places = np.zeros((len(points.places), groups))
    for j, line in enumerate(points.places):
        places[j] = np.bincount(labels[inside], weights=line[inside], minlength=groups) / sizes
    coded = RecordSpace(tuple(axis for axis in space.axes if axis.kind != "numeric"))
    found = coded.centers(labels, groups)
    codes = np.array([each.astype(np.int32) for each in found], dtype=np.int32).reshape(len(found), groups)
    return Points(places, codes, points.axes)


def to_boxes(space: RecordSpace) -> tuple[GrowthCandidates, npt.NDArray[np.intp]]:
    """Convert distinct records to boxes, in the order of their first rows; also return all rows, by candidate.

    Numbers and ranks are lines, taxonomies trees, and a nominal attribute is a tree of height 1.
    """
    columns = [axis.column for axis in space.axes]
    grouped = group_columns([column.codes for column in columns], [len(column.domain) + 1 for column in columns])
    chosen = np.sort(representative_rows(grouped))
    number = np.empty(len(grouped), dtype=np.int64)
    number[grouped.labels[chosen]] = np.arange(len(chosen))
    candidate = number[grouped.labels]
    lines = [axis for axis in space.axes if axis.ordered]
    coded = [axis for axis in space.axes if not axis.ordered]
    places = np.zeros((len(lines), len(chosen)))
    for j, axis in enumerate(lines):
        places[j] = round_to_grid(axis.weight * axis.positions[axis.column.codes[chosen]])
    leaves, heights, starts, nodes = _tree_levels(coded)
    steps = heights + 1
    costs = [
        round_to_grid(axis.weight * np.arange(step) / (step - 1))
        for axis, step in zip(coded, steps.tolist(), strict=True)
    ]
    trees = TreeAxes(leaves, heights, starts, _offsets(leaves), _offsets(steps), nodes, _concatenate(costs))
    counts = np.bincount(candidate).astype(np.int64)
    codes = np.ascontiguousarray(_codes(coded, len(grouped.labels))[:, chosen])
    return GrowthCandidates(places, codes, counts, trees), np.argsort(candidate, kind="stable")


def round_to_grid(places: Floats) -> Floats:
    """Round positions so that sums of them are exact, whatever their order."""
    return np.asarray(np.round(places / STEP) * STEP)


def _weight(axis: SpaceAxis, scaling: Scaling) -> float:
    if scaling == "range":
        return axis.weight
    spread = _spread(axis)
    return axis.weight / spread if spread > 0 else 0.0


def _spread(axis: SpaceAxis) -> float:
    """Average the squared distances of all records to their center, without the weight."""
    counts = np.bincount(axis.column.codes, minlength=len(axis.column.domain) + 1)[: len(axis.column.domain)]
    if axis.kind == "numeric":
        mean = np.average(axis.positions, weights=counts)
        return float(np.average((axis.positions - mean) ** 2, weights=counts))
    center = int(axis.center(counts))
    if axis.ordered:
        return float(np.average((axis.positions - axis.positions[center]) ** 2, weights=counts))
    apart = np.mean([nodes != nodes[center] for nodes in axis.levels], axis=0)
    return float(np.average(apart**2, weights=counts))


def _tree_levels(axes: Sequence[SpaceAxis]) -> tuple[Ints, Ints, Ints, Codes]:
    """Store the levels of trees one after another; ordered axes have none."""
    leaves = np.array([len(axis.column.domain) for axis in axes], dtype=np.int64)
    heights = np.array([0 if axis.ordered else len(axis.levels) for axis in axes], dtype=np.int64)
    nodes = [level for axis in axes if not axis.ordered for level in axis.levels]
    return leaves, heights, _offsets(leaves * heights), np.concatenate([*nodes, np.zeros(0)]).astype(np.int32)


def _codes(axes: Sequence[SpaceAxis], rows: int) -> Codes:
    codes = np.zeros((len(axes), rows), dtype=np.int32)
    for j, axis in enumerate(axes):
        codes[j] = axis.column.codes
    return codes


def _offsets(sizes: Ints) -> Ints:
    return np.asarray(np.cumsum(sizes) - sizes)


def _concatenate(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([*parts, np.zeros(0)])
