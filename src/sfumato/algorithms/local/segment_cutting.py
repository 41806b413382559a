"""Segments of records that are cut in two, depth by depth, until they are leaves."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.coding.codes import CodedColumn
from sfumato.coding.cutting.axes import make_axes
from sfumato.coding.cutting.partition import Ints, Records, choose_cutter
from sfumato.coding.reduction import RecordReduction, reduce_records
from sfumato.core.groups import Groups
from sfumato.schema.missing import SENSITIVE

Flags: TypeAlias = npt.NDArray[np.bool_]
WORTHWHILE = 0.5  # of the cases may be distinct for a reduction to pay off


class TopDownPartitioning:
    """All records of a table, in one segment at first; what cuts segments is added by kinds of it.

    Parameters
    ----------
    task : the table and its models.
    equal_together : whether records with equal values stay together.
    """

    def __init__(self, task: TableRequest, *, equal_together: bool) -> None:
        self.task = task
        self.smallest = task.min_group_size
        self.axes = make_axes([column.domain for column in task.table.quasi])
        self.whole = task.as_one_group()
        self.reduction = _merge_equal_cases(task, equal_together=equal_together)
        quasi, watched = (
            [column.codes[self.reduction.cases] for column in columns]
            for columns in (task.table.quasi, task.model_columns)
        )
        self.records = Records.from_columns(quasi, watched, self.reduction.weights)
        self.cutter = choose_cutter(len(self.records.weight), one_of_many=task.totals is not None)
        self.leaf_of = np.empty(len(self.records.weight), dtype=np.int32)
        self.leaves = 0
        self._finished = 0

    def counted(self, rows: Ints, group: npt.NDArray[np.integer], groups: int) -> Groups:
        """Count groups of some records."""
        watched = [
            CodedColumn(domain, codes[rows])
            for domain, codes in zip(self.whole.domains.values(), self.records.extra, strict=True)
        ]
        single = self.reduction.combination_of is None and self.task.table.weights is None
        weights = None if single else self.records.weight[rows]
        return Groups.from_rows(group, groups, watched, SENSITIVE, weights=weights, totals=self.whole.totals)

    def finish(self, segments: Ints) -> None:
        """Make leaves of segments that nothing cuts again, and tell how many records are in leaves."""
        self.cutter.number(self.records, segments, self.leaves, self.leaf_of)
        self.leaves += len(segments)
        self._finished += int(np.diff(self.records.offsets)[segments].sum())
        self.task.progress(self._finished / len(self.leaf_of))


def _merge_equal_cases(task: TableRequest, *, equal_together: bool) -> RecordReduction:
    """Unite equal cases if they may stay together and it pays off."""
    table = task.table
    if not equal_together:
        return RecordReduction.identity(table.n_weighted_records, table.weights)
    return reduce_records([*table.quasi, *task.model_columns], table.weights, worthwhile=WORTHWHILE)
