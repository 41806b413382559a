"""Which published boxes contain a person's values: sums over all of them, without a loop over pairs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns
from sfumato.threads import count_workers

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NUMPY_PAIRS = 30_000_000  # below this many pairs, matrices are as fast and nothing needs compiling
PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Boxes:
    """Published combinations: for every box and axis, a range of codes and, if it is a set, a row of `members`.

    `member_rows[box, axis]` is the index in `members` where the box's row of that axis begins (one flag per
    code), or -1 if the range is exact.
    """

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    member_rows: Ints
    members: npt.NDArray[np.bool_]

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Ints, npt.NDArray[np.bool_]]:
        """All arrays, as compiled loops take them."""
        return self.low, self.high, self.member_rows, self.members


@dataclass(frozen=True, eq=False)
class BoxContents:
    """The content of the boxes: their sizes, and how many of their records have which value.

    Values of all attributes share one numbering, called columns. Box b has `amounts[i]` records of value
    `columns[i]` for i from `offsets[b]` to `offsets[b + 1]`, columns ascending.
    """

    sizes: Floats
    offsets: Ints
    columns: Ints
    amounts: Floats


@dataclass(frozen=True, eq=False)
class Matches:
    """For every point, the records of all boxes that contain it, and how many of them have its own values."""

    records: Floats
    own: Floats


def match_points(points: npt.NDArray[np.int32], own_columns: Ints, boxes: Boxes, contents: BoxContents) -> Matches:
    """Sum over all boxes that contain each point.

    Parameters
    ----------
    points : codes, one row per axis, one column per point.
    own_columns : for every attribute, the column of each point's own value.
    boxes, contents : the published boxes and their content.
    """
    if points.shape[1] * len(boxes.low) <= NUMPY_PAIRS:
        return _match_with_numpy(points, own_columns, boxes, contents)
    return _match_compiled(points, own_columns, boxes, contents)


def sum_over_boxes(points: npt.NDArray[np.int32], boxes: Boxes, amounts: Floats) -> Floats:
    """Sum for every point the amounts of the boxes that contain it."""
    count = len(boxes.low)
    contents = BoxContents(
        sizes=amounts,
        offsets=np.zeros(count + 1, dtype=np.int64),
        columns=np.zeros(0, dtype=np.int64),
        amounts=np.zeros(0),
    )
    return match_points(points, np.zeros((0, points.shape[1]), dtype=np.int64), boxes, contents).records


def _match_with_numpy(points: npt.NDArray[np.int32], own_columns: Ints, boxes: Boxes, contents: BoxContents) -> Matches:
    count = points.shape[1]
    records, own = np.zeros(count), np.zeros((len(own_columns), count))
    width = int(max(contents.columns.max(initial=0), own_columns.max(initial=0))) + 1
    box_of = np.repeat(np.arange(len(boxes.low)), np.diff(contents.offsets))
    keys = box_of * width + contents.columns
    step = max(1, PAIRS_AT_ONCE // max(1, len(boxes.low)))
    for start in range(0, count, step):
        box, point = np.nonzero(_contains(points[:, start : start + step], boxes))
        point += start
        records += np.bincount(point, contents.sizes[box], minlength=count)
        for a, columns in enumerate(own_columns):
            wanted = box * width + columns[point]
            place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            found = np.flatnonzero(keys[place] == wanted) if len(keys) else np.zeros(0, dtype=np.intp)
            own[a] += np.bincount(point[found], contents.amounts[place[found]], minlength=count)
    return Matches(records, own)


def _contains(points: npt.NDArray[np.int32], boxes: Boxes) -> npt.NDArray[np.bool_]:
    inside = np.ones((len(boxes.low), points.shape[1]), dtype=np.bool_)
    for j, codes in enumerate(points):
        inside &= (boxes.low[:, j, None] <= codes) & (codes <= boxes.high[:, j, None])
        listed = np.flatnonzero(boxes.member_rows[:, j] >= 0)
        inside[listed] &= boxes.members[boxes.member_rows[listed, j, None] + codes]
    return inside


def weigh_boxes(points: npt.NDArray[np.int32], weights: Ints, values: Floats, boxes: Boxes) -> tuple[Ints, Floats]:
    """Sum for every box the weights of the points that it contains, and find the highest of their values."""
    count = points.shape[1]
    totals, highest = np.zeros(len(boxes.low), dtype=np.int64), np.zeros(len(boxes.low))
    if count * len(boxes.low) <= NUMPY_PAIRS:
        step = max(1, PAIRS_AT_ONCE // max(1, len(boxes.low)))
        for start in range(0, count, step):
            inside = _contains(points[:, start : start + step], boxes)
            totals += inside @ weights[start : start + step]
            np.maximum(highest, (inside * values[start : start + step]).max(axis=1), out=highest)
        return totals, highest
    from sfumato.coding.kernels import containment as kernel

    _run_in_threads(
        len(boxes.low),
        lambda _, first, last: kernel.weigh_boxes(points, boxes.arrays, weights, values, first, last, totals, highest),
    )
    return totals, highest


def count_points(points: npt.NDArray[np.int32], weights: Ints, boxes: Boxes) -> Ints:
    """Sum for every box the weights of the points that it contains."""
    return weigh_boxes(points, weights, np.zeros(len(weights)), boxes)[0]


def list_containment_pairs(points: npt.NDArray[np.int32], boxes: Boxes) -> tuple[Ints, Ints]:
    """List all pairs of a point and a box that contains it, ordered by point and then by box."""
    if points.shape[1] * len(boxes.low) <= NUMPY_PAIRS:
        step = max(1, PAIRS_AT_ONCE // max(1, len(boxes.low)))
        starts = range(0, points.shape[1], step)
        parts = [
            np.argwhere(_contains(points[:, start : start + step], boxes).T) + np.array((start, 0)) for start in starts
        ]
        found = np.concatenate([np.zeros((0, 2), dtype=np.int64), *parts])
        return found[:, 0], found[:, 1]
    from sfumato.coding.kernels import containment as kernel

    listed: dict[int, Ints] = {}
    _run_in_threads(
        len(boxes.low),
        lambda worker, first, last: listed.update({worker: kernel.list_pairs(points, boxes.arrays, first, last)}),
    )
    found = np.concatenate([listed[worker] for worker in sorted(listed)])
    order = np.lexsort((found[:, 1], found[:, 0]))
    return found[order, 0], found[order, 1]


def list_equal_pairs(points: npt.NDArray[np.int32], places: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    """List the pairs of a point and a place that equals it, ordered by point; no two places are equal."""
    count = points.shape[1]
    columns = [np.concatenate([mine, theirs]) for mine, theirs in zip(points, places, strict=True)]
    labels = group_columns(columns, [int(column.max(initial=0)) + 1 for column in columns]).labels
    box = np.full(int(labels.max(initial=-1)) + 1, -1, dtype=np.int64)
    box[labels[count:]] = np.arange(places.shape[1])
    found = box[labels[:count]]
    inside = np.flatnonzero(found >= 0)
    return inside, found[inside]


def _match_compiled(points: npt.NDArray[np.int32], own_columns: Ints, boxes: Boxes, contents: BoxContents) -> Matches:
    from sfumato.coding.kernels import containment as kernel

    held = (contents.sizes, contents.offsets, contents.columns, contents.amounts)
    records, own = np.zeros(points.shape[1]), np.zeros((len(own_columns), points.shape[1]))
    _run_in_threads(
        points.shape[1],
        lambda _, first, last: kernel.add_boxes(points, boxes.arrays, held, own_columns, first, last, records, own),
    )
    return Matches(records, own)


def _run_in_threads(count: int, work: Callable[[int, int, int], None]) -> None:
    """Distribute boxes or points among threads: `work(thread, first, last)`."""
    workers = count_workers()
    edges = np.linspace(0, count, workers + 1).astype(int).tolist()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers), edges[:-1], edges[1:]))
