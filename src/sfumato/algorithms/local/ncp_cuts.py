"""Proposals to cut segments in two, each with the smallest NCP along some order of a segment's records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.algorithms.local.cheapest_cutting import ProposedCuts
from sfumato.algorithms.local.ncp_penalties import Floats, Penalty, RecordRuns
from sfumato.algorithms.local.segment_cutting import Flags
from sfumato.coding.cutting.partition import Ints

ROUNDS = 3  # of searching for a record farther away
BALANCE = 1e-6  # penalty of the most uneven among equally cheap cuts


@dataclass(frozen=True, eq=False)
class SegmentProposals:
    """Segments of records, given by their codes on every axis, with the penalty of every axis.

    Each side of a cut must have at least `smallest` records and the share `least_share` of its segment.
    """

    codes: Sequence[Ints]
    penalties: Sequence[Penalty]
    sizes: Ints
    smallest: int
    least_share: float

    @cached_property
    def runs(self) -> RecordRuns:
        """Where the segments begin, and the segment of every record."""
        return RecordRuns.of(self.sizes)

    def by_seeds(self) -> list[ProposedCuts]:
        """Propose the cheapest cuts between two seeds, and between the same seeds grown to valid sizes."""
        one, other = self.distant_seeds()
        between, order = self.cut_along(one - other)
        return [self.cut_along(self.grown(order))[0], between]

    def by_attribute(self, axis: Ints, allowed: Flags) -> list[ProposedCuts]:
        """Propose the cheapest cut along one axis of every segment, where allowed."""
        score, mine = np.empty(len(self.runs.owner)), axis[self.runs.owner]
        for j, codes in enumerate(self.codes):
            here = mine == j
            score[here] = codes[here]
        proposal, _ = self.cut_along(score)
        return [ProposedCuts(np.where(allowed, proposal.cost, np.inf), proposal.left, proposal.middle)]

    def distances(self, record: Ints) -> Floats:
        """Return for every record its cost together with a given record of its segment."""
        result = np.zeros(len(self.runs.owner))
        for codes, penalty in zip(self.codes, self.penalties, strict=True):
            result += penalty.pair(codes, codes[record][self.runs.owner])
        return result

    def distant_seeds(self) -> tuple[Floats, Floats]:
        """Find two seeds per segment, far from each other, and the distances of every record from them."""
        seed, before = self.runs.starts, np.zeros(0)
        after = self.distances(seed)
        for _ in range(ROUNDS):
            seed = self._first_of_greatest(after)
            before, after = after, self.distances(seed)
        return before, after

    def cut_along(self, score: Floats) -> tuple[ProposedCuts, Ints]:
        """Order the records of every segment by a score; find the cut into the two cheapest sides.

        A side of $n$ records that will be cut again costs less in the end: if it becomes $g$ groups and its box in
        $d$ dimensions shrinks evenly, each side of the box shrinks to $g^{-1/d}$.
        """
        runs, sizes = self.runs, self.sizes
        order = np.lexsort((score, runs.owner))
        left = np.arange(1, len(order) + 1) - runs.starts[runs.owner]
        right = sizes[runs.owner] - left
        ahead, behind = self._both_directions(order)
        dimensions = len(self.penalties)
        groups = np.maximum(np.arange(int(sizes.max()) + 1) // self.smallest, 1)
        weight = np.arange(len(groups)) * groups ** (-1 / dimensions)
        cost = weight[left] * ahead + weight[right] * np.append(behind[1:], 0.0)
        cost += BALANCE * np.abs(left - right) * behind[runs.starts][runs.owner]
        least = np.maximum(self.smallest, np.minimum(np.ceil(self.least_share * sizes).astype(np.int64), sizes // 2))
        good = (left >= least[runs.owner]) & (right >= least[runs.owner])
        cost[~good] = np.inf
        chosen = self._first_of_greatest(-cost)
        best = np.where(behind[runs.starts] > 0, cost[chosen], np.inf)
        rank = np.empty_like(left)
        rank[order] = left
        taken = left[chosen]
        return ProposedCuts(best, rank <= taken[runs.owner], rank <= (sizes // 2)[runs.owner]), order

    def grown(self, order: Ints) -> Floats:
        """Let the ends of an order grow into cores, and return how much closer every record is to the first.

        A core has as many records as the smallest valid group; closeness is how little the core's box must grow.
        """
        size = np.minimum(self.smallest, self.sizes // 2)
        cores = RecordRuns.of(size)
        place = np.arange(len(cores.owner)) - cores.starts[cores.owner]
        first = order[self.runs.starts[cores.owner] + place]
        last = order[(self.runs.starts + self.sizes - 1)[cores.owner] - place]
        score = np.zeros(len(order))
        for codes, penalty in zip(self.codes, self.penalties, strict=True):
            score += penalty.joining(codes, self.runs.owner, codes[first], cores)
            score -= penalty.joining(codes, self.runs.owner, codes[last], cores)
        return score

    def _both_directions(self, order: Ints) -> tuple[Floats, Floats]:
        """Return the cost of the records of a segment up to each record, and of those from it on."""
        back = self.runs.reversed()
        ahead, behind = np.zeros(len(order)), np.zeros(len(order))
        for codes, penalty in zip(self.codes, self.penalties, strict=True):
            ordered = codes[order]
            ahead += penalty.prefixes(ordered, self.runs)
            behind += penalty.prefixes(ordered[::-1], back)[::-1]
        return ahead, behind

    def _first_of_greatest(self, values: Floats) -> Ints:
        greatest = np.maximum.reduceat(values, self.runs.starts)
        reached = np.flatnonzero(values == greatest[self.runs.owner])
        return reached[np.searchsorted(self.runs.owner[reached], np.arange(len(self.sizes)))]
