"""The distinct combinations of a table, and how groups of them are published."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.cuts.tree import Cut, Part, Tree
from sfumato.algorithms.good_groups import find_valid_groups
from sfumato.algorithms.publishing import merge_identical_groups
from sfumato.coding.codes import CodedColumn
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.coding.reduction import RecordReduction, reduce_records, sort_by_codes
from sfumato.core.groups import Groups
from sfumato.core.publication import NOT_PUBLISHED, RecodedAttribute, TableSolution
from sfumato.schema.missing import SENSITIVE

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
