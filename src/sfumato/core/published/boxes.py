"""The groups of a published table as boxes of codes, to test containment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.coding.containment import Boxes
from sfumato.core.published.table import PublishedColumn, PublishedTable

Ints = npt.NDArray[np.int64]


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
