"""Mondrian on a table larger than memory: cut it into segments while it is read in batches, and finish each alone.

Segments are cut by the same rule as in memory, so a release is the same wherever its rows are. No segment needs another
one: they can be finished in any order and on several machines. Everything here can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.streamed_cutting import CountPass, StreamedCutting
from sfumato.coding.codes import CodedColumn, CodedTable
from sfumato.coding.cutting.batches import Batch, CodeLayout, SegmentCounts, count_segments
from sfumato.coding.cutting.cut_tree import CutTree
from sfumato.coding.cutting.partition import Ints
from sfumato.coding.domain import Domain
from sfumato.core.progress import Progress, ignore_progress
from sfumato.core.publication import TableSolution
from sfumato.exceptions import InvalidParameterError
from sfumato.models.base import GroupModel
from sfumato.schema.missing import MissingPolicy

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
