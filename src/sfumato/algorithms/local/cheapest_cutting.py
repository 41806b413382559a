"""Cuts that cost least, of any cuts that are proposed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.algorithms.local.ncp_penalties import Floats, choose_penalty
from sfumato.algorithms.local.segment_cutting import Flags, TopDownPartitioning
from sfumato.coding.cutting.partition import Ints, Ranges, Records, measure_widths
from sfumato.threads import count_workers


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
