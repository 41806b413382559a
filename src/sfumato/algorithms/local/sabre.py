"""SABRE: t-closeness by buckets of sensitive values from which every group takes its share."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.algorithms.local.cheapest_cutting import CheapestPartitioning, ProposedCuts
from sfumato.algorithms.local.covers import label_covers
from sfumato.algorithms.local.ncp_top_down import CertaintyPenaltyPartitioning
from sfumato.algorithms.local.sabre_buckets import Floats, bucketize_values
from sfumato.algorithms.local.segment_cutting import Flags
from sfumato.algorithms.publishing import label_single_group
from sfumato.coding.cutting.partition import Ints, Ranges, measure_widths
from sfumato.core.publication import TableSolution
from sfumato.models.base import GroupModel
from sfumato.models.t_closeness import TCloseness

NEIGHBORHOODS = 0.9  # of t may be used up before records are distributed
HALFWAY = 0.5  # of the work


@dataclass(frozen=True, kw_only=True)
class SABRE(TableAlgorithm):
    r"""Let every group take records from buckets of sensitive values in equal shares [1]_.

    First, the values of every attribute that t-closeness protects are put into buckets: starting with a single bucket,
    buckets are split (a node of the hierarchy into its children, an order in two, the most common value from the rest)
    until the bounds of all buckets sum to at most $t$. The bound of a bucket is how far a group can be from the table
    if all that it takes from the bucket has one value.

    Then records are split into neighborhoods, by cuts as in `TopDownNCP`, as long as these are within $0.9\,t$ of the
    table; the original has one neighborhood, the table. Within them records are distributed: again and again into two
    halves, in each bucket by the order of one attribute, so that both halves take half of every bucket. Halves are
    rounded along the order of the buckets, so running sums are off by at most half a record. The attribute with the
    smallest remaining penalty is chosen. Rounding and the choice inside buckets may break the promise, so a cut is made
    only if both sides keep every model by their own true distances: where the original repairs groups afterward, here
    none is ever broken.

    Other models are kept alongside, and without t-closeness there is one bucket. The work grows as $d\,n \log n$ for
    $n$ records and $d$ quasi-identifiers. Nothing is suppressed and nothing is random; records with equal
    quasi-identifiers may be published differently.

    References
    ----------
    .. [1] Cao, Karras, Kalnis, Tan, "SABRE: a Sensitive Attribute Bucketization and REdistribution framework for
       t-closeness", VLDB Journal 20(1), 2011. https://doi.org/10.1007/s00778-010-0191-9
    """

    name = "sabre"
    reference = "Cao, Karras, Kalnis, Tan 2011, https://doi.org/10.1007/s00778-010-0191-9"
    needs_monotone = "always"
    suppresses = False

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        if not task.table.quasi:
            return label_single_group(task)
        neighborhoods = CertaintyPenaltyPartitioning(
            replace(
                task,
                models=[_stricter(model) for model in task.models],
                progress=lambda done, note="": task.progress(HALFWAY * done, note),
            )
        )
        neighborhoods.run()
        sharing = _ProportionalPartitioning(
            replace(task, progress=lambda done, note="": task.progress(HALFWAY + (1 - HALFWAY) * done, note))
        )
        sharing.run(start=neighborhoods.leaf_of)
        return label_covers(task.table.quasi, sharing.leaf_of, sharing.leaves)


def _stricter(model: GroupModel) -> GroupModel:
    return replace(model, t=NEIGHBORHOODS * model.t) if isinstance(model, TCloseness) else model


class _ProportionalPartitioning(CheapestPartitioning):
    """Cuts that give both sides half of every bucket."""

    def __init__(self, task: TableRequest) -> None:
        super().__init__(task)
        self._look_up: list[tuple[int, Ints]] = []
        names = list(self.whole.domains)
        coded = {column.name: column for column in task.table.sensitive}
        for model in task.models:
            if isinstance(model, TCloseness):
                column = coded[model.sensitive]
                counts = self.whole.totals[model.sensitive]
                self._look_up.append((names.index(model.sensitive), bucketize_values(model, column.domain, counts)))

    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[ProposedCuts]:
        """Propose cuts along every attribute."""
        rows, owner = self.records.list_rows(named)
        buckets = self._buckets(rows)
        runs = owner * (buckets.max() + 1) + buckets

        def along(axis: int) -> ProposedCuts:
            wide = (ranges.high[:, axis] > ranges.low[:, axis]) | ranges.missing[:, axis]
            left = _halve_runs(np.lexsort((self.records.codes[axis][rows], runs)), runs, owner)
            return ProposedCuts(np.where(wide, self._cost(rows, owner, left), np.inf), left)

        return list(pool.map(along, range(len(self.axes))))

    def _buckets(self, rows: Ints) -> Ints:
        """Return the number of every record's combination of buckets."""
        result = np.zeros(len(rows), dtype=np.int64)
        for place, look_up in self._look_up:
            result = result * (look_up[-1] + 1) + look_up[self.records.extra[place][rows]]
        return result

    def _cost(self, rows: Ints, owner: Ints, left: Flags) -> Floats:
        """Sum the widths of both sides of every segment, times their records."""
        starts = np.searchsorted(owner, np.arange(owner[-1] + 1))
        shape = len(starts), len(self.axes)
        cost = np.zeros(len(starts))
        for side in (left, ~left):
            ranges = Ranges(np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.bool_))
            for j, leaves in enumerate(self.axes.leaves):
                codes = self.records.codes[j][rows].astype(np.int32)
                lost = codes == leaves
                ranges.low[:, j] = np.minimum.reduceat(np.where(side, codes, leaves), starts)
                ranges.high[:, j] = np.maximum.reduceat(np.where(side & ~lost, codes, -1), starts)
                ranges.missing[:, j] = np.logical_or.reduceat(side & lost, starts)
            both = measure_widths(ranges, self.axes).reshape(len(starts), 2, -1).max(axis=1)
            cost += np.minimum(both, 1.0).sum(axis=1) * np.bincount(owner[side], minlength=len(starts))
        return cost


def _halve_runs(order: Ints, runs: Ints, owner: Ints) -> Flags:
    """Send the first half of every run left; halves are rounded so that neighboring runs compensate."""
    ordered = runs[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    last = np.append(first[1:], len(order))
    segment = owner[order[first]]
    start = np.searchsorted(owner, segment)
    half = (last - start + 1) // 2 - (first - start + 1) // 2
    left = np.empty(len(order), dtype=np.bool_)
    left[order] = np.arange(len(order)) - np.repeat(first, last - first) < np.repeat(half, last - first)
    return left
