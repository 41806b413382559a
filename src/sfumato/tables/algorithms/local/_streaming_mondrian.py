"""Cuts at medians of a table that is only counted: Mondrian's first cuts, while rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from sfumato._progress import Progress, ignore_progress
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms._segments import streamed
from sfumato.tables.algorithms._segments.cuts import (
    NO_CUT,
    Cuts,
    CuttingRule,
    Ints,
    Ranges,
    find_allowed_cuts,
    make_axes,
)
from sfumato.tables.algorithms._segments.streamed import Batch, CodeLayout, CutTree, SegmentCounts, count_segments
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.published.solution import TableSolution

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
        return streamed.propose_cuts(count, named.sizes, self.axes, self.rule, ranges.select(segments), first_rank)

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


def _entries(counts: SegmentCounts, segments: Ints, axis: Ints) -> streamed.SegmentCodeCounts:
    """List the codes that occur in some segments, each on one axis."""
    found = [counts.on_axis(j)[segment] for segment, j in zip(segments.tolist(), axis.tolist(), strict=True)]
    codes = [np.flatnonzero(each) for each in found]
    segment = np.repeat(np.arange(len(codes)), [len(each) for each in codes])
    weight = np.concatenate([each[some] for each, some in zip(found, codes, strict=True)])
    return streamed.SegmentCodeCounts(segment, np.concatenate(codes), weight)


def _joined(parts: list[SegmentCounts], like: SegmentCounts) -> SegmentCounts:
    if not parts:
        return like.select(np.zeros(0, dtype=np.int64))
    axes, watched = (np.concatenate([getattr(part, name) for part in parts]) for name in ("axes", "watched"))
    return SegmentCounts(like.layout, axes, watched)


# Mondrian on a table larger than memory: cut it into segments while it is read in batches, and finish each alone.
#
# Segments are cut by the same rule as in memory, so a release is the same wherever its rows are. No segment needs
# another
# one: they can be finished in any order and on several machines. Everything here can be pickled.

DEEPEST = 1 << 20  # cuts above a segment, more than any table has


@dataclass(frozen=True, eq=False)
class SegmentPlan:
    """How a table is cut into segments.

    Parameters
    ----------
    tree : the cuts.
    sizes : the number of records of every segment. Where missing values match all, records without any
        quasi-identifier hide nobody: they go along with the last segment and are not counted.
    totals : how often every value of a watched attribute occurs in the table.
    """

    tree: CutTree
    sizes: Ints
    totals: Mapping[str, Ints]

    def graft(self, segment: int, plan: SegmentPlan) -> SegmentPlan:
        """Cut one segment as another plan does; segments after it are numbered anew."""
        sizes = np.concatenate([self.sizes[:segment], plan.sizes, self.sizes[segment + 1 :]])
        return SegmentPlan(self.tree.graft(segment, plan.tree), sizes, self.totals)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain lists, for files."""
        totals = {name: total.tolist() for name, total in self.totals.items()}
        return {"tree": self.tree.as_dict(), "sizes": self.sizes.tolist(), "totals": totals}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SegmentPlan:
        """Read a plan back from its plain lists."""
        totals = {name: np.array(total, dtype=np.int64) for name, total in plain["totals"].items()}
        tree, sizes = CutTree.from_dict(plain["tree"]), np.array(plain["sizes"], dtype=np.int64)
        if len(sizes) != tree.segments:
            raise InvalidParameterError("The plan of segments is damaged; cut the table again.")
        return cls(tree, sizes, totals)


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentedSearch:
    """Strict Mondrian on a table that is read in batches of codes.

    Parameters
    ----------
    algorithm : how groups are found and published.
    quasi : the domains of all quasi-identifiers, in the order of a batch's codes.
    sensitive : the domains of the sensitive attributes; those that models read are watched.
    models : the promises that every published group must keep.
    missing : how missing values are read.
    """

    algorithm: Mondrian
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    models: tuple[GroupModel, ...]
    missing: MissingPolicy

    @property
    def model_columns(self) -> tuple[str, ...]:
        """The names of the sensitive attributes that models read, in the order of a batch's watched codes."""
        return tuple(column.name for column in self.request().model_columns)

    @property
    def layout(self) -> CodeLayout:
        """How many codes every attribute of a batch has."""
        watched = tuple(len(column.domain) + 1 for column in self.request().model_columns)
        return CodeLayout(tuple(len(domain) + 1 for domain in self.quasi), watched)

    def check(self) -> str | None:
        """Return in one sentence why the table cannot be cut while it is read in batches, or nothing."""
        if not self.algorithm.strict:
            return "Mondrian cuts a table beyond memory only if strict; use strict=True."
        if not self.quasi:
            return "A table without quasi-identifiers cannot be cut into segments; count its rows instead."
        return self.algorithm.check(self.request())

    def count(
        self, batches: Iterable[Batch], tree: CutTree, nodes: Ints, *, workers: int | None = None
    ) -> SegmentCounts:
        """Count some leaves of a tree in one pass over batches; counts of parts of a table can be added.

        Give `workers` where something else already works on several parts at once.
        """
        return count_segments(batches, tree, nodes, self.layout, workers=workers)

    def pass_over(self, batches: Callable[[], Iterable[Batch]]) -> CountPass:
        """Return what counts leaves of a tree on this machine, beginning with new batches every time."""
        return lambda tree, nodes: self.count(batches(), tree, nodes)

    def cut(
        self,
        count: CountPass,
        *,
        most_rows: int,
        most_depth: int = DEEPEST,
        totals: Mapping[str, Ints] | None = None,
        progress: Progress = ignore_progress,
    ) -> SegmentPlan:
        """Cut the table until every segment has at most so many records or cannot be cut.

        Parameters
        ----------
        count : counts some leaves of a tree over all rows.
        most_rows : segments with more records are cut.
        most_depth : the largest number of cuts above a segment; larger segments can be written apart and cut on.
        totals : those of the whole table, if the rows are one of its segments.
        progress : is called with the share of records in segments that are small enough.
        """
        cutting = StreamedCutting(self.request(totals=totals, progress=progress), count, most_rows, most_depth)
        cutting.run()
        return SegmentPlan(cutting.tree, cutting.sizes[cutting.tree.leaves], cutting.totals)

    def finish(self, segment: Batch, totals: Mapping[str, Ints], progress: Progress = ignore_progress) -> TableSolution:
        """Find what to publish about the rows of one segment: the same as a search among all rows would."""
        return self.algorithm.search(self.request(segment, totals=totals, progress=progress))

    def request(
        self,
        batch: Batch | None = None,
        *,
        totals: Mapping[str, Ints] | None = None,
        progress: Progress = ignore_progress,
    ) -> TableRequest:
        """Build the task of a segment's rows, or of none."""
        read = {name for model in self.models for name in model.sensitive_attributes}
        watched = [domain for domain in self.sensitive if domain.name in read]
        if batch is None:
            none = np.zeros((len(self.quasi) + len(watched), 0), dtype=np.uint8)
            batch = Batch(none[: len(self.quasi)], none[len(self.quasi) :])
        table = CodedTable(
            rows=len(batch) if batch.weights is None else int(batch.weights.sum()),
            quasi=tuple(CodedColumn(*pair) for pair in zip(self.quasi, batch.codes, strict=True)),
            sensitive=tuple(CodedColumn(*pair) for pair in zip(watched, batch.watched, strict=True)),
            weights=batch.weights,
        )
        return TableRequest(
            table=table,
            models=self.models,
            max_suppressed=0,
            missing=self.missing,
            rng=np.random.default_rng(0),
            totals=totals,
            progress=progress,
        )
