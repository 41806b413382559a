"""Proposals to cut segments in two, each with the smallest NCP along some order of a segment's records."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.tables.algorithms._labels import label_covers, label_single_group
from sfumato.tables.algorithms._segments.cuts import Ints, Ranges
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._ncp import Floats, Penalty, RecordRuns
from sfumato.tables.algorithms.local._top_down import CheapestPartitioning, Flags, ProposedCuts
from sfumato.tables.published.solution import TableSolution

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


# NCP top-down: local recoding by cuts with the smallest certainty penalty.

ORDERS = 3  # attributes tried alone, widest first, if models look only at sizes; otherwise every attribute
LEAST_SHARE = 0.1  # of a segment on the smaller side, or the tree would become too deep
EVEN_SHARE = 0.3  # the same if models look at sensitive values, which small sides seldom keep


@dataclass(frozen=True, kw_only=True)
class TopDownNCP(TableAlgorithm):
    r"""Split records between distant seeds, at the smallest penalty, while both sides keep every model [1]_.

    The penalty is the normalized certainty penalty (NCP): the range divided by the range of the domain for numbers, the
    share of the domain for ranks, sets and nodes of a taxonomy. In every segment two distant records are found by
    looking three times for the record farthest from the last one. All records are ordered by how much closer they are
    to one than to the other, and the order is cut where both sides together cost the least, a side that will be cut
    again counting less. The same is done with the seeds grown to groups of the smallest valid size and, which the
    original does not try, with the orders of single attributes: the three widest, or all if a model looks at sensitive
    values. The cheapest cut that keeps the models is made, or else a cut in the middle of one of these orders.

    All segments of one depth are cut together, and each side has at least a tenth of its segment (three tenths if a
    model looks at sensitive values), so the work grows as $d\,n \log n$ for $n$ records and $d$ quasi-identifiers.
    Nothing is suppressed and nothing is random; records with equal quasi-identifiers may be published differently.

    References
    ----------
    .. [1] Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based anonymization using local recoding", KDD 2006.
       https://doi.org/10.1145/1150402.1150504
    """

    name = "ncp-top-down"
    reference = "Xu, Wang, Pei, Wang, Shi, Fu 2006, https://doi.org/10.1145/1150402.1150504"
    needs_monotone = "always"
    suppresses = False

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        if not task.table.quasi:
            return label_single_group(task)
        cutting = CertaintyPenaltyPartitioning(task)
        cutting.run()
        return label_covers(task.table.quasi, cutting.leaf_of, cutting.leaves)


class CertaintyPenaltyPartitioning(CheapestPartitioning):
    """Cuts by seeds and by single attributes."""

    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[ProposedCuts]:
        """Propose cuts by two seeds, by two grown seeds, and by the widest attributes alone."""
        segments = self.segments_of(named)
        ranking, width = self.widest(ranges)
        orders = len(self.axes) if self.whole.histograms else ORDERS
        found: list[Future[list[ProposedCuts]]] = [pool.submit(segments.by_seeds)]
        found += [
            pool.submit(segments.by_attribute, ranking[:, rank], width[:, rank] > 0)
            for rank in range(min(orders, len(self.axes)))
            if (width[:, rank] > 0).any()
        ]
        return [proposal for each in found for proposal in each.result()]

    def segments_of(self, named: Ints) -> SegmentProposals:
        """Build some segments."""
        rows, _ = self.records.list_rows(named)
        columns = [self.records.codes[j][rows].astype(np.int64) for j in range(len(self.axes))]
        sizes = np.diff(self.records.offsets)[named]
        share = EVEN_SHARE if self.whole.histograms else LEAST_SHARE
        return SegmentProposals(columns, self.penalties, sizes, self.smallest, share)


# Cuts between two distant records, as algorithm 5.3 of the thesis makes them.


class SeedPartitioning(CertaintyPenaltyPartitioning):
    """The way down by one cut per segment: every record goes to the nearer of two distant records, its seeds.

    The distance of two records is the NCP of publishing them together, and a record as near to both goes to the second.
    A segment is not cut again if a side would not keep the models; nothing else is tried.
    """

    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[ProposedCuts]:  # noqa: ARG002 - an override
        """Propose the cut between two seeds."""
        first, second = self.segments_of(named).distant_seeds()
        return [ProposedCuts(np.zeros(len(named)), first < second)]
