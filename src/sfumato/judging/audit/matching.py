"""Groups under the policy matches-all: a missing cell may be anything, so it matches every cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns
from sfumato.core.groups import Groups
from sfumato.core.published.table import PublishedTable

Ints = npt.NDArray[np.int64]


def matching_groups(table: PublishedTable, groups: Groups) -> Groups:
    """Add to every group all records that an adversary cannot distinguish from it, including those of other groups.

    Two groups match if on every attribute their cells are equal or one is missing. Records that are missing everywhere
    would match everybody, and a few of them would make anything look safe: all others count for them, and they count
    for nobody but themselves. Groups are processed by their pattern of missing cells: for each pattern, all groups that
    share the same known attributes with it are first summed by their cells there, and each sum is added where these
    cells are equal. The work grows with groups times patterns, never with pairs of groups.
    """
    cells = np.column_stack([table.by_group(column) for column in table.columns]).astype(np.int64)
    lost = np.column_stack([_missing(column.texts)[cells[:, j]] for j, column in enumerate(table.columns)])
    if not lost.any():
        return groups
    widths = np.array([len(column.texts) for column in table.columns])
    patterns, pattern_of = np.unique(lost, axis=0, return_inverse=True)
    hollow = lost.all(axis=1)
    sources, sums, givers, targets = [], [], [], []
    used = 0
    for pattern in range(len(patterns)):
        mine, seen = np.flatnonzero(pattern_of.ravel() == pattern), bool(patterns[pattern].all())
        known, known_of = np.unique(~patterns[pattern] & ~patterns, axis=0, return_inverse=True)
        for number, shared in enumerate(known):
            others = np.flatnonzero((known_of.ravel() == number)[pattern_of.ravel()] & (seen | ~hollow))
            if not len(others):
                continue
            here, there = _keys(cells[mine][:, shared], cells[others][:, shared], widths[shared].tolist())
            met = np.isin(here, there)
            sources.append(others)
            sums.append(used + there)
            givers.append(used + here[met])
            targets.append(mine[met])
            used += int(there.max()) + 1
    summed = groups.take(np.concatenate(sources)).merged(np.concatenate(sums))
    return summed.take(np.concatenate(givers)).merged(np.concatenate(targets))


def _missing(texts: tuple[str | None, ...]) -> npt.NDArray[np.bool_]:
    return np.array([text is None for text in texts], dtype=np.bool_)


def _keys(mine: Ints, others: Ints, widths: list[int]) -> tuple[Ints, Ints]:
    """Return a number for every row of two tables, the same for equal rows."""
    if not widths:
        return np.zeros(len(mine), dtype=np.int64), np.zeros(len(others), dtype=np.int64)
    both = np.concatenate([mine, others])
    keys = group_columns([both[:, j] for j in range(both.shape[1])], widths).labels.astype(np.int64)
    return keys[: len(mine)], keys[len(mine) :]
