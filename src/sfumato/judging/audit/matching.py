"""Groups under the policy matches-all: a missing cell may be anything, and the worst it may be is what counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns
from sfumato.core.groups import Groups
from sfumato.core.published.table import PublishedTable

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def matching_groups(table: PublishedTable, groups: Groups, *, apart: bool = False) -> Groups:
    """Add to every group the records of other groups that an adversary cannot tell from it, whatever she knows.

    She knows what the missing cells of her target would say, and in the worst case nobody else's cell says that. So a
    group gets the records that miss the cells that it misses, and more, and are equal to it elsewhere or missing.
    Records that are missing everywhere would match everybody, and a few of them would make anything look safe: they
    count for nobody but themselves. Whoever matches two groups of which neither misses all that the other misses can
    meet both at once, in the eyes of somebody whose target would fit both. With `apart`, such records count for nobody
    else either: then what any adversary meets is a union of these groups that share no record, and keeps what each of
    them keeps, if merging good groups cannot break it.

    Groups are processed by their pattern of missing cells: the work grows with groups times patterns, never with pairs
    of groups.
    """
    cells = np.column_stack([table.by_group(column) for column in table.columns]).astype(np.int64)
    lost = np.column_stack([_missing(column.texts)[cells[:, j]] for j, column in enumerate(table.columns)])
    if not lost.any():
        return groups
    widths = [len(column.texts) for column in table.columns]
    patterns, pattern_of = np.unique(lost, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == number) for number in range(len(patterns))]
    sources, sums, givers, targets = [], [], [], []
    used = 0
    for number, pattern in enumerate(patterns):
        takers = [taker for taker, other in enumerate(patterns) if (other <= pattern).all()]
        if pattern.all() or (apart and not _nested(patterns[takers])):
            takers = [number]
        shared, theirs = np.flatnonzero(~pattern).tolist(), members[number]
        mine = np.concatenate([members[taker] for taker in takers])
        here, there = _keys(cells[mine][:, shared], cells[theirs][:, shared], [widths[j] for j in shared])
        met = np.isin(here, there)
        sources.append(theirs)
        sums.append(used + there)
        givers.append(used + here[met])
        targets.append(mine[met])
        used += int(there.max()) + 1
    summed = groups.take(np.concatenate(sources)).merge_groups(np.concatenate(sums))
    return summed.take(np.concatenate(givers)).merge_groups(np.concatenate(targets))


def _nested(patterns: Mask) -> bool:
    """Tell whether of any two patterns one misses all that the other misses."""
    ordered = patterns[np.argsort(patterns.sum(axis=1), kind="stable")]
    return bool((ordered[:-1] <= ordered[1:]).all())


def _missing(texts: tuple[str | None, ...]) -> Mask:
    return np.array([text is None for text in texts], dtype=np.bool_)


def _keys(mine: Ints, others: Ints, widths: list[int]) -> tuple[Ints, Ints]:
    """Return a number for every row of two tables, the same for equal rows."""
    if not widths:
        return np.zeros(len(mine), dtype=np.int64), np.zeros(len(others), dtype=np.int64)
    both = np.concatenate([mine, others])
    keys = group_columns([both[:, j] for j in range(both.shape[1])], widths).labels.astype(np.int64)
    return keys[: len(mine)], keys[len(mine) :]
