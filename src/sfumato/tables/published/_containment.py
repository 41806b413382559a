"""Which published boxes contain a person's values: sums over all of them, without a loop over pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.core._kernels.grouping import group_columns
from sfumato.tables.published.published_table import PublishedColumn, PublishedTable

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
    from sfumato.tables.published import _kernels as kernel

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
    from sfumato.tables.published import _kernels as kernel

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
    from sfumato.tables.published import _kernels as kernel

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


# The groups of a published table as boxes of codes, to test containment.


def make_boxes(table: PublishedTable) -> Boxes:
    """Compute what every group covers on every axis."""
    low, high, rows, members = [], [], [], [np.zeros(0, dtype=np.bool_)]
    filled = 0
    for column in table.columns:
        bottom, top, row, flags = _axis_ranges(column, filled)
        by_group = table.by_group(column)
        low.append(bottom[by_group])
        high.append(top[by_group])
        rows.append(row[by_group])
        members.append(flags)
        filled += len(flags)
    shape = (len(table.grouped), len(table.columns))
    return Boxes(
        np.column_stack(low).astype(np.int32) if low else np.zeros(shape, dtype=np.int32),
        np.column_stack(high).astype(np.int32) if high else np.zeros(shape, dtype=np.int32),
        np.column_stack(rows) if rows else np.zeros(shape, dtype=np.int64),
        np.concatenate(members),
    )


def find_exact_codes(table: PublishedTable) -> npt.NDArray[np.int32] | None:
    """Return the one code that every group covers on every axis, or None where a group covers several or none."""
    places = []
    for column in table.columns:
        coverage = column.coverage
        low, high = (np.where(coverage.missing, column.domain.missing, each) for each in (coverage.low, coverage.high))
        if (
            coverage.members
            or not np.array_equal(low, high)
            or (coverage.missing & (coverage.low <= coverage.high)).any()
        ):
            return None
        places.append(low[table.by_group(column)].astype(np.int32))
    return np.array(places) if places else None


def iter_visible_boxes(
    table: PublishedTable, points: npt.NDArray[np.int32], *, loose: bool
) -> Iterator[tuple[npt.NDArray[np.intp] | slice, Boxes]]:
    """Yield which points to look at together, and the boxes as they see them.

    If `loose`, missing cells of points and groups match everything. Points are then grouped by the pattern of
    their missing cells, and on the axes of that pattern all boxes are as wide as the domain.
    """
    boxes = make_boxes(table)
    if not loose:
        yield slice(None), boxes
        return
    missing = np.array([column.domain.missing for column in table.columns], dtype=np.int32)
    cells = [np.array([text is None for text in column.texts])[table.by_group(column)] for column in table.columns]
    boxes = _widen(boxes, np.column_stack(cells), missing)
    patterns, pattern_of = np.unique(points == missing[:, None], axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        yield np.flatnonzero(pattern_of.ravel() == number), _widen(boxes, pattern[None, :], missing)


def _widen(boxes: Boxes, where: npt.NDArray[np.bool_], missing: npt.NDArray[np.int32]) -> Boxes:
    """Widen boxes to the whole domain on some axes."""
    return Boxes(
        np.where(where, np.int32(0), boxes.low),
        np.where(where, missing, boxes.high),
        np.where(where, -1, boxes.member_rows),
        boxes.members,
    )


def _axis_ranges(column: PublishedColumn, filled: int) -> tuple[Ints, Ints, Ints, npt.NDArray[np.bool_]]:
    """Return for every label its range of codes, including missing, and the index of its row of members or -1."""
    coverage, missing = column.coverage, column.domain.missing
    low, high = coverage.low.copy(), coverage.high.copy()
    low[coverage.missing & (high < low)] = missing
    high[coverage.missing] = missing
    rows = np.full(len(low), -1, dtype=np.int64)
    flags = np.zeros((len(coverage.members), missing + 1), dtype=np.bool_)
    for place, (label, codes) in enumerate(coverage.members.items()):
        rows[label] = filled + place * (missing + 1)
        flags[place, codes] = True
        low[label], high[label] = (codes.min(), codes.max()) if len(codes) else (1, 0)
    return low, high, rows, flags.ravel()
