"""Earth mover's distances between groups and their table, in whole numbers until the final division."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.coding.readiness import should_compile_for
from sfumato.core.groups import Counts, Histogram
from sfumato.models.base import Levels

Whole = npt.NDArray[Any]  # whole numbers: int64, or Python's own if int64 is too small
LARGEST_WHOLE = np.iinfo(np.int64).max
LARGEST_EXACT = 1 << 53
COMPILED_ENTRIES = 20_000


def emd_hierarchical(histogram: Histogram, totals: Counts, levels: Sequence[npt.NDArray[np.integer]]) -> Levels:
    r"""Compute the distance if two values are as far apart as the share of levels on which they differ.

    `levels[h][v]` is the node of value v on level h, without the root. Mass crosses from node to node on
    each level, so the distance is the mean over the levels of $\sum_v \max(q_v - p_v, 0)$; one level of
    leaves gives the equal distance. Cells that may be any value count as moved from end to end.
    """
    table = max(int(totals.sum()), 1)
    whole = table * len(levels)

    def distance(some: Histogram, exact: type) -> Levels:
        known = some.reduce(np.add, some.counts)
        moved: Whole = some.missing.astype(exact) * whole
        if exact is np.int64 and should_compile_for(len(some.counts), COMPILED_ENTRIES):
            _add_surplus(some, totals, levels, table, moved)
            return correctly_rounded_quotient(moved, (known + some.missing) * whole)
        for nodes in levels:
            coarse = some.merge_values(nodes)
            expected = np.zeros(coarse.width, dtype=np.int64)
            np.add.at(expected, nodes, totals)
            surplus = coarse.counts.astype(exact) * table - expected[coarse.codes].astype(exact) * known[coarse.rows]
            moved += coarse.reduce(np.add, np.maximum(surplus, 0))
        return correctly_rounded_quotient(moved, (known + some.missing).astype(exact) * whole)

    return _distances_in_int64(histogram, whole, distance)


def _add_surplus(
    histogram: Histogram, totals: Counts, levels: Sequence[npt.NDArray[np.integer]], table: int, moved: Counts
) -> None:
    """Add to every group what must leave its nodes, by compiled loops."""
    from sfumato.coding.kernels import moving as kernel

    nodes = np.stack([np.asarray(each, dtype=np.int64) for each in levels])
    width = int(nodes.max()) + 1
    expected = np.stack([np.bincount(own, totals, width).astype(np.int64) for own in nodes])
    entries = histogram.offsets, histogram.codes, histogram.counts
    kernel.measure_surplus(entries, nodes, expected, table, np.zeros(width, dtype=np.int64), moved)


def emd_ordered(histogram: Histogram, totals: Counts, values: int) -> Levels:
    r"""Compute the distance if the first `values` values are as far apart as their ranks.

    Neighbors are $1/(m - 1)$ apart for $m$ values, and mass crosses every gap between neighbors once, so the
    distance is $\frac{1}{m-1} \sum_i |Q_i - P_i|$ of the running sums. Cells that may be any value count as
    moved from end to end. A further value (missing, as a value of its own) is at distance 1 from all others;
    the distance is then bounded from above by $(1 - q) D + |q - p|$, where $q$ and $p$ are the shares of
    that value in group and table, and $D$ is the distance between all others.
    """
    table, everyone = max(int(totals[:values].sum()), 1), int(totals.sum())
    beyond, whole = int(totals[values:].sum()), table * max(values - 1, 1)

    def distance(some: Histogram, exact: type) -> Levels:
        line = some if some.width == values else some.separate_missing()
        known = line.reduce(np.add, line.counts)
        moved = _crossings(line, totals[:values], known, exact)
        sizes: Whole = (known + line.missing).astype(exact)
        if not beyond:
            return correctly_rounded_quotient(moved + line.missing.astype(exact) * whole, sizes * whole)
        own = (line.missing - some.missing).astype(object)
        excess = abs(own * everyone - sizes.astype(object) * beyond)
        upper = (moved.astype(object) + some.missing.astype(object) * whole) * everyone + excess * whole
        return np.minimum(correctly_rounded_quotient(upper, sizes.astype(object) * (whole * everyone)), 1)

    return _distances_in_int64(histogram, 4 * table * max(values, 1), distance)


def correctly_rounded_quotient(numerator: Whole, denominator: Whole) -> Levels:
    """Divide whole numbers with one correct rounding, so that a true fifth equals 0.2; 0 for 0 by 0."""
    denominator = np.maximum(denominator, 1)
    result: Levels = numerator.astype(np.float64) / denominator.astype(np.float64)
    long = np.flatnonzero((numerator > LARGEST_EXACT) | (denominator > LARGEST_EXACT))
    result[long] = numerator[long].astype(object) / denominator[long].astype(object)
    return result


def _crossings(line: Histogram, totals: Counts, known: Counts, exact: type) -> Whole:
    r"""Sum $|Q_i - P_i|$ over the gaps, times the sizes of group and table.

    The running sum of a group is flat from one of its values to the next, and the table's never falls. So
    each flat piece has one turning point, before which the group is ahead: the work grows only with the stored counts.
    """
    running_table = np.cumsum(totals)
    area = np.append(0, np.cumsum(running_table))
    rows, start = line.rows, line.codes.astype(np.int64)
    first = np.diff(rows, prepend=-1) > 0
    stop = np.where(np.append(first[1:], [True] * (len(rows) > 0)), len(totals), np.roll(start, -1))
    summed = np.cumsum(line.counts)
    running: Whole = (summed - (summed - line.counts)[line.offsets[rows]]).astype(exact)
    size: Whole = known[rows].astype(exact)
    reached = running * max(int(totals.sum()), 1)
    turn = np.searchsorted(running_table, (reached // size).astype(np.int64), side="right").clip(start, stop)
    behind = np.where(first, area[start], 0) + area[start] + area[stop] - 2 * area[turn]
    return line.reduce(np.add, behind * size + reached * (2 * turn - start - stop))


def _distances_in_int64(histogram: Histogram, factor: int, distance: Callable[[Histogram, type], Levels]) -> Levels:
    """Compute distances in int64, except for groups so large that size times factor would not fit."""
    sizes = histogram.reduce(np.add, histogram.counts) + histogram.missing
    large = sizes > LARGEST_WHOLE // factor
    level = np.zeros(len(sizes))
    for exact, part in ((np.int64, np.flatnonzero(~large)), (object, np.flatnonzero(large))):
        if len(part):
            level[part] = distance(histogram.take(part) if large.any() else histogram, exact)
    return level
