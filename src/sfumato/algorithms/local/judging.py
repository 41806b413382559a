"""Judge many groups at once while rows are regrouped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.coding.regrouping.rows import Ints
from sfumato.core.groups import Groups
from sfumato.schema.missing import SENSITIVE

Flags = npt.NDArray[np.bool_]


class GroupEvaluator:
    """Decide which groups of rows keep all models of a task.

    `least` is a size below which no group is valid; `size_suffices` says that all groups of that size are valid.
    """

    def __init__(self, task: TableRequest) -> None:
        self._models = task.models
        self._watched, self._totals = task.model_columns, task.as_one_group().totals
        self._marks = np.random.default_rng(0).integers(0, 2**64, task.table.rows, dtype=np.uint64)
        self._refused: set[int] = set()
        self.least = task.min_group_size
        smallest = Groups(np.array([self.least]))
        self.size_suffices = all(
            not model.sensitive_attributes and model.extendable and model.satisfied_by(smallest)[0]
            for model in task.models
        )

    def valid(self, rows: Ints, group: Ints, groups: int) -> Flags:
        """Return for groups of some rows whether they keep all models."""
        if not self._watched:
            return self._evaluate(Groups(np.bincount(group, minlength=groups)))
        watched = [column.take(rows) for column in self._watched]
        return self._evaluate(Groups.from_rows(group, groups, watched, SENSITIVE, totals=self._totals))

    def valid_finally(self, rows: Ints, group: Ints, groups: int) -> Flags:
        """Return for groups of some rows whether they keep all models; a group refused before is not judged again.

        A group is remembered by the sum of its rows' random marks.
        """
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups))
        sums = np.add.reduceat(self._marks[rows[order]], starts).tolist()
        fresh = np.array([mark not in self._refused for mark in sums])
        number, judged = np.cumsum(fresh) - 1, fresh[group]
        good = np.zeros(groups, dtype=np.bool_)
        if fresh.any():
            good[fresh] = self.valid(rows[judged], number[group[judged]], int(fresh.sum()))
            self._refused.update(mark for mark, kept in zip(sums, good.tolist(), strict=True) if not kept)
        return good

    def _evaluate(self, groups: Groups) -> Flags:
        return np.asarray((groups.sizes >= self.least) & satisfy_all(groups, self._models))
