"""NCP top-down: local recoding by cuts with the smallest certainty penalty."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.algorithms.local.cheapest_cutting import CheapestPartitioning, ProposedCuts
from sfumato.algorithms.local.covers import label_covers
from sfumato.algorithms.local.ncp_cuts import SegmentProposals
from sfumato.algorithms.publishing import label_single_group
from sfumato.coding.cutting.partition import Ints, Ranges
from sfumato.core.publication import TableSolution

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
