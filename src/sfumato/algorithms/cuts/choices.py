"""The ways to split one part of a cut, and the result of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.cuts.cut_groups import CutGroups, GroupPieces, Mask
from sfumato.algorithms.cuts.tree import Ints, Part, Tree
from sfumato.algorithms.cuts.worth import Floats, Gain


class SplitScan(NamedTuple):
    """The result of every choice as far as sizes show: records in invalid groups, gain, smallest valid group."""

    bad: Floats
    gain: Floats
    least: Floats


class SplitChoices(ABC):
    """The ways to split one part.

    `gain` is what every choice adds to the worth of the table if no record is suppressed, `least` the smallest
    group that it makes, as far as is known. A choice that is `dead` can never be made; one that is `waiting` was
    refused, and is tried again if there is no other.
    """

    def __init__(self, column: int, tree: Tree, part: Part, measure: Gain) -> None:
        self.column = column
        self.tree = tree
        self.part = part
        self.worth = float(measure.per_record(column, [part])[0])
        self.per = measure.per(int(measure.records(column, [part])[0]))
        self.tolerance = 1e-9 + 1e-12 * measure.rows
        self.gain = self._gains(measure)
        self.least = np.full(len(self.gain), np.inf)
        self.dead = np.zeros(len(self.gain), dtype=np.bool_)
        self.waiting = np.zeros(len(self.gain), dtype=np.bool_)

    @property
    def open(self) -> Mask:
        """The choices that may be made."""
        return ~self.dead & ~self.waiting & (self.gain > self.tolerance)

    @abstractmethod
    def _gains(self, measure: Gain) -> Floats:
        """Compute what every choice adds to the worth of the table if no record is suppressed."""

    @abstractmethod
    def pieces(self, choice: int) -> list[Part]:
        """Return the pieces that a choice splits the part into."""

    @abstractmethod
    def scan(self, partition: CutGroups) -> SplitScan:
        """Compute the result of every choice as far as sizes show."""

    @abstractmethod
    def outlive(self, parent: SplitChoices) -> None:
        """Inherit dead choices from the part that this one was a piece of."""


class ThresholdSplits(SplitChoices):
    """Split a range of ordered values in two; choice i ends the lower range at its i-th value.

    Missing values in the part become a piece of their own. If there are any, the last choice splits off only
    them.
    """

    def _gains(self, measure: Gain) -> Floats:
        column, tree, part = self.column, self.tree, self.part
        self.known = min(part.last, len(tree.domain) - 1)
        self.missing = self.known < part.last
        ends = np.arange(part.first, self.known + self.missing)
        starts, stops = np.full_like(ends, part.first), np.full_like(ends, self.known)
        after = np.minimum(ends + 1, stops)
        low = measure.in_ranges(column, starts, ends)
        high = np.where(ends < stops, measure.in_ranges(column, after, stops), 0.0)
        self.low = low / np.maximum(measure.records_in(column, starts, ends), 1)
        self.high = high / np.maximum(measure.records_in(column, after, stops), 1)
        gain = low + high - measure.of(column, [part])
        self.alone = 0.0
        if self.missing:
            lost = [tree.whole(part.last)]
            self.alone = float(measure.per_record(column, lost)[0])
            gain += measure.of(column, lost)
        return gain

    def pieces(self, choice: int) -> list[Part]:
        """Return the pieces that a choice splits the part into."""
        middle = self.part.first + choice
        pieces = [self.tree.run(self.part.first, middle)]
        if middle < self.known:
            pieces.append(self.tree.run(middle + 1, self.known))
        if self.missing:
            pieces.append(self.tree.whole(self.part.last))
        return pieces

    def scan(self, partition: CutGroups) -> SplitScan:
        """Compute the result of every choice as far as sizes show."""
        rows = partition.combinations.under(self.column, self.part)
        codes = partition.combinations.codes[self.column][rows].astype(np.int64)
        known = codes <= self.known
        lost = partition.count(rows[~known], np.zeros(np.count_nonzero(~known), dtype=np.int64), 1)
        values = partition.count(rows[known], codes[known] - self.part.first, self.known - self.part.first + 1)
        bad_before, worth_before = partition.standing(np.union1d(values.group, lost.group))
        lost_good = partition.may_be_valid(lost.sizes)
        bad, gain, least = self._sides(values, partition)
        bad += partition.invalid - bad_before + lost.sizes[~lost_good].sum()
        lost_worth = lost.sizes * (partition.worth[lost.group] - self.worth + self.alone)
        gain += lost_worth[lost_good].sum() - worth_before
        return SplitScan(bad, gain, np.minimum(least, lost.sizes[lost_good].min(initial=np.inf)))

    def _sides(self, values: GroupPieces, partition: CutGroups) -> tuple[Floats, Floats, Floats]:
        """Sum over groups what the lower and the upper range amount to, for all choices at once.

        Within a group, both change only at the values that it has. These changes are summed per value, and the
        running sums over values are the sums for every choice.
        """
        leads, choices = values.leads, len(self.gain)
        if not len(leads):
            return np.zeros(choices), np.zeros(choices), np.full(choices, np.inf)
        firsts = np.flatnonzero(leads)
        running = np.cumsum(values.sizes)
        ends = np.append(firsts[1:], len(leads)) - 1
        whole = running[ends] - running[firsts] + values.sizes[firsts]
        of_group = np.cumsum(leads) - 1
        low = running - (running - values.sizes)[firsts][of_group]
        high = whole[of_group] - low
        base = partition.worth[values.group] - self.worth
        low_good, high_good = partition.may_be_valid(low), partition.may_be_valid(high)
        good_whole = np.where(partition.may_be_valid(whole), whole, 0.0)
        kept_low, kept_high = low * low_good, high * high_good
        rise = np.diff(kept_low, prepend=0.0)
        rise[firsts] = kept_low[firsts]
        fall = np.diff(kept_high, prepend=0.0)
        fall[firsts] = kept_high[firsts] - good_whole

        def over_choices(changes: Floats) -> Floats:
            return np.cumsum(np.bincount(values.number, changes, minlength=choices)[:choices], dtype=np.float64)

        lower, upper = over_choices(rise), good_whole.sum() + over_choices(fall)
        gain = over_choices(rise * base) + (good_whole * base[firsts]).sum() + over_choices(fall * base)
        gain += self.low * lower + self.high * upper
        smallest = np.minimum(np.where(low_good, low, np.inf), np.where(high_good, high, np.inf))
        stops = np.append(values.number[1:], choices)
        stops[ends] = choices
        least = range_minimum(
            np.append(values.number, np.zeros_like(firsts)),
            np.append(np.minimum(stops, choices), np.minimum(values.number[firsts], choices)),
            np.append(smallest, np.where(good_whole > 0, good_whole, np.inf)),
            choices,
        )
        return values.sizes.sum() - lower - upper, gain, least

    def outlive(self, parent: SplitChoices) -> None:
        """Inherit dead choices from the part that this one was a piece of."""
        start = self.part.first - parent.part.first
        inherited = parent.dead[start : start + len(self.dead)]
        self.dead[: len(inherited)] = inherited


class MemberSplits(SplitChoices):
    """Split all members of a part (choice 0), or let member i - 1 leave alone (choice i).

    Members leave alone only if that is requested, if at least two others stay, and if those that stay can be published
    exactly; as no set of values contains missing ones, these leave first.
    """

    def __init__(self, column: int, tree: Tree, part: Part, measure: Gain, *, siblings: bool) -> None:
        self.siblings = siblings
        super().__init__(column, tree, part, measure)

    def _gains(self, measure: Gain) -> Floats:
        column, tree, part = self.column, self.tree, self.part
        members = np.array(part.members)
        self.first, last = tree.first[members], tree.last[members]
        each = measure.in_ranges(column, self.first, last)
        records = measure.records_in(column, self.first, last)
        before = measure.of(column, [part])[0]
        self.each = each / np.maximum(records, 1)
        whole = np.array([each.sum() - before])
        if not self.siblings or len(members) < 3:  # noqa: PLR2004 - two members leave each other alone
            return whole
        rest = measure.outside(column, part, self.first, last)
        self.rest = rest / np.maximum(records.sum() - records, 1)
        leaving = [tree.can_be_published(self.pieces(choice)[1]) for choice in range(1, len(members) + 1)]
        return np.append(whole, np.where(leaving, each + rest - before, 0.0))

    def pieces(self, choice: int) -> list[Part]:
        """Return the pieces that a choice splits the part into."""
        members = self.part.members
        if choice == 0:
            return [self.tree.whole(member) for member in members]
        rest = (*members[: choice - 1], *members[choice:])
        return [self.tree.whole(members[choice - 1]), self.tree.joined(self.part.node, rest)]

    def scan(self, partition: CutGroups) -> SplitScan:
        """Compute the result of every choice as far as sizes show."""
        rows = partition.combinations.under(self.column, self.part)
        codes = partition.combinations.codes[self.column][rows]
        place = np.searchsorted(self.first, codes, side="right") - 1
        counted = partition.count(rows, place, len(self.first))
        touched = counted.group[counted.leads]
        bad_before, worth_before = partition.standing(touched)
        good = partition.may_be_valid(counted.sizes)
        base = partition.worth[counted.group] - self.worth
        kept = np.where(good, counted.sizes, 0.0)
        worth = kept * (base + self.each[counted.number])
        scan = SplitScan(
            np.array([counted.sizes[~good].sum()]),
            np.array([worth.sum()]),
            np.array([counted.sizes[good].min(initial=np.inf)]),
        )
        if len(self.gain) > 1:
            alone = self._separate(counted, partition, touched)
            scan = SplitScan(*(np.append(*both) for both in zip(scan, alone, strict=True)))
        return SplitScan(scan.bad + partition.invalid - bad_before, scan.gain - worth_before, scan.least)

    def _separate(self, counted: GroupPieces, partition: CutGroups, touched: Ints) -> SplitScan:
        """Sum over groups the result when one member leaves, for all members at once."""
        group, member, sizes = counted.group, counted.number, counted.sizes

        def per_member(amounts: Floats) -> Floats:
            return np.bincount(member, amounts, minlength=len(self.first)).astype(np.float64)

        rest = partition.sizes[group] - sizes
        good, good_rest = partition.may_be_valid(sizes), partition.may_be_valid(rest)
        kept, kept_rest = np.where(good, sizes, 0.0), np.where(good_rest, rest, 0.0)
        base = partition.worth - self.worth
        before = np.where(partition.kept, partition.sizes, 0.0)
        untouched = before[touched].sum() - per_member(before[group])
        gain = per_member(kept * (base[group] + self.each[member]) + kept_rest * (base[group] + self.rest[member]))
        gain += (before * base)[touched].sum() - per_member((before * base)[group]) + self.rest * untouched
        bad = per_member(partition.sizes[group] - kept - kept_rest)
        unpublished = partition.sizes - before
        bad += unpublished[touched].sum() - per_member(unpublished[group])
        least = np.full(len(self.first), np.inf)
        np.minimum.at(least, member, np.where(good, sizes, np.inf))
        np.minimum.at(least, member, np.where(good_rest, rest, np.inf))
        return SplitScan(bad, gain, least)

    def outlive(self, parent: SplitChoices) -> None:
        """Inherit dead choices from the part that this one was a piece of."""
        if self.part.node != parent.part.node:
            return
        self.dead[0] = parent.dead[0]
        if len(self.dead) > 1 and len(parent.dead) > 1:
            firsts = self.tree.first[np.array(parent.part.members)]
            self.dead[1:] = parent.dead[1:][np.searchsorted(firsts, self.first)]


def range_minimum(starts: Ints, stops: Ints, values: Floats, length: int) -> Floats:
    """Find for every position below `length` the smallest value whose range, from start to before stop, covers it.

    >>> range_minimum(np.array([0, 1]), np.array([3, 2]), np.array([5.0, 4.0]), 4)
    array([ 5.,  4.,  5., inf])
    """
    some = stops > starts
    starts, stops, values = starts[some], stops[some], values[some]
    height = np.log2(stops - starts).astype(np.int64)
    table = np.full((int(height.max(initial=0)) + 1, length), np.inf)
    flat = table.reshape(-1)
    np.minimum.at(flat, height * length + starts, values)
    np.minimum.at(flat, height * length + stops - (1 << height), values)
    for level in range(len(table) - 1, 0, -1):
        half = 1 << (level - 1)
        np.minimum(table[level - 1], table[level], out=table[level - 1])
        np.minimum(table[level - 1][half:], table[level][:-half], out=table[level - 1][half:])
    least: Floats = table[0]
    return least
