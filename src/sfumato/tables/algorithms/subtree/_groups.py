"""The groups that cuts make of a table, updated only where a cut changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding._counts import RecordReduction, reduce_records, sort_by_codes
from sfumato.encoding.coded_table import CodedColumn
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.subtree._gain import Floats, Gain
from sfumato.tables.algorithms.subtree._tree import Cut, Ints, Part, Tree
from sfumato.tables.models._conjunction import find_valid_groups, satisfy_all
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import NOT_PUBLISHED, RecodedAttribute, TableSolution

# The distinct combinations of a table, and how groups of them are published.

Rows = npt.NDArray[np.intp]
Group = npt.NDArray[np.int32]
Codes = Sequence[npt.NDArray[np.unsignedinteger]]
Weights = npt.NDArray[np.float64]


class TableCombinations:
    """The distinct combinations of codes in a table, in an order that is independent of its rows.

    Parameters
    ----------
    task : the table.
    trees : the tree above the codes of every quasi-identifier.
    codes : the quasi-identifiers of every combination.
    watched : the sensitive attributes that models read.
    weights : the number of records of every combination.
    """

    def __init__(
        self, task: TableRequest, trees: Sequence[Tree], codes: Codes, watched: Codes, weights: Weights
    ) -> None:
        domains = [column.domain for column in task.model_columns]
        self.task = task
        self.trees = trees
        self.codes = codes
        self.watched = [CodedColumn(domain, each) for domain, each in zip(domains, watched, strict=True)]
        self.weights = weights
        self._by_code = [np.argsort(column, kind="stable") for column in codes]
        self._starts = [
            np.searchsorted(column[order], np.arange(tree.codes + 1))
            for column, order, tree in zip(codes, self._by_code, trees, strict=True)
        ]

    @classmethod
    def of(cls, task: TableRequest) -> tuple[TableCombinations, RecordReduction]:
        """Find the combinations of a table, and the combination of every case."""
        columns = [*task.table.quasi, *task.model_columns]
        reduction = sort_by_codes(reduce_records(columns, task.table.weights), columns)
        codes = [column.codes[reduction.cases] for column in columns]
        trees = [
            Tree.of(column.domain, missing=bool((column.codes == column.domain.missing).any()))
            for column in task.table.quasi
        ]
        weights = reduction.weights.astype(np.float64)
        return cls(task, trees, codes[: len(trees)], codes[len(trees) :], weights), reduction

    def rolled_up(self, group: Group) -> TableCombinations:
        """Keep one combination of every group, and of every sensitive value in it."""
        columns = [group, *(column.codes for column in self.watched)]
        widths = [int(group.max()) + 1, *(len(column.domain) + 1 for column in self.watched)]
        grouped = group_columns(columns, widths)
        rows = np.sort(representative_rows(grouped))
        weights = np.bincount(grouped.labels, self.weights).astype(np.float64)[grouped.labels[rows]]
        codes, watched = [column[rows] for column in self.codes], [column.codes[rows] for column in self.watched]
        return TableCombinations(self.task, self.trees, codes, watched, weights)

    def __len__(self) -> int:
        return len(self.weights)

    def under(self, column: int, part: Part) -> Rows:
        """Find the combinations whose code is in a part."""
        starts, by_code = self._starts[column], self._by_code[column]
        return np.concatenate([by_code[starts[first] : starts[last + 1]] for first, last in part.runs])

    def groups(
        self, labels: npt.NDArray[np.integer], count: int, rows: Rows | None = None, totals: Groups | None = None
    ) -> Groups:
        """Count records and sensitive values per group, of all combinations or of some."""
        chosen = slice(None) if rows is None else rows
        return Groups.from_rows(
            labels,
            count,
            [column.take(chosen) for column in self.watched],
            SENSITIVE,
            weights=self.weights[chosen],  # type: ignore[arg-type]  # whole numbers, which NumPy adds fastest as floats
            totals=None if totals is None else totals.totals,
        )

    def publish(self, cuts: Sequence[Cut], group: Group, reduction: RecordReduction) -> TableSolution:
        """Publish the groups that keep every model, with the labels of their parts, of all cases that were reduced."""
        kept = find_valid_groups(self.groups(group, int(group.max()) + 1), self.task.models)
        some = np.zeros(len(kept), dtype=np.intp)
        some[group] = np.arange(len(group))
        names = [column.name for column in self.task.table.quasi]
        by_value = {name: cut.by_value() for name, cut in zip(names, cuts, strict=True)}
        recoded = {}
        for name, codes in zip(names, self.codes, strict=True):
            shown, by_group = np.unique(by_value[name].by_group[codes[some[kept]]], return_inverse=True)
            labels = list(by_value[name].labels)
            recoded[name] = RecodedAttribute([labels[number] for number in shown], by_group.astype(np.int32))
        if not kept.any():
            nobody = np.full(self.task.table.n_weighted_records, NOT_PUBLISHED, dtype=np.int32)
            return TableSolution(group=nobody, recoded=recoded, by_value=by_value)
        number = (np.cumsum(kept) - 1).astype(np.int32)[group]
        united = merge_identical_groups(np.maximum(number, 0), recoded)
        shown = np.where(kept[group], united.group, NOT_PUBLISHED).astype(np.int32)
        return TableSolution(group=reduction.expand(shown), recoded=united.recoded, by_value=by_value)


Mask = npt.NDArray[np.bool_]


class GroupPieces(NamedTuple):
    """Pieces of groups: the group and the number of each, ascending, its records, and the piece of every row."""

    group: Ints
    number: Ints
    sizes: Floats
    of_row: Group

    @property
    def leads(self) -> Mask:
        """Which pieces are the first of their group."""
        return np.diff(self.group, prepend=-1) > 0


class CutTrial(NamedTuple):
    """The result of a change.

    `group` is the new group of the combinations in `rows`; `numbers`, `sizes`, `worth` and `kept` describe these
    groups. `all_kept` judges all groups, if the change affects them all. `bad` counts the records in invalid groups,
    `gain` is what the change adds to the worth of the table, `least` the smallest valid group that it makes.
    """

    rows: Rows
    group: Group
    numbers: Ints
    sizes: Floats
    worth: Floats
    kept: Mask
    all_kept: Mask | None
    bad: float
    gain: float
    least: float


class CutGroups:
    """Groups of combinations: their sizes, which are valid, and the worth of a record in each.

    Parameters
    ----------
    combinations : the combinations in groups.
    measure : the worth of records.
    cuts : the parts that are published alike.
    """

    def __init__(self, combinations: TableCombinations, measure: Gain, cuts: Sequence[Cut]) -> None:
        self.combinations = combinations
        self.measure = measure
        self.cuts = cuts
        self.models = combinations.task.models
        self.limit = combinations.task.max_suppressed
        self.by_size = not any(model.sensitive_attributes for model in self.models)
        self._jointly = self.limit > 0 and any(model.compares_with_table for model in self.models)
        self._smallest = combinations.task.min_group_size
        self._whole = combinations.groups(np.zeros(len(combinations), dtype=np.int32), 1)
        columns = [cut.number[codes] for cut, codes in zip(cuts, combinations.codes, strict=True)]
        grouped = group_columns(columns, [len(cut.parts) for cut in cuts])
        self.group = grouped.labels
        self.sizes = np.bincount(self.group, combinations.weights).astype(np.float64)
        self.kept = find_valid_groups(combinations.groups(self.group, len(grouped)), self.models)
        self.worth = np.zeros(len(grouped))
        for column, (cut, numbers) in enumerate(zip(cuts, columns, strict=True)):
            per_group = np.zeros(len(grouped))
            per_group[self.group] = measure.per_record(column, cut.parts)[numbers]
            self.worth += per_group

    @property
    def anonymity(self) -> float:
        """The size of the smallest valid group; 0 if there is none."""
        return float(self.sizes[self.kept].min()) if self.kept.any() else 0.0

    @property
    def invalid(self) -> float:
        """The number of records in invalid groups."""
        return float(self.sizes[~self.kept].sum())

    def allows(self, bad: Floats | float) -> Mask:
        """Return whether this many records in invalid groups may be suppressed."""
        return np.less_equal(bad, self.limit)

    def may_be_valid(self, sizes: Floats) -> Mask:
        """Return which groups of some sizes can be valid; exactly, if models look only at sizes."""
        by_size = [model for model in self.models if not model.sensitive_attributes]
        return np.asarray((sizes >= max(self._smallest, 1)) & satisfy_all(Groups(sizes.astype(np.int64)), by_size))

    def count(self, rows: Rows, place: npt.NDArray[np.integer], width: int) -> GroupPieces:
        """Count the pieces that groups fall into when each of some rows has a number below `width`."""
        grouped = group_columns([self.group[rows], place], [len(self.sizes), width])
        keys, labels = grouped.keys, grouped.labels
        if (keys[1:] < keys[:-1]).any():
            order = np.argsort(keys)
            rank = np.empty(len(order), dtype=np.int32)
            rank[order] = np.arange(len(order), dtype=np.int32)
            keys, labels = keys[order], rank[labels]
        sizes = np.bincount(labels, self.combinations.weights[rows], minlength=len(keys)).astype(np.float64)
        return GroupPieces(*np.divmod(keys, width), sizes, labels)

    def attempt(self, column: int, part: Part, pieces: Sequence[Part]) -> CutTrial:
        """Compute the result of splitting a part."""
        rows = self.combinations.under(column, part)
        place = _piece_of(self.combinations.codes[column][rows], pieces)
        counted = self.count(rows, place, len(pieces))
        leads, old, sizes = counted.leads, counted.group, counted.sizes
        numbers = np.where(leads, old, len(self.sizes) + np.cumsum(~leads) - 1)
        before, *after = self.measure.per_record(column, [part, *pieces])
        worth = self.worth[old] - before + np.array(after)[counted.number]
        group = numbers[counted.of_row].astype(np.int32)
        if self._jointly:
            return self._evaluate_jointly(rows, group, numbers, sizes, worth)
        groups = self.combinations.groups(counted.of_row, len(sizes), rows, self._whole)
        kept = satisfy_all(groups, self.models)
        bad_before, worth_before = self.standing(old[leads])
        bad = self.invalid - bad_before + sizes[~kept].sum()
        gain = (sizes * worth)[kept].sum() - worth_before
        least = sizes[kept].min(initial=np.inf)
        return CutTrial(rows, group, numbers, sizes, worth, kept, None, float(bad), float(gain), float(least))

    def standing(self, groups: Ints) -> tuple[float, float]:
        """Return how many records of some groups are in invalid ones, and the worth of those in valid ones."""
        sizes, kept = self.sizes[groups], self.kept[groups]
        return float(sizes[~kept].sum()), float((sizes * self.worth[groups])[kept].sum())

    def adopt(self, trial: CutTrial) -> None:
        """Apply a change that was tried."""
        more = int(trial.numbers.max(initial=-1)) + 1 - len(self.sizes)
        if more > 0:
            self.sizes, self.worth = (np.append(each, np.zeros(more)) for each in (self.sizes, self.worth))
            self.kept = np.append(self.kept, np.zeros(more, dtype=np.bool_))
        self.group[trial.rows] = trial.group
        self.sizes[trial.numbers], self.worth[trial.numbers] = trial.sizes, trial.worth
        if trial.all_kept is None:
            self.kept[trial.numbers] = trial.kept
        else:
            self.kept = trial.all_kept

    def _evaluate_jointly(self, rows: Rows, group: Group, numbers: Ints, sizes: Floats, worth: Floats) -> CutTrial:
        """Judge all groups, because suppression changes the table that groups are compared with."""
        everything = self.group.copy()
        everything[rows] = group
        count = max(len(self.sizes), int(numbers.max(initial=-1)) + 1)
        all_sizes, all_worth = (np.append(each, np.zeros(count - len(each))) for each in (self.sizes, self.worth))
        all_sizes[numbers], all_worth[numbers] = sizes, worth
        kept = find_valid_groups(self.combinations.groups(everything, count), self.models)
        gain = (all_sizes * all_worth)[kept].sum() - (self.sizes * self.worth)[self.kept].sum()
        bad, least = all_sizes[~kept].sum(), all_sizes[kept].min(initial=np.inf)
        return CutTrial(rows, group, numbers, sizes, worth, kept[numbers], kept, float(bad), float(gain), float(least))


def _piece_of(codes: npt.NDArray[np.integer], pieces: Sequence[Part]) -> Ints:
    """Find the piece of every code."""
    runs = sorted((first, number) for number, piece in enumerate(pieces) for first, _ in piece.runs)
    firsts, numbers = np.array(runs, dtype=np.int64).T
    found: Ints = numbers[np.searchsorted(firsts, codes, side="right") - 1]
    return found
