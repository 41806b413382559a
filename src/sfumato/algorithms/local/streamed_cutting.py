"""Cuts at medians of a table that is only counted: Mondrian's first cuts, while rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.coding.cutting import counted_cuts
from sfumato.coding.cutting.axes import make_axes
from sfumato.coding.cutting.batches import SegmentCounts
from sfumato.coding.cutting.cut_tree import CutTree
from sfumato.coding.cutting.partition import NO_CUT, Cuts, CuttingRule, Ints, Ranges, find_allowed_cuts
from sfumato.core.groups import Groups, Histogram
from sfumato.exceptions import InfeasibleError

CountPass: TypeAlias = Callable[[CutTree, Ints], SegmentCounts]
MOST_CELLS = 1 << 22  # of counts in one pass, 32 MB: where axes have very many codes, fewer segments are cut together


class StreamedCutting:
    """The way down to segments that are small enough, or that Mondrian would not cut.

    A segment that is cut takes one pass, in which the smaller half is counted: the rest is the other half. Where models
    read sensitive values, the halves of a cut are counted before they are judged, which takes another pass if any
    cut is refused.

    Parameters
    ----------
    task : what is known of the table without its rows: its domains, and the models; and its totals, if it is a segment
        itself.
    count : counts some leaves of a tree in one pass.
    most_rows : segments with more records are cut.
    most_depth : the largest number of cuts above a segment.
    """

    def __init__(self, task: TableRequest, count: CountPass, most_rows: int, most_depth: int) -> None:
        self.task, self.count, self.most_rows, self.most_depth = task, count, most_rows, most_depth
        self.rule = CuttingRule(task.min_group_size, relaxed=False)
        self.axes = make_axes([column.domain for column in task.table.quasi])
        self.tree = CutTree.single_segment()
        self.sizes = np.zeros(1, dtype=np.int64)
        self.totals = task.totals or {}
        self._nodes = np.zeros(1, dtype=np.int64)
        self._halves: dict[int, SegmentCounts] = {}

    def run(self) -> None:
        """Cut segments, at most so many together that their counts fit."""
        whole = self.count(self.tree, self._nodes)
        self.sizes = whole.sizes
        self._evaluate_whole_table(whole)
        waiting = [(self._nodes, whole, 0)]
        while waiting:
            nodes, counts, depth = waiting.pop()
            large = np.flatnonzero(counts.sizes > self.most_rows) if depth < self.most_depth else self._nodes[:0]
            together = max(1, MOST_CELLS // counts.axes.shape[1])
            for begin in range(together, len(large), together):
                some = large[begin : begin + together]
                waiting.append((nodes[some], counts.select(some), depth))
            some = large[:together]
            if len(some):
                waiting.append((*self._cut(nodes[some], counts.select(some)), depth + 1))
            self._report()

    def _evaluate_whole_table(self, whole: SegmentCounts) -> None:
        """Find the totals that groups are compared with, and refuse models that all records together break."""
        if self.task.totals is not None:
            return
        together = self._counted(whole)
        self.totals = together.totals
        for model in self.task.models:
            if whole.sizes[0] and not model.satisfied_by(together)[0]:
                raise InfeasibleError(
                    f"All records ({int(whole.sizes[0]):,}) break {model!r} as one group; ask for less."
                )

    def _cut(self, nodes: Ints, counts: SegmentCounts) -> tuple[Ints, SegmentCounts]:
        """Cut some segments where that is allowed; return the halves and their counts."""
        self._nodes = nodes
        self._halves.clear()
        ranges = counts.ranges
        cuts = find_allowed_cuts(partial(self._propose, counts, ranges), len(nodes), partial(self._rejected, counts))
        cut = np.flatnonzero(cuts.axis != NO_CUT)
        chosen = cuts.select(cut)
        self.tree = self.tree.cut(nodes[cut], chosen.axis, chosen.code)
        sizes = np.column_stack([chosen.left, chosen.total - chosen.left]).ravel()
        self.sizes = np.append(self.sizes, sizes)
        halves = len(self.tree.axis) - len(sizes) + np.arange(len(sizes))
        if self.task.model_columns:
            return halves, _joined([self._halves[place] for place in cut.tolist()], counts)
        worth = np.flatnonzero((sizes.reshape(-1, 2) > self.most_rows).any(axis=1))
        kept = halves.reshape(-1, 2)[worth].ravel()
        return kept, self._count_halves(self.tree, kept, chosen.select(worth), counts.select(cut[worth]))

    def _propose(self, counts: SegmentCounts, ranges: Ranges, segments: Ints, first_rank: Ints) -> Cuts:
        """Propose a cut for each of the named segments."""
        named = counts.select(segments)
        count = partial(_entries, named)
        return counted_cuts.propose_cuts(count, named.sizes, self.axes, self.rule, ranges.select(segments), first_rank)

    def _rejected(self, counts: SegmentCounts, segments: Ints, cuts: Cuts) -> Ints:
        """Find the segments whose proposed halves break a model."""
        proposed = np.flatnonzero(cuts.axis != NO_CUT)
        named, chosen = segments[proposed], cuts.select(proposed)
        if not len(named):
            return named
        if not self.task.model_columns:
            groups = Groups(np.column_stack([chosen.left, chosen.total - chosen.left]).ravel())
        else:
            tree = self.tree.cut(self._nodes[named], chosen.axis, chosen.code)
            nodes = len(self.tree.axis) + np.arange(2 * len(named))
            halves = self._count_halves(tree, nodes, chosen, counts.select(named))
            self._halves |= {
                place: halves.select(np.array([2 * number, 2 * number + 1]))
                for number, place in enumerate(named.tolist())
            }
            groups = self._counted(halves)
        kept = satisfy_all(groups, self.task.models)
        return named[~(kept[0::2] & kept[1::2])]

    def _count_halves(self, tree: CutTree, nodes: Ints, cuts: Cuts, whole: SegmentCounts) -> SegmentCounts:
        """Count pairs of halves: one in a pass, the other by what is left of the whole."""
        if not len(nodes):
            return whole
        right = (cuts.total < 2 * cuts.left).astype(np.int64)
        lesser = 2 * np.arange(len(right)) + right
        counted = self.count(tree, nodes[lesser])
        result = SegmentCounts.empty(len(nodes), whole.layout)
        for all_, mine, both in (
            (result.axes, counted.axes, whole.axes),
            (result.watched, counted.watched, whole.watched),
        ):
            all_[lesser], all_[lesser ^ 1] = mine, both - mine
        return result

    def _counted(self, counts: SegmentCounts) -> Groups:
        """See segments as groups of records."""
        histograms, domains = {}, [column.domain for column in self.task.model_columns]
        for number, domain in enumerate(domains):
            dense = counts.select_model_attribute(number)
            group, value = np.nonzero(dense)
            histogram = Histogram.from_entries(
                group, value, dense[group, value], groups=len(dense), width=len(domain) + 1
            )
            histograms[domain.name] = histogram.separate_missing()
        return Groups(counts.sizes, histograms, self.totals, {domain.name: domain for domain in domains})

    def _report(self) -> None:
        """Tell which share of the records is in segments that are small enough."""
        leaves = self.sizes[self.tree.leaves]
        self.task.progress(float(leaves[leaves <= self.most_rows].sum() / max(1, self.sizes[0])))


def _entries(counts: SegmentCounts, segments: Ints, axis: Ints) -> counted_cuts.SegmentCodeCounts:
    """List the codes that occur in some segments, each on one axis."""
    found = [counts.on_axis(j)[segment] for segment, j in zip(segments.tolist(), axis.tolist(), strict=True)]
    codes = [np.flatnonzero(each) for each in found]
    segment = np.repeat(np.arange(len(codes)), [len(each) for each in codes])
    weight = np.concatenate([each[some] for each, some in zip(found, codes, strict=True)])
    return counted_cuts.SegmentCodeCounts(segment, np.concatenate(codes), weight)


def _joined(parts: list[SegmentCounts], like: SegmentCounts) -> SegmentCounts:
    if not parts:
        return like.select(np.zeros(0, dtype=np.int64))
    axes, watched = (np.concatenate([getattr(part, name) for part in parts]) for name in ("axes", "watched"))
    return SegmentCounts(like.layout, axes, watched)
