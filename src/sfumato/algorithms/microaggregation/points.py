"""From a space to the arrays that compiled loops cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.microaggregation.space import RecordSpace, SpaceAxis
from sfumato.coding.clustering.box_growing import GrowthCandidates, TreeAxes
from sfumato.coding.clustering.points import STEP, CodedAxes, Codes, Floats, Ints, Points
from sfumato.coding.grouping import group_columns, representative_rows

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
