"""The first phase of SABRE: buckets of interchangeable sensitive values."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.partition import Ints
from sfumato.coding.domain import Domain
from sfumato.models.t_closeness import TCloseness

Floats: TypeAlias = npt.NDArray[np.float64]
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
