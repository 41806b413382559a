"""k-Optimize: the cheapest set of cuts through ordered values, by set enumeration with pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.encoding._counts import reduce_records, sort_by_codes
from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import InvalidParameterError
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._labels import HierarchyBounds, label_single_group
from sfumato.tables.algorithms.base import Needed, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.subtree._groups import TableCombinations
from sfumato.tables.algorithms.subtree._tree import Cut, Part, Tree
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import NOT_PUBLISHED, OptimalityProof, TableSolution

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# Sets of splits: where the ordered values of every quasi-identifier are cut, and what the groups then cost.


# Sets of splits: where the ordered values of every quasi-identifier are cut, and what the groups then cost.
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SplitLoss:
    """What groups cost: discernibility or, with classes, the number of records that a group's majority gets wrong.

    Parameters
    ----------
    records : the number of records.
    smallest_group : a size below which no group is valid.
    classes : the class of every combination, if it is to be predicted.
    """

    records: int
    smallest_group: int
    classes: CodedColumn | None = None

    @property
    def of_suppressed(self) -> int:
        """The cost of a suppressed record, which no published one exceeds."""
        return self.records if self.classes is None else 1

    def published(self, grouped: Grouped, sizes: Ints, weights: Ints) -> Ints:
        """Return the cost of every group if it is published."""
        if self.classes is None:
            return sizes * sizes
        width = len(self.classes.domain) + 1
        keys = grouped.labels.astype(np.int64) * width + self.classes.codes
        counts = np.bincount(keys, weights, minlength=len(sizes) * width).reshape(-1, width)
        return np.asarray(sizes - counts.max(axis=1).astype(np.int64))

    def least(self, grouped: Grouped, sizes: Ints, weights: Ints) -> Ints:
        """Return the least that the records of every group cost, whichever groups they are merged into."""
        if self.classes is None:
            return sizes * np.clip(sizes, self.smallest_group, self.records)
        return self.published(grouped, sizes, weights)


@dataclass(frozen=True, eq=False)
class SplitGroups:
    """The groups that a set of splits makes.

    Parameters
    ----------
    chosen : which splits are in the set.
    grouped : the group of every combination.
    sizes : the number of records of every group.
    firm : which groups are invalid, as are all their parts, however they are split.
    cost : what publishing the valid groups and suppressing all others costs.
    suppressed : the number of suppressed records.
    """

    chosen: Mask
    grouped: Grouped
    sizes: Ints
    firm: Mask
    cost: int
    suppressed: int

    @property
    def surely_suppressed(self) -> int:
        """How many records all sets with more splits suppress."""
        return int(self.sizes[self.firm].sum())

    @cached_property
    def rows(self) -> npt.NDArray[np.intp]:
        """One combination of every group."""
        return representative_rows(self.grouped)


class SplitTable:
    """A table whose quasi-identifiers can be cut between any two neighboring values that occur.

    Numbers and ranks with a hierarchy are cut at the bounds of its lowest nodes only. Missing values are apart from
    all others as soon as an attribute is cut anywhere. So every split that is added refines the groups.
    """

    def __init__(self, task: TableRequest, target: str | None) -> None:
        guide = () if target is None else (task.table.target_columns[target],)
        columns = [*task.table.quasi, *task.model_columns, *guide]
        reduction = sort_by_codes(reduce_records(columns, task.table.weights), columns)
        seen = [column.take(reduction.cases) for column in columns]
        quasi = len(task.table.quasi)
        self.task = task
        self.weights = reduction.weights
        self.quasi, self.watched = seen[:quasi], seen[quasi : quasi + len(task.model_columns)]
        self.loss = SplitLoss(task.table.rows, task.min_group_size, seen[-1] if guide else None)
        self.limit = min(task.max_suppressed, task.table.rows - 1)
        self.firm_models = [model for model in task.models if model.extendable]
        self.starts = [split_starts(column) for column in task.table.quasi]
        self.column = np.repeat(np.arange(quasi), [len(starts) for starts in self.starts])
        self.checked = 0

    def __len__(self) -> int:
        return len(self.column)

    def chosen_starts(self, chosen: Mask) -> list[Ints]:
        """Return for every quasi-identifier the codes at which new parts start."""
        return [starts[chosen[self.column == number]] for number, starts in enumerate(self.starts)]

    def divide(self, chosen: Mask) -> tuple[Grouped, Ints]:
        """Return the groups of a set of splits, and their sizes."""
        parts, widths = [], []
        for column, starts in zip(self.quasi, self.chosen_starts(chosen), strict=True):
            begins = np.zeros(len(column.domain) + 1, dtype=np.int32)
            begins[starts] = 1
            begins[-1] = len(starts) > 0
            number = np.cumsum(begins, dtype=np.int32)
            parts.append(number[column.codes])
            widths.append(int(number[-1]) + 1)
        grouped = group_columns(parts, widths)
        return grouped, np.bincount(grouped.labels, self.weights, minlength=len(grouped)).astype(np.int64)

    def check(self, chosen: Mask) -> SplitGroups:
        """Form the groups of a set of splits, judge them and add up what they cost."""
        self.checked += 1
        grouped, sizes = self.divide(chosen)
        counted = Groups.from_rows(grouped.labels, len(grouped), self.watched, SENSITIVE, weights=self.weights)
        firm = sizes < self.task.min_group_size
        for model in self.firm_models:
            firm = firm | ~model.satisfied_by(counted)
        kept = find_valid_groups(counted, self.task.models) & ~firm
        suppressed = int(sizes[~kept].sum())
        cost = int(self.loss.published(grouped, sizes, self.weights)[kept].sum()) + suppressed * self.loss.of_suppressed
        return SplitGroups(chosen, grouped, sizes, firm, cost, suppressed)

    def bound(self, head: SplitGroups, finest: Mask) -> int:
        """Bound the cost of all sets that contain those splits and of these further ones only."""
        grouped, sizes = self.divide(finest)
        gone = head.firm[head.grouped.labels[representative_rows(grouped)]]
        least = self.loss.least(grouped, sizes, self.weights)
        return int(least[~gone].sum()) + int(sizes[gone].sum()) * self.loss.of_suppressed


def split_starts(column: CodedColumn) -> Ints:
    """Return the codes at which a part of an attribute can start, apart from the first."""
    domain = column.domain
    present = np.unique(column.codes).astype(np.int64)
    values = present[present < len(domain)]
    bounds = HierarchyBounds.of(domain)
    if bounds is not None and len(values):
        values = np.unique(np.searchsorted(bounds.node, bounds.node[values], side="left"))
    lost = present[len(present) - 1 :] if len(values) and present[-1] == domain.missing else present[:0]
    return np.concatenate([values[1:], lost])


def cut_at(tree: Tree, starts: Sequence[int]) -> Cut:
    """Cut the values of an attribute before some codes."""
    if not len(starts):
        return Cut(tree, [tree.top()])
    values = len(tree.domain)
    first = [0, *(start for start in starts if start < values)]
    last = [start - 1 for start in first[1:]] + [values - 1]
    parts = [_part(tree, *ends) for ends in zip(first, last, strict=True)]
    return Cut(tree, [*parts, *([tree.whole(values)] if tree.missing else [])])


def _part(tree: Tree, first: int, last: int) -> Part:
    """Return the part of a range of codes: a node, where one has just these codes."""
    nodes = np.flatnonzero((tree.first == first) & (tree.last == last))
    return tree.whole(int(nodes[0])) if len(nodes) else tree.run(first, last)


MOST_SPLITS = 100
LOSSES = ("discernibility", "classification")


@dataclass(frozen=True, kw_only=True)
class KOptimize(TableAlgorithm):
    r"""Find where to cut the values of every quasi-identifier so that the release costs least, and prove it [1]_.

    A recoding is a set of splits, each between two neighboring values of one attribute; what lies between two splits is
    published alike, as a node, an interval or a set. Sets are enumerated as a tree: a set is followed by sets with one
    more split, each of which may add the splits that come later. A branch is left out if a bound proves that nothing in
    it costs less than the best set found. The bound counts a record as suppressed if its group here is too small or
    breaks an extendable model, because splitting helps neither, and otherwise as if all remaining splits were made. A
    single split is left out of a branch if all sets there that contain it are too expensive, or if it only cuts off
    records that are then suppressed. So the result is the best of all $2^m$ sets of $m$ splits, under any models.

    Work may still grow exponentially, so at most 100 splits are accepted and at most `most_checked` sets are checked;
    if this does not suffice, the best one found is published with a lower bound for all others.

    Parameters
    ----------
    loss : what to minimize: `"discernibility"`, where a suppressed record counts as the whole table, or
        `"classification"`, the share of records that are suppressed or not in the most frequent class of their group.
    target : for classification, the column to predict.
    most_checked : after how many sets the search ends.

    References
    ----------
    .. [1] Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.42
    """

    name = "k-optimize"
    reference = "Bayardo, Agrawal 2005, https://doi.org/10.1109/ICDE.2005.42"
    needs_monotone: ClassVar[Needed] = "matches-all"

    loss: Literal["discernibility", "classification"] = "discernibility"
    target: str | None = None
    most_checked: int = 20_000

    def __post_init__(self) -> None:
        known = self.loss in tuple(LOSSES)  # of any type, even one that no mapping takes
        require(known, self, "loss", f"one of {', '.join(LOSSES)}", self.loss)
        if (self.loss == "classification") != (self.target is not None):
            wanted = "takes no target" if self.target is not None else "needs a target, the column to predict"
            raise InvalidParameterError(f"KOptimize: the loss {self.loss!r} {wanted}.")
        good = is_integer(self.most_checked) and self.most_checked >= 1
        require(good, self, "most_checked", "a whole number of at least 1", self.most_checked)

    @property
    def supports_weights(self) -> bool:
        """Equal records may come as one case: all is decided on counts."""
        return True

    @property
    def ignores_row_order(self) -> bool:
        """Rows in another order are published alike: all is decided on counts."""
        return True

    @property
    def target_columns(self) -> tuple[str, ...]:
        """The column to predict, if any."""
        return () if self.target is None else (self.target,)

    def check(self, task: TableRequest) -> str | None:
        """Refuse a table that can be cut in too many places."""
        splits = sum(len(split_starts(column)) for column in task.table.quasi)
        if splits > MOST_SPLITS:
            return (
                f"KOptimize accepts at most {MOST_SPLITS} places to cut, but the quasi-identifiers have {splits:,}; "
                "give hierarchies with wider lowest intervals, or use Optimal or Mondrian."
            )
        return super().check(task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        if not task.table.quasi:
            return label_single_group(task)
        table = SplitTable(task, self.target)
        enumeration = SetEnumeration(table, self.most_checked)
        enumeration.run()
        task.progress(1.0)
        if enumeration.best is None:
            return TableSolution(np.full(task.table.n_weighted_records, NOT_PUBLISHED, dtype=np.int32), {})
        scale = 1 if table.loss.classes is None else task.table.rows
        found, bound = enumeration.best.cost / scale, enumeration.bound / scale
        checked, sets = table.checked, 2 ** len(table)
        proof = OptimalityProof(self.loss, found, bound, checked, sets, compared_with=task.reference_table)
        return replace(_published(table, enumeration.best), proof=proof)


class SetEnumeration:
    """A walk through the tree of sets of splits, depth first.

    Parameters
    ----------
    table : the table that is split.
    most_checked : after how many sets the walk ends.
    """

    def __init__(self, table: SplitTable, most_checked: int) -> None:
        self.table = table
        self.most_checked = most_checked
        self.best: SplitGroups | None = None
        self.bound = 0

    def run(self) -> None:
        """Walk through the tree, and find the best set and a bound for all sets."""
        table, progress = self.table, self.table.task.progress
        nothing, everything = np.zeros(len(table), dtype=np.bool_), np.ones(len(table), dtype=np.bool_)
        root = table.check(nothing)
        self._offer(root)
        branches = [(table.bound(root, everything), root, list(range(len(table))))]
        while branches and table.checked < self.most_checked:
            bound, head, tail = branches.pop()
            if bound < self._least:
                branches += reversed(self._follow(head, tail))
            progress(min(1.0, table.checked / self.most_checked), f"{table.checked:,} sets checked")
        open_bounds = [bound for bound, _, _ in branches]
        self.bound = int(min([self._least, *open_bounds])) if self.best is not None else 0

    @property
    def _least(self) -> float:
        return np.inf if self.best is None else self.best.cost

    def _offer(self, found: SplitGroups) -> None:
        if found.suppressed <= self.table.limit and found.cost < self._least:
            self.best = found

    def _follow(self, head: SplitGroups, tail: Sequence[int]) -> list[tuple[int, SplitGroups, list[int]]]:
        """Return the branches that follow a set, the most promising first: bound, set and splits to add."""
        table = self.table
        trials = {}
        for split in tail:
            trial = table.check(_with(head, [split]))
            self._offer(trial)
            if trial.surely_suppressed <= table.limit and not self._is_useless(head, trial):
                trials[split] = trial
        while True:
            finest = _with(head, list(trials))
            left = {split: trial for split, trial in trials.items() if table.bound(trial, finest) < self._least}
            if len(left) == len(trials):
                break
            trials = left
        order = sorted(trials, key=lambda split: (trials[split].cost, split))
        branches = []
        for place, split in enumerate(order):
            rest = order[place + 1 :]
            bound = table.bound(trials[split], _with(trials[split], rest))
            if rest and bound < self._least:
                branches.append((bound, trials[split], rest))
        return branches

    def _is_useless(self, head: SplitGroups, trial: SplitGroups) -> bool:
        """Whether no set below that has this split costs less than without it.

        So it is if the split cuts no group that could be published; or if models are extendable and it cuts off only
        records that are then suppressed. These can join what is left of their group: one that is at most half of
        the table costs less with them than without them.
        """
        table = self.table
        above = head.grouped.labels[trial.rows]
        pieces = np.bincount(above, minlength=len(head.sizes))
        alive = np.bincount(above, ~trial.firm, minlength=len(head.sizes))
        cut = (pieces > 1) & ~head.firm
        if not cut.any():
            return True
        if len(table.firm_models) < len(table.task.models) or (alive[cut] > 1).any():
            return False
        return table.loss.classes is not None or bool((2 * head.sizes[cut] <= table.loss.records).all())


def _with(head: SplitGroups, splits: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    chosen = head.chosen.copy()
    chosen[list(splits)] = True
    return chosen


def _published(table: SplitTable, found: SplitGroups) -> TableSolution:
    combinations, reduction = TableCombinations.of(table.task)
    starts = table.chosen_starts(found.chosen)
    cuts = [cut_at(tree, each.tolist()) for tree, each in zip(combinations.trees, starts, strict=True)]
    columns = [cut.number[codes] for cut, codes in zip(cuts, combinations.codes, strict=True)]
    grouped = group_columns(columns, [len(cut.parts) for cut in cuts])
    return combinations.publish(cuts, grouped.labels, reduction)
