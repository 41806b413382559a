"""Cuts at medians, widest attribute first, as Mondrian makes them."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.algorithms.local.segment_cutting import TopDownPartitioning
from sfumato.coding.cutting.partition import NO_CUT, Cuts, CuttingRule, Ints, Ranges, find_allowed_cuts
from sfumato.core.groups import Groups


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
