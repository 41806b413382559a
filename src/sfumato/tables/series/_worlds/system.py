"""What a series demands of worlds: who is in which groups, and how often each group has which value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.errors import InfeasibleError
from sfumato.tables.published.groups import Counts, Histogram
from sfumato.tables.series.history import History

Masks = npt.NDArray[np.uint64]
BLOCK = 64


class InconsistentSeriesError(InfeasibleError):
    """No world gives everybody one value: values that were called permanent have changed, or files do not fit."""

    def __init__(self, groups: int) -> None:
        super().__init__(
            f"No values fit all releases: they contradict each other in {groups:,} groups; either values that are "
            "called permanent have changed, or the files do not belong together."
        )
        self.groups = groups


@dataclass(frozen=True, eq=False)
class ConstraintSystem:
    """Units and their groups: persons with equal histories are one unit, and so are a group's counterfeits.

    `slots` has the group of every unit in every release (releases in rows; -1 for none), groups of all releases
    numbered through. `weight` says how many a unit stands for, `unit` is the unit of every person. A counterfeit takes
    one of the published values as a member does, so every group has exactly as many values as members.
    """

    slots: Counts
    weight: Counts
    unit: Counts
    histogram: Histogram

    @classmethod
    def of(cls, history: History) -> ConstraintSystem:
        """Read the groups of a series."""
        starts = np.cumsum([0, *(each.groups for each in history.releases)])
        columns = [each.members + 1 for each in history.releases]
        grouped = group_columns(columns, [each.groups + 1 for each in history.releases])
        rows = representative_rows(grouped)
        slots = np.array([column[rows] for column in columns], dtype=np.int64) - 1
        slots = np.where(slots >= 0, slots + starts[:-1, None], -1)
        fakes, weight = [slots], [grouped.counts]
        for number, each in enumerate(history.releases):
            some = np.flatnonzero(each.counterfeits)
            alone = np.full((len(slots), len(some)), -1)
            alone[number] = some + starts[number]
            fakes.append(alone)
            weight.append(each.counterfeits[some])
        histogram = _stack_histograms([each.histogram for each in history.releases])
        return cls(np.concatenate(fakes, axis=1), np.concatenate(weight), grouped.labels.astype(np.int64), histogram)

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return len(self.slots)

    @property
    def groups(self) -> int:
        """How many groups there are in all releases."""
        return len(self.histogram.offsets) - 1

    @cached_property
    def grouped(self) -> npt.NDArray[np.bool_]:
        """Whether a unit is in any group."""
        return np.asarray((self.slots >= 0).any(axis=0))

    @cached_property
    def pairs(self) -> tuple[Counts, Counts]:
        """All pairs of a group and a unit in it, ascending by group."""
        inside = self.slots >= 0
        group, unit = self.slots[inside], np.nonzero(inside)[1]
        order = np.argsort(group, kind="stable")
        return group[order], unit[order]

    def masks(self) -> Masks:
        """Return the values that every group shows, one bit per value; a last row for no group has all of them."""
        return np.concatenate([value_bits(self.histogram), np.full((1, self.blocks), ~np.uint64(0))])

    @property
    def blocks(self) -> int:
        """How many blocks of bits the values take."""
        return -(-self.histogram.width // BLOCK)

    def component_of(self, units: npt.NDArray[np.bool_]) -> tuple[Counts, Counts]:
        """Find the components of groups that share some units; return that of every unit and of every group."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        group, unit = self.pairs
        kept = units[unit]
        nodes = len(self.weight) + self.groups
        ends = unit[kept], group[kept] + len(self.weight)
        edges = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(nodes, nodes))
        label = connected_components(edges, directed=False)[1].astype(np.int64)
        return label[: len(self.weight)], label[len(self.weight) :]

    def without(self, units: npt.NDArray[np.bool_], values: Counts) -> ConstraintSystem:
        """Take some units, each with one known value, out of their groups; nobody is renumbered."""
        group, unit = self.pairs
        gone = units[unit]
        group, unit = group[gone], unit[gone]
        left = self.histogram
        taken = Histogram.from_entries(
            group, values[unit], -self.weight[unit], groups=self.groups, width=self.histogram.width
        )
        left = nonzero(left + taken)
        return replace(self, slots=np.where(units, -1, self.slots), histogram=left)


def nonzero(histogram: Histogram) -> Histogram:
    """Drop counts of zero; refuse counts below, which no world has."""
    negative = histogram.counts < 0
    if negative.any():
        raise InconsistentSeriesError(len(np.unique(histogram.rows[negative])))
    kept = histogram.counts > 0
    offsets = np.append(0, np.cumsum(kept))[histogram.offsets]
    return Histogram(offsets, histogram.codes[kept], histogram.counts[kept], histogram.width, histogram.missing)


def value_bits(histogram: Histogram) -> Masks:
    """Return the values of every group as bits, in blocks of 64."""
    blocks = -(-histogram.width // BLOCK)
    found = np.zeros((len(histogram.offsets) - 1, blocks), dtype=np.uint64)
    bits = np.uint64(1) << (histogram.codes % BLOCK).astype(np.uint64)
    np.bitwise_or.at(found, (histogram.rows, histogram.codes // BLOCK), bits)
    return found


def count_values(masks: Masks) -> Counts:
    """Count the values of every mask."""
    return np.asarray(np.bitwise_count(masks).sum(axis=1, dtype=np.int64))


def single_value(masks: Masks) -> Counts:
    """Return the smallest value of every mask; -1 if it has none."""
    block = (masks != 0).argmax(axis=1)
    bits = masks[np.arange(len(masks)), block]
    lowest = bits & (~bits + np.uint64(1))
    place = np.bitwise_count(lowest - np.uint64(1)).astype(np.int64)
    return np.where(bits > 0, block * BLOCK + place, -1)


def has_value(masks: Masks, codes: Counts) -> npt.NDArray[np.bool_]:
    """Return whether every mask has the value given for it; -1 is none."""
    known = np.maximum(codes, 0)
    bits = masks[np.arange(len(masks)), known // BLOCK] >> (known % BLOCK).astype(np.uint64)
    return np.asarray((codes >= 0) & ((bits & np.uint64(1)) > 0))


def values_of(mask: Masks) -> list[int]:
    """List the values of one mask."""
    found = []
    for block, bits in enumerate(mask.tolist()):
        left = bits
        while left:
            lowest = left & -left
            found.append(block * BLOCK + lowest.bit_length() - 1)
            left ^= lowest
    return found


def _stack_histograms(histograms: list[Histogram]) -> Histogram:
    """Put the groups of several histograms one after the other."""
    lengths = np.concatenate([np.diff(each.offsets) for each in histograms])
    return Histogram(
        np.append(0, np.cumsum(lengths)),
        np.concatenate([each.codes for each in histograms]),
        np.concatenate([each.counts for each in histograms]),
        histograms[0].width,
        np.concatenate([each.missing for each in histograms]),
    )
