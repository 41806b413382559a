"""The way up: join values that are published separately, the cheapest first, until the models hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.cuts.combinations import Rows, TableCombinations
from sfumato.algorithms.cuts.cut_groups import Mask
from sfumato.algorithms.cuts.joins import finest_cut, possible_merges
from sfumato.algorithms.cuts.tree import Cut, Part
from sfumato.algorithms.cuts.worth import Floats, Gain, round_significant
from sfumato.algorithms.good_groups import find_valid_groups, satisfy_all
from sfumato.coding.grouping import group_columns, group_keys
from sfumato.core.groups import Groups
from sfumato.core.progress import Progress

Marks = npt.NDArray[np.uint64]
NONE = np.zeros(0, dtype=np.intp)
NO_MARKS = np.zeros(0, dtype=np.uint64)


class BottomUpSearch:
    """The way from all values unchanged to cuts that keep every model.

    Every step makes the join with the smallest cost per record that leaves an invalid group; a join that frees none
    counts as if it freed one. Among all allowed cuts on the way, those worth most are remembered.

    Groups are built from their parts. While profits are estimated, they are distinguished by sums of random numbers.
    """

    def __init__(self, combinations: TableCombinations, measure: Gain) -> None:
        self.measure = measure
        self.models = combinations.task.models
        self.limit = combinations.task.max_suppressed
        self.cuts = [finest_cut(column, tree, measure) for column, tree in enumerate(combinations.trees)]
        self.joins = [possible_merges(column, cut, measure) for column, cut in enumerate(self.cuts)]
        self.best: list[list[Part]] = [list(cut.parts) for cut in self.cuts]
        self.best_worth = -1.0
        self._whole = combinations.groups(np.zeros(len(combinations), dtype=np.int32), 1)
        self._by_size = not any(model.sensitive_attributes for model in self.models)
        self._smallest = combinations.task.min_group_size
        self._relative = self.limit > 0 and any(model.compares_with_table for model in self.models)
        rng = np.random.default_rng(0)
        self._marks = [rng.integers(0, 2**64, len(cut.parts), dtype=np.uint64)[cut.number] for cut in self.cuts]
        self._join_marks = [rng.integers(0, 2**64, len(joins.cost), dtype=np.uint64) for joins in self.joins]
        self._offsets = np.append(0, np.cumsum([len(joins.cost) for joins in self.joins]))
        self.ceiling = sum(float(measure.of(column, cut.parts).sum()) for column, cut in enumerate(self.cuts))
        self._start(combinations)

    def run(self, progress: Progress) -> list[Cut]:
        """Join until no record is in an invalid group, or nothing better can follow; return the best cuts found."""
        first, told = self.bad, 0.0
        self._remember()
        while self.bad > 0 and self.ceiling > self.best_worth and (found := self._cheapest()) is not None:
            self._make(*found)
            self._remember()
            told = max(told, 1 - self.bad / first)
            progress(told, f"{self.count:,} groups")
        return [Cut(cut.tree, parts) for cut, parts in zip(self.cuts, self.best, strict=True)]

    def _start(self, combinations: TableCombinations) -> None:
        """Group combinations by the current cuts."""
        columns = [cut.number[codes] for cut, codes in zip(self.cuts, combinations.codes, strict=True)]
        grouped = group_columns(columns, [len(cut.parts) for cut in self.cuts])
        everything = np.arange(len(combinations))
        self.combinations = combinations
        self.group = grouped.labels
        self.count = self._counted = len(grouped)
        self.sizes = np.bincount(self.group, combinations.weights).astype(np.float64)
        self.is_bad = ~self._valid(self.group, self.sizes, everything)
        self.bad = float(self.sizes[self.is_bad].sum())
        self.marks = np.zeros(len(combinations), dtype=np.uint64)
        for codes, marks in zip(combinations.codes, self._marks, strict=True):
            self.marks += marks[codes]
        self.profits = np.zeros(self._offsets[-1])
        self._shares = [np.zeros((len(joins.targets), len(combinations))) for joins in self.joins]
        for column in range(len(self.joins)):
            self._estimate(column, everything)

    def _remember(self) -> None:
        """Remember the cuts if they are allowed and better than the previous ones."""
        is_bad = self.is_bad
        if self.bad > self.limit or self.bad >= self.measure.rows:
            return
        if self._relative:
            is_bad = ~find_valid_groups(self.combinations.groups(self.group, len(self.sizes)), self.models)
            if self.sizes[is_bad].sum() > self.limit or is_bad.all():
                return
        weights = np.where(is_bad[self.group], 0.0, self.combinations.weights)
        worth = 0.0
        for column, (cut, codes) in enumerate(zip(self.cuts, self.combinations.codes, strict=True)):
            per_part = self.measure.per_record(column, cut.parts)
            worth += float(np.bincount(cut.number[codes], weights, minlength=len(per_part)) @ per_part)
        if worth > self.best_worth:
            self.best_worth = worth
            self.best = [list(cut.parts) for cut in self.cuts]

    def _cheapest(self) -> tuple[int, int] | None:
        """Find the join with the smallest cost per record that leaves an invalid group; the first of equal ones."""
        cost = np.concatenate([joins.cost for joins in self.joins])
        if not np.isfinite(cost).any():
            return None
        number = int(np.argmin(round_significant(cost / np.maximum(self.profits, 1.0))))
        column = int(np.searchsorted(self._offsets, number, side="right")) - 1
        return column, number - int(self._offsets[column])

    def _make(self, column: int, number: int) -> None:
        """Join, and estimate again the profits of the joins that this affects.

        The part with the most combinations keeps its mark, and the others take it over. So only sets of groups that
        contain one of the others change.
        """
        joins = self.joins[column]
        old, joined = joins.parts(number)
        movers, many, most = self._fewer_and_most(column, old)
        mark = self._marks[column][old[most].first]
        self.marks[movers] += mark - self._marks[column][self.combinations.codes[column][movers]]
        self._marks[column][joined.first : joined.last + 1] = mark
        self.ceiling -= float(joins.cost[number])
        changed = joins.make(number)
        marks = self.marks[many]
        self._regroup(np.concatenate([movers, many[_share_a_mark(self.marks[movers], marks)]]))
        for other in range(len(self.joins)):
            if other != column:
                self._estimate(other, movers, many, marks)
        self.profits[self._offsets[column] + np.array([number, *changed])] = 0.0
        for each in changed:
            parts, _ = joins.parts(each)
            for role, part in enumerate(parts):
                self._shares[column][role % len(joins.targets), self.combinations.under(column, part)] = 0.0
            few, most_rows, _ = self._fewer_and_most(column, parts)
            self._estimate(column, few, most_rows, self.marks[most_rows], only=each)
        if 4 * self.count < 3 * self._counted:
            self._start(self.combinations.rolled_up(self.group))

    def _fewer_and_most(self, column: int, parts: Sequence[Part]) -> tuple[Rows, Rows, int]:
        """Find the combinations in all parts but the largest, those in the largest, and which it is."""
        rows = [self.combinations.under(column, part) for part in parts]
        most = int(np.argmax([len(each) for each in rows]))
        many = np.sort(rows.pop(most))  # so that lookups go through memory once
        return np.concatenate(rows), many, most

    def _regroup(self, rows: Rows) -> None:
        """Merge the groups of some rows that are now alike."""
        weights = self.combinations.weights[rows]
        numbers = [cut.number[codes[rows]] for cut, codes in zip(self.cuts, self.combinations.codes, strict=True)]
        grouped = group_columns(numbers, [len(cut.parts) for cut in self.cuts])
        touched, united = self.group[rows], np.zeros(len(grouped), dtype=np.int32)
        united[grouped.labels] = touched
        self.bad -= float(weights[self.is_bad[touched]].sum())
        self.count += len(grouped) - len(np.unique(touched))
        self.sizes[touched], self.is_bad[touched] = 0.0, False
        self.group[rows] = united[grouped.labels]
        sizes = np.bincount(grouped.labels, weights).astype(np.float64)
        self.sizes[united], self.is_bad[united] = sizes, ~self._valid(grouped.labels, sizes, rows)
        self.bad += float(self.sizes[united][self.is_bad[united]].sum())

    def _estimate(
        self, column: int, rows: Rows, others: Rows = NONE, other_marks: Marks = NO_MARKS, only: int | None = None
    ) -> None:
        """Update what some rows, and others that may be merged with them, add to the profits of an attribute's joins.

        A join merges groups that are equal except for the attribute. What each row adds is kept, to be subtracted when
        it is updated again; `only` names the one join to update.
        """
        first, last = self._offsets[column : column + 2]
        codes, shares = self.combinations.codes[column], self._shares[column]
        other_codes = codes[others]
        wanted = np.zeros(last - first + 1, dtype=np.bool_)
        wanted[slice(None, -1) if only is None else only] = True
        for targets in self.joins[column].targets:
            marks = self._join_marks[column][targets] - self._marks[column]
            possible = wanted[targets]
            row = rows[possible[codes[rows]]]
            touched = self.marks[row] + marks[codes[row]]
            if len(row) and len(others):
                near = others[_share_a_mark(touched, other_marks + marks[other_codes])]
                row = np.concatenate([row, near[possible[codes[near]]]])
            code = codes[row]
            join = targets[code]
            role = (code > join).astype(np.intp) if len(shares) > 1 else np.zeros(len(row), dtype=np.intp)
            share = self._leaving(row, self.marks[row] + marks[code])
            self.profits[first:last] += np.bincount(join, share - shares[role, row], minlength=last - first)
            shares[role, row] = share

    def _leaving(self, rows: Rows, marks: Marks) -> Floats:
        """Count the records that leave invalid groups when rows with equal marks are merged; negative if they enter."""
        result = np.zeros(len(rows))
        mixed = _may_merge(marks, self.is_bad[self.group[rows]])
        if not len(mixed):
            return result
        row = rows[mixed]
        united = group_keys((marks[mixed] >> np.uint64(1)).astype(np.int64)).labels
        weights = self.combinations.weights[row]
        good = self._valid(united, np.bincount(united, weights).astype(np.float64), row)
        result[mixed] = weights * (self.is_bad[self.group[row]].astype(np.float64) - ~good[united])
        return result

    def _valid(self, labels: npt.NDArray[np.integer], sizes: Floats, rows: Rows) -> Mask:
        """Judge the groups of rows; those too small for any model are not even counted."""
        good: Mask = sizes >= max(self._smallest, 1)
        if self._by_size:
            return good & satisfy_all(Groups(sizes.astype(np.int64)), self.models)
        some = good[labels]
        number = np.cumsum(good) - 1
        groups = self.combinations.groups(number[labels[some]], int(good.sum()), rows[some], self._whole)
        good[good] = satisfy_all(groups, self.models)
        return good


def _may_merge(marks: Marks, is_bad: Mask) -> Rows:
    """Find the rows that share their mark with others, including an invalid one; a few more may be found.

    Groups that are all valid stay valid when they are merged, so nothing else matters.
    """
    bucket, buckets = _buckets(marks, len(marks))
    touched = np.zeros(buckets, dtype=np.bool_)
    touched[bucket[is_bad]] = True
    return np.flatnonzero(touched[bucket] & (np.bincount(bucket, minlength=buckets)[bucket] > 1))


def _share_a_mark(some: Marks, others: Marks) -> Rows:
    """Find those of others whose mark occurs in some; a few more may be found, but then all with that mark."""
    bucket, buckets = _buckets(some, len(some))
    touched = np.zeros(buckets, dtype=np.bool_)
    touched[bucket] = True
    return np.flatnonzero(touched[_buckets(others, len(some))[0]])


def _buckets(marks: Marks, rows: int) -> tuple[Rows, int]:
    """Distribute marks over a few buckets per row."""
    buckets = 1 << (4 * rows + 1).bit_length()
    return (marks & np.uint64(buckets - 1)).astype(np.intp), buckets
