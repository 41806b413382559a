"""The groups of a published table as boxes of codes, for questions of containment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.engine.containment import Boxes
from sfumato.published.table import PublishedColumn, PublishedTable

Ints = npt.NDArray[np.int64]


def boxes_of(table: PublishedTable) -> Boxes:
    """Lay out what every group covers on every axis."""
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


def _axis_ranges(column: PublishedColumn, filled: int) -> tuple[Ints, Ints, Ints, npt.NDArray[np.bool_]]:
    """Give for every label its range of codes, missing included, and the place of its row of members or -1."""
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
