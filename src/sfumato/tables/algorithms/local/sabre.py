"""SABRE: t-closeness by buckets of sensitive values from which every group takes its share."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain
from sfumato.tables.algorithms._labels import label_covers, label_single_group
from sfumato.tables.algorithms._segments.cuts import Ints, Ranges, measure_widths
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._top_down import CheapestPartitioning, Flags, ProposedCuts
from sfumato.tables.algorithms.local.top_down_ncp import CertaintyPenaltyPartitioning
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.solution import TableSolution

Floats: TypeAlias = npt.NDArray[np.float64]


# The first phase of SABRE: buckets of interchangeable sensitive values.


# The first phase of SABRE: buckets of interchangeable sensitive values.
Nodes: TypeAlias = Sequence[npt.NDArray[np.integer]]
ROUNDING = 1e-12


class BucketRule(ABC):
    """How far a group can be from the table inside a bucket of values, and how a bucket is split.

    A bucket is an array of the codes of values that occur, ascending.
    """

    @abstractmethod
    def bound(self, bucket: Ints) -> float:
        """Find the largest sum, over the bucket's values v, of shares times distances from v.

        That is how far a group is from the table if everything it takes from the bucket has one value.
        """

    @abstractmethod
    def parts(self, bucket: Ints) -> list[Ints]:
        """Split a bucket of several values so that the bounds of the parts have a small sum."""


class EqualDistanceRule(BucketRule):
    """All values are at distance 1."""

    def __init__(self, shares: Floats) -> None:
        self._shares = shares

    def bound(self, bucket: Ints) -> float:
        """Put all mass on the rarest value."""
        return float(self._shares[bucket].sum() - self._shares[bucket].min())

    def parts(self, bucket: Ints) -> list[Ints]:
        """Take out the most common value: no other split lowers the sum as much."""
        at = int(np.argmax(self._shares[bucket]))
        return [bucket[at : at + 1], np.delete(bucket, at)]

    def buckets(self, whole: Ints, t: float) -> list[Ints]:
        """Take out values, the most common first, until the bound of the rest is at most `t`."""
        order = whole[np.argsort(-self._shares[whole], kind="stable")]
        rest = np.cumsum(self._shares[order][::-1])[::-1] - self._shares[order[-1]]
        alone = int(np.argmax(rest <= t + ROUNDING))
        return [*order[:alone].reshape(-1, 1), np.sort(order[alone:])]


class OrderedDistanceRule(BucketRule):
    """Values are as far apart as their ranks in the domain."""

    def __init__(self, shares: Floats) -> None:
        self._gaps = max(len(shares) - 1, 1)
        self._mass = np.append(0.0, np.cumsum(shares))
        self._moment = np.append(0.0, np.cumsum(shares * np.arange(len(shares))))

    def bound(self, bucket: Ints) -> float:
        """Put all mass on the first or the last value: distances are convex."""
        return float(self._bounds(bucket[:1], bucket[-1:])[0])

    def parts(self, bucket: Ints) -> list[Ints]:
        """Cut where the bounds of both parts are smallest."""
        first, last = np.full(len(bucket) - 1, bucket[0]), np.full(len(bucket) - 1, bucket[-1])
        at = int(np.argmin(self._bounds(first, bucket[:-1]) + self._bounds(bucket[1:], last))) + 1
        return [bucket[:at], bucket[at:]]

    def _bounds(self, first: Ints, last: Ints) -> Floats:
        mass = self._mass[last + 1] - self._mass[first]
        moment = self._moment[last + 1] - self._moment[first]
        return np.asarray(np.maximum(moment - mass * first, mass * last - moment) / self._gaps)


class HierarchicalDistanceRule(BucketRule):
    """Values are as far apart as the share of levels below the root on which their nodes differ."""

    def __init__(self, shares: Floats, levels: Nodes) -> None:
        self._shares, self._levels = shares, levels
        self._masses = [np.bincount(nodes, shares) for nodes in levels]

    def bound(self, bucket: Ints) -> float:
        """Put all mass on the value that is farthest from the rest."""
        within, far = float(self._shares[bucket].sum()), np.zeros(len(bucket))
        for nodes, mass in zip(self._levels, self._masses, strict=True):
            far += np.maximum(within - mass[nodes[bucket]], 0.0)  # a node above the whole bucket has all of it
        return float(far.max()) / len(self._levels)

    def parts(self, bucket: Ints) -> list[Ints]:
        """Split a node into its children, on the highest level that has several."""
        levels = (nodes[bucket] for nodes in reversed(self._levels))
        mine = next(nodes for nodes in levels if nodes[0] != nodes[-1])
        return np.split(bucket, np.flatnonzero(np.diff(mine)) + 1)


def bucketize_values(model: TCloseness, domain: Domain, counts: Ints) -> Ints:
    """Find the bucket number of every value of a domain, ascending with the bucket's first value.

    `counts` are those of the whole table, missing values last. A missing value has a bucket of its own.

    Buckets are split, each time the one whose split lowers the sum of all bounds most, until the sum is at most $t$:
    a group that takes records from the buckets in the table's proportions is then within $t$ of the table, whichever
    records it takes. For distances without such a bound (`"kl"`, `"matrix"`) every value is a bucket.
    """
    shares = counts[:-1] / max(int(counts[:-1].sum()), 1)
    present = np.flatnonzero(shares)
    match model.distance:
        case _ if not len(present):
            found = []
        case "equal" | "variational":
            found = EqualDistanceRule(shares).buckets(present, model.t)
        case "ordered":
            found = split_buckets(present, model.t, OrderedDistanceRule(shares))
        case "hierarchical" if domain.hierarchy is not None:
            found = split_buckets(present, model.t, HierarchicalDistanceRule(shares, domain.hierarchy.levels[:-1]))
        case _:
            found = list(present.reshape(-1, 1))
    result = np.zeros(len(counts), dtype=np.int64)
    for number, bucket in enumerate(sorted(found, key=lambda bucket: int(bucket[0]))):
        result[bucket] = number
    result[-1] = len(found)
    return result


def split_buckets(whole: Ints, t: float, rule: BucketRule) -> list[Ints]:
    """Split a bucket of all values until the sum of all bounds is at most `t`, best splits first.

    >>> thirds = EqualDistanceRule(np.array([0.5, 0.3, 0.2]))
    >>> [bucket.tolist() for bucket in split_buckets(np.arange(3), 0.3, thirds)]
    [[0], [1, 2]]
    """
    done: list[Ints] = []
    pending: list[tuple[float, int, float, Ints, list[Ints]]] = []
    total, number = 0.0, 0
    fresh = [whole]
    while fresh:
        for bucket in fresh:
            mine = rule.bound(bucket)
            total, number = total + mine, number + 1
            if len(bucket) == 1:
                done.append(bucket)
                continue
            parts = rule.parts(bucket)
            gain = mine - sum(rule.bound(part) for part in parts)
            heapq.heappush(pending, (-gain, number, mine, bucket, parts))
        fresh = []
        if pending and total > t + ROUNDING:
            _, _, mine, _, fresh = heapq.heappop(pending)
            total -= mine
    return done + [bucket for _, _, _, bucket, _ in pending]


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
