"""NCP top-down: local recoding by cuts that cost the least certainty."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.covers import publish_covers
from sfumato.algorithms.local.descent import Descent, Proposal
from sfumato.algorithms.local.ncp_cuts import Segments
from sfumato.algorithms.local.riding import without_hollow
from sfumato.coding.cutting.partition import Ints, Ranges
from sfumato.core.publication import Publication

ORDERS = 3  # attributes tried alone, widest first, if size is all that models look at; otherwise every attribute
LEAST_SHARE = 0.1  # of a segment on the lesser side, or depths would add up to too much work
EVEN_SHARE = 0.3  # the same if models look at sensitive values, which small sides seldom keep


@dataclass(frozen=True, kw_only=True)
class NCPTopDown(Algorithm):
    r"""Part records between far-apart seeds, at the least penalty, while both sides keep every model [1]_.

    The penalty is the normalized certainty penalty (NCP): the range over the domain's range for numbers, the share of
    the domain for ranks, sets and nodes of a taxonomy. In every segment two records far apart are found by looking
    three times for the record farthest from the last one. All records are ordered by how much nearer they are to one
    than to the other, and the order is cut where both sides together cost least, a side that will be cut again
    counting less. The same is done with the seeds grown to groups of the smallest good size, and, which the original
    does not try, with the orders of single attributes: the three widest, or all if a model looks at sensitive values.
    The cheapest cut that keeps the models is carried out, or else a cut in the middle of one of these orders.

    All segments of one depth are cut together, and each side has at least a tenth of its segment (three tenths if a
    model looks at sensitive values), so work grows as $d\,n \log n$ for $n$ records and $d$ quasi-identifiers. Nothing
    is suppressed and nothing is drawn; records with equal quasi-identifiers may be published differently.

    References
    ----------
    .. [1] Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based anonymization using local recoding", KDD 2006.
       https://doi.org/10.1145/1150402.1150504
    """

    name = "ncp-top-down"
    reference = "Xu, Wang, Pei, Wang, Shi, Fu 2006, https://doi.org/10.1145/1150402.1150504"

    @property
    def suppresses(self) -> bool:
        """Whether the search may leave records out: it does not."""
        return False

    def refusal(self, task: Task) -> str | None:
        """Refuse flags of sensitive cells, and models for which good sides do not make a good whole."""
        for model in task.models:
            if not model.monotone:
                return (
                    f"NCPTopDown cannot serve {model!r}, because unions of its good groups may be bad; use another one."
                )
        return super().refusal(task)

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        return without_hollow(task, self._search)

    def _search(self, task: Task) -> Publication:
        if not task.table.quasi:
            task.progress(1.0)
            return publish_covers((), np.zeros(task.table.rows, dtype=np.int32), 1, missing_apart=False)
        descent = CertaintyDescent(task)
        descent.run()
        return publish_covers(task.table.quasi, descent.leaf_of, descent.leaves, missing_apart=descent.rides)


class CertaintyDescent(Descent):
    """Cuts by seeds and by single attributes."""

    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[Proposal]:
        """Propose cuts by two seeds, by two grown seeds, and by the widest attributes alone."""
        segments = self._segments(named, ranges)
        ranking, width = self.widest(ranges)
        orders = len(self.axes) if self.whole.histograms else ORDERS
        found: list[Future[list[Proposal]]] = [pool.submit(segments.by_seeds)]
        found += [
            pool.submit(segments.by_attribute, ranking[:, rank], width[:, rank] > 0)
            for rank in range(min(orders, len(self.axes)))
            if (width[:, rank] > 0).any()
        ]
        return [proposal for each in found for proposal in each.result()]

    def _segments(self, named: Ints, ranges: Ranges) -> Segments:
        """Lay out some segments; a missing value that may be anything is taken to be amidst the segment's values."""
        rows, owner = self.records.rows_of(named)
        columns = []
        for j in range(len(self.axes)):
            codes = self.records.codes[j][rows].astype(np.int64)
            if self.rides:
                low, high = ranges.low[:, j].astype(np.int64), ranges.high[:, j].astype(np.int64)
                amidst = np.where(high < low, self.axes.leaves[j], (low + high) // 2)
                codes = np.where(codes == self.axes.leaves[j], amidst[owner], codes)
            columns.append(codes)
        sizes = np.diff(self.records.offsets)[named]
        share = EVEN_SHARE if self.whole.histograms else LEAST_SHARE
        return Segments(columns, self.penalties, sizes, self.smallest, share)
