"""Earth mover's distances with a given distance between any two values: optimal transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.readiness import should_compile_for
from sfumato.tables.models.base import Levels
from sfumato.tables.published.groups import Counts, Histogram

# Earth mover's distances between groups and their table, in whole numbers until the final division.

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
    from sfumato.tables.models import _kernels as kernel

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


Costs = Sequence[Sequence[float]]
Flows = npt.NDArray[np.float64]
MOST_CELLS = 4000  # of one linear program, which solves many histograms at once
MASS = float(1 << 20)
MOST_RECORDS = 1 << 50  # products of group and table size up to which flows are whole numbers
ROUNDING = 1e-12
TINY = 1e-300  # instead of a division by 0
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def emd_general(histogram: Histogram, totals: Counts, costs: Costs) -> Levels:
    r"""Compute the smallest work that turns the table's distribution into each group's, by linear programs.

    A value outside the matrix (missing, as a value of its own) is as far from all others as any two values are.
    Cells that may be any value count as moved that far. Each program yields flows between whole numbers of
    records, which are checked and then evaluated exactly. If they do not pass (group times table size above
    $2^{50}$), the distance is rounded up, by less than one in a million.

    Only distinct distributions are solved; still, each takes about a millisecond with 8 values and more than four
    with 50, a thousand times as long as the closed forms: a million different groups take about an hour.
    """
    table = _TransportProblem(totals, costs)
    level = np.zeros(len(histogram.missing))
    for groups, alike, codes, counts in _distinct_groups(histogram):
        step = max(1, MOST_CELLS // max(len(table.codes) * codes.shape[1], 1))
        parts = [table.distances(codes[i : i + step], counts[i : i + step]) for i in range(0, len(codes), step)]
        level[groups] = np.concatenate(parts)[alike]
    lost = np.flatnonzero(histogram.missing)
    share = histogram.missing[lost] / histogram.sizes[lost]
    level[lost] = ((1 - share) * level[lost] + share * table.farthest) * (1 + ROUNDING)
    return level


class _TransportProblem:
    """The table's side of all programs: the values that occur, their counts, and their distances to all others."""

    def __init__(self, totals: Counts, costs: Costs) -> None:
        beyond = len(totals) - len(costs)
        self.farthest = float(max((cost for row in costs for cost in row), default=0))
        fractions = [[Fraction(str(cost)) for cost in row] + [Fraction(str(self.farthest))] * beyond for row in costs]
        fractions += [[Fraction(str(self.farthest))] * len(costs) + [Fraction(0)] * beyond for _ in range(beyond)]
        self.denominator = math.lcm(*(cost.denominator for row in fractions for cost in row))
        self.codes = np.flatnonzero(totals)
        whole: npt.NDArray[Any] = np.array(
            [[int(c * self.denominator) for c in row] for row in fractions], dtype=object
        )
        self.whole = whole.reshape(len(totals), len(totals))[self.codes]
        self.costs = (self.whole / self.denominator).astype(np.float64)
        self.counts, self.records = totals[self.codes], int(totals.sum())

    def distances(self, codes: npt.NDArray[np.int64], counts: Counts) -> Levels:
        """Compute the distances of some distributions with the same number of values."""
        if not self.records:
            return np.full(len(codes), self.farthest)
        sizes = counts.sum(axis=1)
        flows = self._flows(codes, counts / sizes[:, None])
        result = self._rounded_up(flows, codes, counts / sizes[:, None])
        for i in np.flatnonzero(sizes <= MOST_RECORDS // self.records):
            records = int(sizes[i]) * self.records
            whole = np.rint(flows[i] * records).astype(np.int64)
            from_table = np.array_equal(whole.sum(axis=1), self.counts * sizes[i])
            into_group = np.array_equal(whole.sum(axis=0), counts[i] * self.records)
            if from_table and into_group and whole.min() >= 0:
                result[i] = self._work(whole, codes[i], records) / (self.denominator * records)
        return result

    def _flows(self, codes: npt.NDArray[np.int64], shares: Levels) -> Flows:
        """Find the cheapest flows from values of the table (rows) to values of every group (columns)."""
        from scipy.optimize import linprog
        from scipy.sparse import block_diag, csr_array, eye_array, kron, vstack

        origins, targets = len(self.codes), codes.shape[1]
        out = kron(eye_array(origins), np.ones((1, targets)))
        into = kron(np.ones((1, origins)), eye_array(targets))
        one = csr_array(vstack([out, into]))[:-1]  # the last sum follows from the others
        sums = np.hstack([np.broadcast_to(self.counts / self.records, (len(codes), origins)), shares])[:, :-1]
        solved = linprog(  # type: ignore[call-overload]  # its stubs do not know sparse matrices
            np.concatenate([self.costs[:, of_group].ravel() for of_group in codes]) / (self.farthest or 1),
            A_eq=block_diag([one] * len(codes), format="csr"),
            b_eq=sums.ravel() * MASS,
            method="highs-ds",
            options=TOLERANCES,
        )
        flows = np.zeros(len(codes) * origins * targets) if solved.x is None else solved.x / MASS
        return np.asarray(flows.reshape(len(codes), origins, targets))

    def _rounded_up(self, flows: Flows, codes: npt.NDArray[np.int64], shares: Levels) -> Levels:
        """Evaluate flows that may be off by rounding: what exceeds the share of a value, or is left, moves farthest."""
        flows = np.maximum(flows, 0)
        for axis, share in ((2, (self.counts / self.records)[:, None]), (1, shares[:, None, :])):
            flows = flows * np.minimum(1, share / np.maximum(flows.sum(axis=axis, keepdims=True), TINY))
        costs = np.stack([self.costs[:, of_group] for of_group in codes])
        left = np.maximum(1 - flows.sum(axis=(1, 2)), 0)
        return np.asarray(((flows * costs).sum(axis=(1, 2)) + left * self.farthest) * (1 + ROUNDING))

    def _work(self, flow: Counts, codes: npt.NDArray[np.int64], records: int) -> int:
        origin, target = np.nonzero(flow)
        costs, moved = self.whole[origin, codes[target]], flow[origin, target]
        if int(self.farthest * self.denominator + 1) <= LARGEST_WHOLE // records:
            return int((costs.astype(np.int64) * moved).sum())
        return sum(cost * amount for cost, amount in zip(costs.tolist(), moved.tolist(), strict=True))


def _distinct_groups(
    histogram: Histogram,
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int64], Counts]]:
    """Yield the groups for each number of values, which of them are equal, and codes and counts of distinct ones."""
    lengths = np.diff(histogram.offsets)
    for length in np.unique(lengths[lengths > 0]).tolist():
        groups = np.flatnonzero(lengths == length)
        entries = histogram.offsets[groups][:, None] + np.arange(length)
        counts = histogram.counts[entries]
        counts //= np.gcd.reduce(counts, axis=1)[:, None]
        both = np.hstack([histogram.codes[entries], counts])
        distinct, alike = np.unique(both, axis=0, return_inverse=True)
        yield groups, alike.ravel(), distinct[:, :length], distinct[:, length:]
