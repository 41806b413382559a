"""Earth mover's distances with a given distance between any two values: optimal transport."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts, Histogram
from sfumato.models.base import Levels
from sfumato.models.distances.earth_mover import LARGEST_WHOLE

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
