"""Sets of splits: where the ordered values of every quasi-identifier are cut, and what the groups then cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.bounds import HierarchyBounds
from sfumato.algorithms.cuts.tree import Cut, Part, Tree
from sfumato.algorithms.good_groups import find_valid_groups
from sfumato.coding.codes import CodedColumn
from sfumato.coding.grouping import Grouped, group_columns, representative_rows
from sfumato.coding.reduction import reduce_records, sort_by_codes
from sfumato.core.groups import Groups
from sfumato.schema.missing import SENSITIVE

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


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
