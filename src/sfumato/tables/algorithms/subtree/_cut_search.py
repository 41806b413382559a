"""The ways to split one part of a cut, and the result of each."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sfumato._progress import Progress
from sfumato._validation import require
from sfumato.tables.algorithms._global_recoding import GlobalRecoding
from sfumato.tables.algorithms._labels import label_single_group
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.subtree._gain import Floats, Gain, choose_gain, round_significant
from sfumato.tables.algorithms.subtree._groups import CutGroups, CutTrial, GroupPieces, Mask, TableCombinations
from sfumato.tables.algorithms.subtree._tree import Ints, Part, Tree
from sfumato.tables.published.solution import TableSolution

# What all searches for cuts have in common.

MOST_CLASSES = 100  # the most values of a class to predict


@dataclass(frozen=True, kw_only=True)
class CutSearch(GlobalRecoding):
    """A search for cuts through the hierarchies."""

    needs_monotone = "always"

    target: str | None = None
    scheme: Literal["subtree", "sibling"] = "subtree"

    def __post_init__(self) -> None:
        super().__post_init__()
        named = self.target is None or isinstance(self.target, str)
        require(named, self, "target", "the name of a column, or nothing", self.target)
        require(self.scheme in {"subtree", "sibling"}, self, "scheme", "'subtree' or 'sibling'", self.scheme)

    @property
    def target_columns(self) -> tuple[str, ...]:
        """The column to predict, if any."""
        return () if self.target is None else (self.target,)

    def check(self, task: TableRequest) -> str | None:
        """Refuse a class of too many values."""
        if self.target is not None:
            classes = len(task.table.target_columns[self.target].domain)
            if classes > MOST_CLASSES:
                return (
                    f"{type(self).__name__} cannot predict {self.target!r}, which has {classes:,} distinct values; "
                    f"choose a target of at most {MOST_CLASSES}."
                )
        return super().check(task)

    def recode(self, task: TableRequest) -> TableSolution:
        """Find the cuts and publish them."""
        if not task.table.quasi:
            return label_single_group(task)
        combinations, reduction = TableCombinations.of(task)
        found = self.cut(combinations, choose_gain(task, combinations.trees, self.target), task.progress)
        task.progress(1.0)
        return combinations.publish(found.cuts, found.group, reduction)

    @abstractmethod
    def cut(self, combinations: TableCombinations, measure: Gain, progress: Progress) -> CutGroups:
        """Find cuts, and the groups that they make."""


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


# The way down: split parts, the best specialization first, while the models hold.


class BestSpecialization(NamedTuple):
    """A specialization that is allowed and worthwhile."""

    choices: SplitChoices
    choice: int
    trial: CutTrial
    score: float


class TopDownSearch:
    """The way from some cuts down to cuts without any specialization that is both allowed and worthwhile.

    A specialization is allowed if few enough records are in groups that break a model. Its score is its gain over
    one more than the number of records by which the smallest valid group shrinks.
    """

    def __init__(self, partition: CutGroups, *, siblings: bool) -> None:
        self.partition = partition
        self.siblings = siblings
        self.final = partition.limit == 0 or all(model.extendable for model in partition.models)
        self.choices = [
            found
            for column, cut in enumerate(partition.cuts)
            for part in cut.parts
            if (found := self._choices(column, part)) is not None
        ]

    def run(self, progress: Progress) -> None:
        """Specialize until nothing is left to specialize; progress is the share of the largest possible gain."""
        partition = self.partition
        gained, most = 0.0, sum(self._most(column) for column in range(len(partition.cuts)))
        while (found := self.best()) is not None:
            self.make(found)
            gained += float(found.choices.gain[found.choice])
            progress(min(gained / most, 1.0), f"{len(partition.sizes):,} groups")

    def _most(self, column: int) -> float:
        """Return the gain if every value of an attribute were published unchanged."""
        cut, measure = self.partition.cuts[column], self.partition.measure
        codes = np.arange(cut.tree.codes)
        return float(measure.in_ranges(column, codes, codes).sum() - measure.of(column, cut.parts).sum())

    def best(self) -> BestSpecialization | None:
        """Find the specialization with the best score; refused ones are tried again before giving up."""
        found = self._best_open()
        if found is None and any(each.waiting.any() for each in self.choices):
            for each in self.choices:
                each.waiting[:] = False
            found = self._best_open()
        return found

    def make(self, found: BestSpecialization) -> None:
        """Specialize."""
        choices = found.choices
        pieces = choices.pieces(found.choice)
        self.partition.adopt(found.trial)
        self.partition.cuts[choices.column].replace([choices.part], pieces)
        self.choices.remove(choices)
        for piece in pieces:
            fresh = self._choices(choices.column, piece)
            if fresh is not None:
                if self.final:
                    fresh.outlive(choices)
                self.choices.append(fresh)

    def _choices(self, column: int, part: Part) -> SplitChoices | None:
        tree, measure = self.partition.cuts[column].tree, self.partition.measure
        if part.first == part.last:
            return None
        if tree.neighbors:
            return ThresholdSplits(column, tree, part, measure)
        return MemberSplits(column, tree, part, measure, siblings=self.siblings)

    def _best_open(self) -> BestSpecialization | None:
        queue = self._queue()
        scans: dict[int, SplitScan] = {}
        trials: dict[int, dict[int, CutTrial]] = {}
        anonymity = self.partition.anonymity
        while queue:
            bound, column, first, choice, number = heapq.heappop(queue)
            choices, tried = self.choices[number], trials.setdefault(number, {})
            if choice in tried:
                return BestSpecialization(choices, choice, tried[choice], -bound)
            if choice < 0:
                scans[number] = self._scan(choices)
            else:
                trial = self.partition.attempt(choices.column, choices.part, choices.pieces(choice))
                if self._accepts(choices, choice, trial):
                    tried[choice] = trial
                    score = self._scores(choices, np.array([trial.gain]), np.array([trial.least]), anonymity)
                    heapq.heappush(queue, (-float(score[0]), column, first, choice, number))
                    if choices.tree.neighbors:
                        continue
            leading = self._leading(choices, scans[number], anonymity, tried)
            if leading is not None:
                heapq.heappush(queue, (-leading[0], column, first, leading[1], number))
        return None

    def _queue(self) -> list[tuple[float, int, int, int, int]]:
        """Return the parts that can be split, those first that may have the best score."""
        anonymity = self.partition.anonymity
        queue = []
        for number, choices in enumerate(self.choices):
            least = choices.least if self.partition.limit == 0 else np.full(len(choices.gain), np.inf)
            scores = self._scores(choices, choices.gain, least, anonymity)
            bound = float(scores[choices.open].max(initial=0.0))
            if bound > 0:
                queue.append((-bound, choices.column, choices.part.first, -1, number))
        heapq.heapify(queue)
        return queue

    def _scan(self, choices: SplitChoices) -> SplitScan:
        """Compute the results of the choices of a part, and note those that sizes alone forbid."""
        scan = choices.scan(self.partition)
        allowed = self.partition.allows(scan.bad)
        if self.partition.limit == 0:
            scan = scan._replace(gain=choices.gain)
        choices.least = scan.least
        refused = choices.dead if self.final else choices.waiting
        refused |= ~allowed
        choices.waiting |= allowed & (scan.gain <= choices.tolerance)
        return scan

    def _leading(
        self, choices: SplitChoices, scan: SplitScan, anonymity: float, tried: Collection[int]
    ) -> tuple[float, int] | None:
        """Find the next choice to try: for thresholds the largest gain, otherwise the best score."""
        is_open = choices.open
        is_open[list(tried)] = False
        if not is_open.any():
            return None
        scores = self._scores(choices, scan.gain, scan.least, anonymity)
        order = round_significant(scan.gain) if choices.tree.neighbors else scores
        choice = int(np.argmax(np.where(is_open, order, -np.inf)))
        return float(scores[choice]), choice

    def _accepts(self, choices: SplitChoices, choice: int, trial: CutTrial) -> bool:
        """Accept a trial, or note that it is refused: permanently if nothing that follows can change that."""
        allowed = bool(self.partition.allows(trial.bad))
        if allowed and trial.gain > choices.tolerance:
            return True
        refused = choices.dead if self.final and not allowed else choices.waiting
        refused[choice] = True
        return False

    def _scores(self, choices: SplitChoices, gain: Floats, least: Floats, anonymity: float) -> Floats:
        return round_significant(gain / choices.per / (np.maximum(anonymity - least, 0.0) + 1.0))
