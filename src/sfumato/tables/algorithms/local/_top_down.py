"""Cuts that cost least, of any cuts that are proposed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.encoding._counts import RecordReduction, reduce_records
from sfumato.encoding.coded_table import CodedColumn
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._segments.cuts import (
    NO_CUT,
    Cuts,
    CuttingRule,
    Ints,
    Ranges,
    Records,
    choose_cutter,
    find_allowed_cuts,
    make_axes,
    measure_widths,
)
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local._ncp import Floats, choose_penalty
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.published.groups import Groups

Flags: TypeAlias = npt.NDArray[np.bool_]


# Segments of records that are cut in two, depth by depth, until they are leaves.


# Segments of records that are cut in two, depth by depth, until they are leaves.
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


# Cuts at medians, widest attribute first, as Mondrian makes them.


class MedianPartitioning(TopDownPartitioning):
    """The way down to leaves that no cut at a median can part so that both halves keep all models."""

    def __init__(self, task: TableRequest, *, strict: bool) -> None:
        super().__init__(task, equal_together=strict)
        self.rule = CuttingRule(self.smallest, relaxed=not strict)
        self._leaf_ranges: list[Ranges] = []

    def run(self) -> None:
        """Cut all segments of one depth together, depth by depth, until none is left."""
        while self.records.segments:
            ranges = self.cutter.ranges(self.records, self.axes)
            propose = partial(self.cutter.propose, self.records, self.axes, self.rule, ranges)
            cuts = find_allowed_cuts(propose, self.records.segments, self._rejected)
            done, cut = np.flatnonzero(cuts.axis == NO_CUT), np.flatnonzero(cuts.axis != NO_CUT)
            self.finish(done)
            self._leaf_ranges.append(ranges.select(done))
            left = self.cutter.sides(self.records, cut, cuts.select(cut))
            self.records = self.cutter.split(self.records, cut, left)

    def groups(self) -> npt.NDArray[np.int32]:
        """Return the leaf of every case of the table."""
        return self.reduction.expand(self.leaf_of)

    def ranges(self) -> Ranges:
        """Return the ranges of all leaves."""
        return Ranges(
            np.concatenate([ranges.low for ranges in self._leaf_ranges]),
            np.concatenate([ranges.high for ranges in self._leaf_ranges]),
            np.concatenate([ranges.missing for ranges in self._leaf_ranges]),
        )

    def _rejected(self, segments: Ints, cuts: Cuts) -> Ints:
        """Find the segments whose proposed halves break a model."""
        proposed = np.flatnonzero(cuts.axis != NO_CUT)
        named = segments[proposed]
        halves = self._halves(named, cuts.select(proposed))
        kept = satisfy_all(halves, self.task.models)
        return named[~(kept[0::2] & kept[1::2])]

    def _halves(self, segments: Ints, cuts: Cuts) -> Groups:
        """Count the left and right halves of some segments, in turn."""
        if not self.whole.histograms:
            return Groups(np.column_stack([cuts.left, cuts.total - cuts.left]).ravel())
        rows, place = self.records.list_rows(segments)
        half = 2 * place + ~self.cutter.sides(self.records, segments, cuts)
        return self.counted(rows, half, 2 * len(segments))


@dataclass(frozen=True, eq=False)
class ProposedCuts:
    """One way to cut each of some segments: its cost (infinite if impossible), and which of their records go left.

    `middle`, which all or no proposals have, says which records go left if the same order is cut in half instead.
    """

    cost: Floats
    left: Flags
    middle: Flags | None = None


class CheapestPartitioning(TopDownPartitioning, ABC):
    """The way down by the cheapest of the proposed cuts whose sides keep all models."""

    def __init__(self, task: TableRequest) -> None:
        super().__init__(task, equal_together=False)
        self.penalties = [choose_penalty(column.domain) for column in task.table.quasi]

    @abstractmethod
    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[ProposedCuts]:
        """Propose cuts of the named segments, whose ranges are given."""

    def run(self, start: npt.NDArray[np.integer] | None = None) -> None:
        """Cut until no segment is left; start with given parts, or with missing values separated from others."""
        self._start_with(self._missing_parted() if start is None else start)
        with ThreadPoolExecutor(count_workers()) as pool:
            while self.records.segments:
                sizes, ranges = np.diff(self.records.offsets), self.cutter.ranges(self.records, self.axes)
                wide = (ranges.high > ranges.low) | (ranges.missing & (ranges.high >= ranges.low))
                named = np.flatnonzero(wide.any(axis=1) & (sizes >= 2 * self.smallest))
                mine = Ranges(ranges.low[named], ranges.high[named], ranges.missing[named])
                cut, left = self._valid(self.propose(named, mine, pool) if len(named) else [], named)
                done = np.setdiff1d(np.arange(len(sizes)), cut)
                self.finish(done)
                self.records = self.cutter.split(self.records, cut, left)

    def widest(self, ranges: Ranges) -> tuple[Ints, Floats]:
        """Rank the axes of some segments, widest first, and return the widths in that order."""
        count = len(self.axes)
        both = measure_widths(ranges, self.axes)
        width = np.maximum(both[:, :count], both[:, count:])
        ranking = np.argsort(-width, axis=1, kind="stable")
        return ranking, np.take_along_axis(width, ranking, axis=1)

    def satisfied(self, rows: Ints, group: Ints, groups: int) -> Flags:
        """Return which groups of some records keep all models."""
        return satisfy_all(self.counted(rows, group, groups), self.task.models)

    def _valid(self, found: list[ProposedCuts], named: Ints) -> tuple[Ints, Flags]:
        """Choose for every segment the first valid cut: cheapest first, then in the middle of the same orders.

        Returns the segments that can be cut, and for each of their records whether it goes left.
        """
        rows, owner = self.records.list_rows(named)
        left, good = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(named), dtype=np.bool_)
        costs = np.array([proposal.cost for proposal in found]).reshape(len(found), len(named))
        ranking = np.argsort(costs, axis=0, kind="stable")
        middles = [proposal.middle for proposal in found if proposal.middle is not None]
        for flags in ([proposal.left for proposal in found], middles):
            for proposed in ranking if flags else ():
                pending = np.flatnonzero(~good & np.isfinite(costs[proposed, np.arange(len(named))]))
                if not len(pending):
                    continue
                waiting = np.zeros(len(named), dtype=np.bool_)
                waiting[pending] = True
                mine = np.flatnonzero(waiting[owner])
                for p, each in enumerate(flags):
                    here = mine[proposed[owner[mine]] == p]
                    left[here] = each[here]
                sides = 2 * np.searchsorted(pending, owner[mine]) + ~left[mine]
                kept = self.satisfied(rows[mine], sides, 2 * len(pending))
                good[pending] = kept[0::2] & kept[1::2]
        return named[good], left[good[owner]]

    def _start_with(self, part: npt.NDArray[np.integer]) -> None:
        """Turn the given parts of the table into segments."""
        order = np.argsort(part, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(part))])
        before = self.records
        self.records = Records(
            before.codes[:, order], before.extra[:, order], before.weight[order], before.origin[order], offsets
        )

    def _missing_parted(self) -> Ints:
        """Separate missing from other values, attribute by attribute, wherever both sides keep all models.

        A group that mixes them is published as suppressed, which costs more than any cut can save.
        """
        rows = np.arange(self.task.table.rows)
        part, parts = np.zeros(len(rows), dtype=np.int64), 1
        lost = [column.codes == column.domain.missing for column in self.task.table.quasi]
        for mine in sorted(lost, key=np.count_nonzero, reverse=True):
            if not self.smallest <= np.count_nonzero(mine) <= len(rows) - self.smallest or not mine.any():
                continue
            side = 2 * part + mine
            sizes = np.bincount(side, minlength=2 * parts).reshape(parts, 2)
            kept = self.satisfied(rows, side, 2 * parts).reshape(parts, 2)
            good: Flags = np.logical_and.reduce(kept & (sizes >= max(self.smallest, 1)), axis=1)
            fresh = parts + np.cumsum(good) - 1
            part = np.where(mine & good[part], fresh[part], part)
            parts += int(good.sum())
        return part
