"""The cost, in NCP, of publishing codes of one attribute together: pairs, sequences, and joining a core."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._segments.cuts import Ints, make_axes

Floats = npt.NDArray[np.float64]
MIXED = 1.0  # missing and other values together are published as suppressed
TABLE_LEAVES = 1500  # of a tree for which all pairs of leaves are tabulated


@dataclass(frozen=True, eq=False)
class RecordRuns:
    """Sequences of consecutive records: where each begins, and the sequence of every record."""

    starts: Ints
    owner: Ints

    @classmethod
    def of(cls, sizes: Ints) -> RecordRuns:
        """Build sequences of given sizes."""
        return cls(np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes))

    def reversed(self) -> RecordRuns:
        """Return the reversed sequences, from the last record of the last one to the first of the first."""
        ends = np.append(self.starts[1:], len(self.owner))
        return RecordRuns(len(self.owner) - ends[::-1], (len(self.starts) - 1 - self.owner)[::-1])

    def running_maximum(self, values: Floats) -> Floats:
        """Find the largest value of every sequence up to every record; values are in [0, 1]."""
        apart = 2.0 * self.owner
        return np.asarray(np.maximum.accumulate(values + apart) - apart)

    def running_greatest(self, codes: Ints, span: int) -> Ints:
        """Find the largest code of every sequence up to every record; codes are from 0 to below `span`."""
        apart = self.owner * span
        return np.asarray(np.maximum.accumulate(codes + apart) - apart)


class Penalty(ABC):
    """The NCP of one attribute, whose missing values have the code `missing`."""

    def __init__(self, domain: Domain) -> None:
        self.missing = domain.missing

    @abstractmethod
    def pair(self, one: Ints, other: Ints) -> Floats:
        """Return the cost of each code together with another one."""

    @abstractmethod
    def prefixes(self, codes: Ints, runs: RecordRuns) -> Floats:
        """Return for every record the cost of the codes of its sequence up to its own."""

    @abstractmethod
    def joining(self, codes: Ints, owner: Ints, core: Ints, runs: RecordRuns) -> Floats:
        """Return how much the cost of a core rises when a record joins; `runs` are the cores, `owner` says which."""

    def _mixed(self, codes: Ints, runs: RecordRuns) -> npt.NDArray[np.bool_] | None:
        """Return where a sequence up to a record has missing and other values; None if no sequence has both."""
        lost = codes == self.missing
        differs = lost != lost[runs.starts][runs.owner]
        return runs.running_maximum(differs.astype(np.float64)) > 0 if differs.any() else None

    def _unless_mixing(self, rise: Floats, codes: Ints, owner: Ints, core: Ints, runs: RecordRuns) -> Floats:
        """Let a record that mixes missing and other values cost everything, and nothing if they are already mixed."""
        lost = core == self.missing
        some, every = np.logical_or.reduceat(lost, runs.starts), np.logical_and.reduceat(lost, runs.starts)
        rise = np.where((codes == self.missing) != every[owner], MIXED, rise)
        return np.where((some & ~every)[owner], 0.0, rise)

    def _with_mixed(self, cost: Floats, codes: Ints, runs: RecordRuns) -> Floats:
        mixed = self._mixed(codes, runs)
        return cost if mixed is None else np.where(mixed, MIXED, cost)


class LinePenalty(Penalty):
    """Numbers and dates cost their distance over the domain's, ranks the share of ranks between them."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        ranks = domain.scale is not Scale.NUMERIC
        places = np.arange(len(domain)) / max(len(domain), 1) if ranks else make_axes([domain]).positions
        self._places = np.append(places, 0.0)
        self._own = 1 / max(len(domain), 1) if ranks else 0.0  # a range of ranks includes both ends

    def pair(self, one: Ints, other: Ints) -> Floats:
        """Return the cost of each code together with another one."""
        cost = self._cost(np.abs(self._places[one] - self._places[other]))
        return np.where((one == self.missing) != (other == self.missing), MIXED, cost)

    def prefixes(self, codes: Ints, runs: RecordRuns) -> Floats:
        """Return for every record the cost of the codes of its sequence up to its own."""
        high = runs.running_greatest(codes, self.missing + 1)
        low = self.missing - runs.running_greatest(self.missing - codes, self.missing + 1)
        return self._with_mixed(self._cost(self._places[high] - self._places[low]), codes, runs)

    def joining(self, codes: Ints, owner: Ints, core: Ints, runs: RecordRuns) -> Floats:
        """Return how much the cost of a core rises when a record joins."""
        places = self._places[core]
        low, high = np.minimum.reduceat(places, runs.starts), np.maximum.reduceat(places, runs.starts)
        mine = self._places[codes]
        joined = self._cost(np.maximum(high[owner], mine) - np.minimum(low[owner], mine))
        return self._unless_mixing(joined - self._cost(high - low)[owner], codes, owner, core, runs)

    def _cost(self, width: Floats) -> Floats:
        return np.where(width > 0, width + self._own, 0.0)


