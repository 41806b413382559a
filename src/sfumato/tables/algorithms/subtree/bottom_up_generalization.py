"""Bottom-up generalization: from all values unchanged up to what keeps the models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress
from sfumato.core._kernels.grouping import group_columns, group_keys
from sfumato.tables.algorithms.subtree._cut_search import CutSearch, TopDownSearch
from sfumato.tables.algorithms.subtree._gain import Floats, Gain, round_significant
from sfumato.tables.algorithms.subtree._groups import CutGroups, Mask, Rows, TableCombinations
from sfumato.tables.algorithms.subtree._tree import Cut, Ints, Part, Tree
from sfumato.tables.models._conjunction import find_valid_groups, satisfy_all
from sfumato.tables.published.groups import Groups

# The possible joins of published values in one attribute.

MOST_RANGES = 256  # of ordered values at the start
NOWHERE = -1


class Merges(ABC):
    """The joins in one attribute, each with a number.

    Parameters
    ----------
    column : the number of the attribute.
    cut : the parts that are published alike.
    measure : the worth of records.

    Attributes
    ----------
    cost : what every join takes from the worth of the table; infinite for impossible ones.
    targets : for every code, the join of its part; one array, or two if parts take part in two joins.
    """

    cost: Floats
    targets: list[Ints]

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        self.column = column
        self.cut = cut
        self.measure = measure

    @abstractmethod
    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""

    @abstractmethod
    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""


class SiblingMerges(Merges):
    """Join i merges the children of node i, once each of them is published as a whole."""

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        super().__init__(column, cut, measure)
        tree = cut.tree
        nodes = np.arange(len(tree.first))
        children = tree.below[tree.offsets[0] :]
        self._parent = np.full(len(nodes), NOWHERE)
        self._parent[children] = np.repeat(nodes, np.diff(tree.offsets))
        worth = measure.in_ranges(column, tree.first, tree.last)
        below = np.bincount(self._parent[children], worth[children], minlength=len(nodes))
        self._price = np.maximum(below - worth, 0.0)
        inner = children[tree.first[children] < tree.last[children]]
        self._unready = np.bincount(self._parent[inner], minlength=len(nodes))
        self.cost = np.full(len(nodes), np.inf)
        self.targets = [np.full(tree.codes, NOWHERE)]
        for node in nodes[tree.codes :][self._unready[tree.codes :] == 0].tolist():
            self._allow(node)

    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""
        tree = self.cut.tree
        return [tree.whole(child) for child in tree.children(number).tolist()], tree.whole(number)

    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""
        old, joined = self.parts(number)
        self.cut.replace(old, [joined])
        self.cost[number] = np.inf
        self.targets[0][joined.first : joined.last + 1] = NOWHERE
        parent = int(self._parent[number])
        if parent == NOWHERE:
            return []
        self._unready[parent] -= 1
        if self._unready[parent]:
            return []
        self._allow(parent)
        return [parent]

    def _allow(self, node: int) -> None:
        self.cost[node] = self._price[node]
        self.targets[0][self.cut.tree.first[node] : self.cut.tree.last[node] + 1] = node


class NeighborMerges(Merges):
    """Join i merges the range that ends at code i with the next one, or with missing values after the last join."""

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        super().__init__(column, cut, measure)
        self.cost = np.full(cut.tree.codes, np.inf)
        for part in cut.parts:
            self._allow(part.last)
        self._retarget()

    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""
        tree = self.cut.tree
        low, high = (self.cut.parts[self.cut.number[code]] for code in (number, number + 1))
        return [low, high], tree.run(low.first, high.last)

    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""
        old, joined = self.parts(number)
        self.cut.replace(old, [joined])
        self.cost[number] = np.inf
        changed = [end for end in (joined.first - 1, joined.last) if self._allow(end)]
        self._retarget()
        return changed

    def _allow(self, end: int) -> bool:
        """Compute the cost of joining the range that ends at a code, if it has a neighbor."""
        tree, known = self.cut.tree, len(self.cut.tree.domain) - 1
        if not 0 <= end < tree.codes - 1 or (end == known and self.cut.number[0] != self.cut.number[known]):
            return False
        old, joined = self.parts(end)
        low, high, both = self.measure.of(self.column, [*old, joined])
        self.cost[end] = max(low + high - both, 0.0)
        return True

    def _retarget(self) -> None:
        """Pair ranges with their neighbors: the first with the second and so on, then the second with the third."""
        lasts = np.flatnonzero(np.diff(self.cut.number, append=NOWHERE))
        lengths = np.diff(lasts, prepend=-1)
        self.targets = []
        for start in (0, 1):
            left = start + (np.arange(len(lasts)) - start) // 2 * 2
            join = lasts[np.maximum(left, 0)]
            possible = (left >= 0) & np.isfinite(self.cost[join])
            self.targets.append(np.repeat(np.where(possible, join, NOWHERE), lengths))


def possible_merges(column: int, cut: Cut, measure: Gain) -> Merges:
    """Return the joins that are possible in an attribute."""
    return (NeighborMerges if cut.tree.neighbors else SiblingMerges)(column, cut, measure)


def finest_cut(column: int, tree: Tree, measure: Gain) -> Cut:
    """Publish every value unchanged; if there are very many and they have an order, in ranges of about equal counts."""
    known = len(tree.domain)
    if not tree.neighbors or known <= MOST_RANGES:
        return Cut(tree, tree.bottom())
    codes = np.arange(known)
    counts = measure.records_in(column, np.zeros_like(codes), codes)
    share = np.minimum((counts - 1) * MOST_RANGES // max(int(counts[-1]), 1), MOST_RANGES - 1)
    lasts = np.flatnonzero(np.diff(share, append=MOST_RANGES)).tolist()
    ranges = [tree.run(first, last) for first, last in zip([0, *(end + 1 for end in lasts)], lasts, strict=False)]
    return Cut(tree, [*ranges, *([tree.whole(known)] if tree.missing else [])])


# The way up: join values that are published separately, the cheapest first, until the models hold.

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


WAY_UP = 0.8  # of the work, about


@dataclass(frozen=True, kw_only=True)
class BottomUpGeneralization(CutSearch):
    r"""Start from all values unchanged, then generalize the cheapest node repeatedly until every model holds [1]_.

    Every step joins the children of one node, or two neighboring ranges of ordered values without a hierarchy: those
    with the smallest information loss per privacy gained. The information loss is that about the target, in bits, or
    without a target the increase of the measure `loss`. The privacy gained is the number of records that leave groups
    which break a model, or 1 if there are none. (The paper counts how much the smallest group grows, which is 0 for
    nearly all steps of a table with many attributes.) Ordered values start in at most 256 ranges.

    Steps that turn out to be unnecessary are undone in the way `TopDownSpecialization` specializes, so that in the end
    none can be undone. If records may be suppressed, generalization continues as long as it may pay off: among all cuts
    on the way with few enough records in invalid groups, the one with the smallest loss is taken.

    Parameters
    ----------
    target : a column of at most 100 classes that should stay predictable; without one, all information counts.
    scheme : `"subtree"` undoes the generalization of all children of a node together, so that each attribute is
        cut once through its hierarchy. `"sibling"` also undoes that of single children; those that stay are
        published as the set of their values, or as an interval, if that has at most 100 values or is an interval.
    refine : whether to recode repeatedly what is suppressed; the result is a local recoding.

    References
    ----------
    .. [1] Wang, Yu, Chakraborty, "Bottom-up generalization: a data mining solution to privacy protection", ICDM 2004.
       https://doi.org/10.1109/ICDM.2004.10110
    """

    name = "bottom-up-generalization"
    reference = "Wang, Yu, Chakraborty 2004, https://doi.org/10.1109/ICDM.2004.10110"

    def cut(self, combinations: TableCombinations, measure: Gain, progress: Progress) -> CutGroups:
        """Find the cuts."""
        cuts = BottomUpSearch(combinations, measure).run(lambda done, note="": progress(WAY_UP * done, note))
        partition = CutGroups(combinations, measure, cuts)
        descent = TopDownSearch(partition, siblings=self.scheme == "sibling")
        descent.run(lambda done, note="": progress(WAY_UP + (1 - WAY_UP) * done, note))
        return partition
