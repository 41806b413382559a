"""Groups under the policy matches-all: a missing cell may be anything, so it matches every cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.engine.grouping import group_columns
from sfumato.groups import Groups
from sfumato.published.table import PublishedTable

Ints = npt.NDArray[np.int64]


def matching_groups(table: PublishedTable, groups: Groups) -> Groups:
    """Give every group all records that an adversary cannot tell from it, those of other groups included.

    Two groups match if on every attribute their cells are equal or one is missing. Groups are taken by
    their pattern of missing cells: for each pair of patterns, groups of the one are added to groups of the
    other that agree on the attributes which neither misses.
    """
    cells = np.column_stack([table.by_group(column) for column in table.columns]).astype(np.int64)
    lost = np.column_stack([_missing(column.texts)[cells[:, j]] for j, column in enumerate(table.columns)])
    if not lost.any():
        return groups
    widths = [len(column.texts) for column in table.columns]
    patterns, pattern_of = np.unique(lost, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == p) for p in range(len(patterns))]
    targets, sources = [], []
    for p, mine in enumerate(members):
        for q, others in enumerate(members):
            shared = np.flatnonzero(~patterns[p] & ~patterns[q])
            here, there = _pairs(cells[mine][:, shared], cells[others][:, shared], [widths[j] for j in shared])
            targets.append(mine[here])
            sources.append(others[there])
    return groups.take(np.concatenate(sources)).merged(np.concatenate(targets))


def _missing(texts: tuple[str | None, ...]) -> npt.NDArray[np.bool_]:
    return np.array([text is None for text in texts], dtype=np.bool_)


def _pairs(mine: Ints, others: Ints, widths: list[int]) -> tuple[Ints, Ints]:
    """Pair rows that are equal."""
    if not widths:
        return np.repeat(np.arange(len(mine)), len(others)), np.tile(np.arange(len(others)), len(mine))
    both = np.concatenate([mine, others])
    keys = group_columns([both[:, j] for j in range(both.shape[1])], widths).labels
    left, right = keys[: len(mine)], keys[len(mine) :]
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    count = np.searchsorted(right[order], left, side="right") - first
    here = np.repeat(np.arange(len(mine)), count)
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return here, order[np.repeat(first, count) + within]