class TreePenalty(Penalty):
    """Values of a taxonomy cost the share of leaves under their lowest common ancestor."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        assert domain.hierarchy is not None  # noqa: S101 - callers ask for taxonomies only
        leaves, above = len(domain), domain.hierarchy.levels[1:]
        self._nodes = [np.append(nodes, -1) for nodes in above]  # a missing value is under no node
        self._shares = [np.append(np.bincount(nodes)[nodes] / leaves, 0.0) for nodes in above]
        self._table: Floats | None = None
        if leaves <= TABLE_LEAVES:
            every = np.arange(leaves + 1)
            self._table = self._ascend(np.repeat(every, leaves + 1), np.tile(every, leaves + 1))

    def pair(self, one: Ints, other: Ints) -> Floats:
        """Return the cost of each code together with another one."""
        if self._table is None:
            return self._ascend(one, other)
        return np.asarray(self._table[one * (self.missing + 1) + other])

    def prefixes(self, codes: Ints, runs: RecordRuns) -> Floats:
        """Return for every record the cost of the codes of its sequence up to its own.

        All ancestors of one record lie on one path, so the farthest record from the first decides.
        """
        return runs.running_maximum(self.pair(codes, codes[runs.starts][runs.owner]))

    def joining(self, codes: Ints, owner: Ints, core: Ints, runs: RecordRuns) -> Floats:
        """Return how much the cost of a core rises when a record joins."""
        first = core[runs.starts]
        before = np.maximum.reduceat(self.pair(core, first[runs.owner]), runs.starts)
        rise = np.maximum(self.pair(codes, first[owner]) - before[owner], 0.0)
        return self._unless_mixing(rise, codes, owner, core, runs)

    def _ascend(self, one: Ints, other: Ints) -> Floats:
        cost = np.full(len(one), MIXED)
        for nodes, shares in zip(reversed(self._nodes), reversed(self._shares), strict=True):
            same = nodes[one] == nodes[other]
            cost = np.where(same, shares[one], cost)
        return np.where(one == other, 0.0, cost)


class SetPenalty(Penalty):
    """Nominal values cost their share of all values, and nothing if there is only one."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self._each = 1 / max(len(domain), 1)

    def pair(self, one: Ints, other: Ints) -> Floats:
        """Return the cost of each code together with another one."""
        cost = np.where(one == other, 0.0, 2 * self._each)
        return np.where((one == self.missing) != (other == self.missing), MIXED, cost)

    def prefixes(self, codes: Ints, runs: RecordRuns) -> Floats:
        """Return for every record the cost of the codes of its sequence up to its own."""
        _, first = np.unique(self._keys(codes, runs.owner), return_index=True)
        fresh = np.zeros(len(codes), dtype=np.int64)
        fresh[first] = 1
        before = np.cumsum(fresh)
        values = before - (before[runs.starts] - 1)[runs.owner]
        return self._with_mixed(self._cost(values), codes, runs)

    def joining(self, codes: Ints, owner: Ints, core: Ints, runs: RecordRuns) -> Floats:
        """Return how much the cost of a core rises when a record joins."""
        inside = np.unique(self._keys(core, runs.owner))
        values = np.bincount(inside // (self.missing + 1), minlength=len(runs.starts))[owner]
        fresh = ~np.isin(self._keys(codes, owner), inside)
        rise = self._cost(values + fresh) - self._cost(values)
        return self._unless_mixing(rise, codes, owner, core, runs)

    def _keys(self, codes: Ints, owner: Ints) -> Ints:
        return owner * (self.missing + 1) + codes

    def _cost(self, values: Ints) -> Floats:
        return np.where(values > 1, values * self._each, 0.0)


def choose_penalty(domain: Domain) -> Penalty:
    """Choose the penalty that fits how an attribute is published."""
    if domain.scale is Scale.NOMINAL:
        return SetPenalty(domain)
    if domain.scale is Scale.CATEGORICAL and domain.hierarchy is not None and len(domain):
        return TreePenalty(domain)
    return LinePenalty(domain)
