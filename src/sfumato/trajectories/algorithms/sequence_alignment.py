"""Align ways in order, and publish a box and an interval in place of the points that match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories._publishing import DIGITS
from sfumato.trajectories.algorithms._pivot_clustering import MeanEuclideanDistances, cluster_around_pivots
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.models.trajectory_k_anonymity import TrajectoryKAnonymity
from sfumato.trajectories.trajectories import Points, Trajectories

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
SECOND = 1_000_000
MOST_CELLS = 4_000_000  # pairs of boxes that are all looked at
BAND = 16  # boxes beside a coarse alignment that are looked at, too
N_SAMPLES = 24  # moments at which ways are compared before they are aligned


@dataclass(frozen=True, kw_only=True, repr=False)
class SequenceAlignment(Algorithm[Trajectories]):
    """Put k persons with similar ways together, align their points in order, and publish what covers them [1]_.

    Points that match become a box and an interval of time; points that match nothing are left out, and counted. A box
    costs the logarithms of its sides and its duration, a point that is left out those of the whole area and time.
    Similar ways are found by where they are at a few moments of the whole time, before they are aligned. Ways of
    thousands of points are aligned coarsely first.

    References
    ----------
    .. [1] Nergiz, Atzori, Saygin, Güç, "Towards trajectory anonymization: a generalization-based approach",
       Transactions on Data Privacy 2(1), 2009.
    """

    name = "align-ways"
    reference = "Nergiz, Atzori, Saygin, Güç 2009"
    supports: ClassVar = (TrajectoryKAnonymity,)
    uses_secret = True

    def search(self, request: Request[Trajectories]) -> CloakedTrajectories:  # type: ignore[override]  # regions in place of points
        """Return ways of regions."""
        ways, k = request.data, max(model.k for model in request.models if isinstance(model, TrajectoryKAnonymity))
        if not ways.points.has_coordinates:
            raise SchemaError("The ways have no coordinates, so there are no boxes around them; merge places instead.")
        if ways.points.n_individuals < k:
            raise InfeasibleError(
                f"There are {ways.points.n_individuals:,} persons, fewer than k = {k:,}; ask for less."
            )
        label, _ = cluster_around_pivots(
            MeanEuclideanDistances(_sample_positions(ways)), ways.points.individual_of, k, np.inf
        )
        x, y = ways.area.to_plane(ways.points.longitudes, ways.points.latitudes)
        corners = np.column_stack([x, x, y, y, *[ways.points.times / SECOND] * 2])
        left_out = _cost(np.ptp(corners, axis=0)[[0, 2, 4]])
        covered = []
        for cluster in range(int(label.max()) + 1):
            members = np.flatnonzero(label == cluster)
            covered.append((members, _covering_boxes(ways.points, members, corners, left_out)))
            request.progress(0.9 * len(covered) / (int(label.max()) + 1), "aligning ways")
        return _publish(ways, [each for each in covered if len(each[1])], request.stream)


def _sample_positions(ways: Trajectories) -> Floats:
    """Return where ways are at a few moments of the whole time; before they begin, where they begin."""
    points, found = ways.points, np.empty((len(ways), N_SAMPLES, 2))
    x, y = ways.area.to_plane(points.longitudes, points.latitudes)
    first = points.times.min()
    asked = np.linspace(0, float(points.times.max() - first), N_SAMPLES)
    for way in range(len(ways)):
        own = slice(points.offsets[way], points.offsets[way + 1])
        clock = (points.times[own] - first).astype(np.float64)
        found[way] = np.column_stack([np.interp(asked, clock, side[own]) for side in (x, y)])
    return found


def _cost(sides: Floats) -> float:
    return float(sum(log1p(side) for side in sides))


def _covering_boxes(points: Points, members: Integers, corners: Floats, left_out: float) -> Floats:
    """Return boxes and intervals that cover the points of all ways that match, one after the other."""
    boxes = corners[points.offsets[members[0]] : points.offsets[members[0] + 1]]
    for way in members[1:]:
        others = corners[points.offsets[way] : points.offsets[way + 1]]
        pairs = aligned(boxes, others, left_out)
        boxes = _around(boxes[pairs[:, 0]], others[pairs[:, 1]])
    return boxes


def _around(first: Floats, second: Floats) -> Floats:
    """Return the boxes around pairs of boxes."""
    boxes = np.empty((len(first), 6))
    boxes[:, ::2] = np.minimum(first[:, ::2], second[:, ::2])
    boxes[:, 1::2] = np.maximum(first[:, 1::2], second[:, 1::2])
    return boxes


def aligned(first: Floats, second: Floats, left_out: float) -> Integers:
    """Align two sequences of boxes in order; return the pairs of places that match.

    Long sequences are aligned with half of their boxes first, each around two, and then near that alignment only.
    """
    from sfumato.trajectories._kernels import align_sequences

    rows, columns = len(first), len(second)
    low, high = np.zeros(rows + 1, dtype=np.int64), np.full(rows + 1, columns, dtype=np.int64)
    if rows * columns > MOST_CELLS:
        coarse = aligned(_halved(first), _halved(second), left_out)
        turns = np.concatenate([[[0, 0]], 2 * coarse + 1, [[rows, columns]]])
        done = np.arange(rows)
        before = np.searchsorted(turns[:, 0], np.maximum(done - BAND, 0), side="right") - 1
        behind = np.searchsorted(turns[:, 0], np.minimum(done + BAND, rows), side="left")
        low[:-1] = np.maximum(turns[before, 1] - BAND, 0)
        high[:-1] = np.minimum(turns[behind, 1] + BAND, columns)
        low[-1] = low[-2]
    return np.asarray(align_sequences(np.ascontiguousarray(first), np.ascontiguousarray(second), left_out, low, high))


def _halved(boxes: Floats) -> Floats:
    """Return the boxes around every two; of an odd number the last stays alone."""
    return _around(boxes[::2], boxes[np.minimum(np.arange(1, len(boxes) + 1, 2), len(boxes) - 1)])


def _publish(
    ways: Trajectories, covered: Sequence[tuple[Integers, Floats]], stream: KeyedRandom
) -> CloakedTrajectories:
    """Give persons new numbers, or every way one if somebody has several; round boxes and intervals outward."""
    if not covered:
        raise InfeasibleError("No ways have anything in common that could be published; ask for a smaller k.")
    members = np.concatenate([each for each, _ in covered])
    cluster = np.repeat(np.arange(len(covered)), [len(each) for each, _ in covered])
    apart = ways.points.n_trajectories > ways.points.n_individuals
    keys = np.arange(len(members)) if apart else ways.points.individual_of[members]
    persons = np.unique(keys, return_inverse=True)[1].ravel()
    owner = stream.permutation(int(persons.max()) + 1)[persons]
    order = stream.permutation(len(members))
    order = order[np.argsort(owner[order], kind="stable")]
    shown = [_to_degrees(ways, boxes) for _, boxes in covered]
    chosen = cluster[order]
    return CloakedTrajectories(
        individual_of=owner[order],
        offsets=np.append(0, np.cumsum([len(shown[each][0]) for each in chosen])).astype(np.int64),
        boxes=np.concatenate([shown[each][0] for each in chosen]),
        intervals=np.concatenate([shown[each][1] for each in chosen]),
        origin=members[order],
        trip_keys=apart,
    )


def _to_degrees(ways: Trajectories, boxes: Floats) -> tuple[Floats, Integers]:
    scale = 10.0**DIGITS
    west, south = ways.area.to_degrees(boxes[:, 0], boxes[:, 2])
    east, north = ways.area.to_degrees(boxes[:, 1], boxes[:, 3])
    low = (np.floor(np.column_stack([west, south]) * scale - 1e-3) / scale).round(DIGITS)
    high = (np.ceil(np.column_stack([east, north]) * scale + 1e-3) / scale).round(DIGITS)
    intervals = np.column_stack([np.floor(boxes[:, 4]), np.ceil(boxes[:, 5])]).astype(np.int64) * SECOND
    return np.column_stack([low, high]) + 0.0, intervals
