"""Mondrian: top-down multidimensional partitioning."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.riding import missing_rides, without_hollow
from sfumato.algorithms.publishing import keep_missing, publish_groups, recode_ranges, recode_sets
from sfumato.coding.codes import CodedColumn
from sfumato.coding.cutting.axes import axes_of
from sfumato.coding.cutting.partition import NO_CUT, Cuts, Ints, Ranges, Rule, cutter_for
from sfumato.coding.domain import Domain
from sfumato.coding.reduction import reduce_rows
from sfumato.coding.threads import worker_count
from sfumato.core.groups import Groups
from sfumato.core.publication import Publication, Recoded
from sfumato.schema.scales import Scale
from sfumato.validation import require


@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    r"""Cut the quasi-identifier space at medians while both sides keep every model [1]_.

    All segments of one depth are cut together: each at its widest attribute that leaves two good sides.
    Width is the range over the domain's range for numbers and ranks, and the share of leaves under the
    lowest common ancestor for taxonomies, whose cuts part children of that ancestor. Work grows as
    $d\,n \log n$ for $n$ records and $d$ quasi-identifiers. Nothing is suppressed.

    Parameters
    ----------
    strict : whether records with equal quasi-identifiers stay together; relaxed cuts of ordered attributes
        part them so that both sides have equally many records.
    publish : `"nodes"` publishes the lowest common ancestor of a group's values in a taxonomy; `"sets"` publishes
        the values that occur. Numbers, dates and ranks become intervals, nominal values sets, either way.
    bounds : `"hierarchy"` ends intervals at the bounds of the attribute's hierarchy, where it has one; `"exact"` ends
        them at the least and greatest value of the group, each of which is somebody's own.

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "mondrian"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006, https://doi.org/10.1109/ICDE.2006.101"

    strict: bool = True
    publish: Literal["nodes", "sets"] = "nodes"
    bounds: Literal["hierarchy", "exact"] = "hierarchy"

    def __post_init__(self) -> None:
        require(isinstance(self.strict, bool), self, "strict", "true or false", self.strict)
        require(self.publish in {"nodes", "sets"}, self, "publish", "'nodes' or 'sets'", self.publish)
        require(self.bounds in {"hierarchy", "exact"}, self, "bounds", "'hierarchy' or 'exact'", self.bounds)

    @property
    def ignores_row_order(self) -> bool:
        """Whether rows in another order are published alike: relaxed cuts part equal values in row order."""
        return self.strict

    @property
    def suppresses(self) -> bool:
        """Whether the search may leave records out: it does not."""
        return False

    def refusal(self, task: Task) -> str | None:
        """Refuse flags of sensitive cells, and models for which good halves do not make a good whole."""
        for model in task.models:
            if not model.monotone:
                return (
                    f"Mondrian cannot serve {model!r}, because unions of its good groups may be bad; use another one."
                )
        return super().refusal(task)

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        return without_hollow(task, self._search)

    def _search(self, task: Task) -> Publication:
        quasi = task.table.quasi
        if not quasi:
            task.progress(1.0)
            return publish_groups(np.zeros(task.table.rows, dtype=np.int32), {})
        descent = Descent(task, strict=self.strict)
        descent.run()
        group, ranges = descent.groups(), descent.ranges()
        rides = descent.rule.missing_rides

        def recode(j: int) -> Recoded:
            if self._as_set(quasi[j].domain):
                return recode_sets(quasi[j], group, descent.leaves, missing_apart=rides)
            missing = ranges.missing[:, j] & (not rides)
            low, high, exact = ranges.low[:, j], ranges.high[:, j], self.bounds == "exact"
            return recode_ranges(quasi[j].domain, low, high, missing, exact=exact)

        with ThreadPoolExecutor(worker_count()) as pool:
            columns = pool.map(recode, range(len(quasi)))
            recoded = {column.name: each for column, each in zip(quasi, columns, strict=True)}
        if rides:
            group, recoded = keep_missing(group, recoded, quasi)
        return publish_groups(group, recoded)

    def _as_set(self, domain: Domain) -> bool:
        return domain.scale is Scale.NOMINAL or (domain.scale is Scale.CATEGORICAL and self.publish == "sets")


class Descent:
    """The way down from one segment of all records to leaves that no allowed cut can part."""

    def __init__(self, task: Task, *, strict: bool) -> None:
        names = {name for model in task.models for name in model.attributes}
        watched = tuple(column for column in task.table.sensitive if column.name in names)
        self.task = task
        smallest = max((model.smallest_group for model in task.models), default=1)
        self.rule = Rule(smallest, not strict, missing_rides(task))
        self.reduction = reduce_rows(task.table.quasi, watched, equal_together=strict)
        self.axes = axes_of([column.domain for column in task.table.quasi])
        self.records = self.reduction.records
        self.cutter = cutter_for(len(self.records.weight))
        self.whole = Groups.from_rows(np.zeros(task.table.rows, dtype=np.int32), 1, watched, task.missing)
        self.leaf_of = np.empty(len(self.records.weight), dtype=np.int32)
        self.leaves = 0
        self._leaf_ranges: list[Ranges] = []

    def run(self) -> None:
        """Cut all segments of one depth together, depth by depth, until none is left."""
        finished = 0
        while self.records.segments:
            ranges = self.cutter.ranges(self.records, self.axes)
            cuts = self._allowed_cuts(ranges)
            done, cut = np.flatnonzero(cuts.axis == NO_CUT), np.flatnonzero(cuts.axis != NO_CUT)
            self._finish(done, ranges)
            finished += int((self.records.offsets[done + 1] - self.records.offsets[done]).sum())
            self.task.progress(finished / len(self.leaf_of))
            left = self.cutter.sides(self.records, cut, cuts.of(cut))
            self.records = self.cutter.split(self.records, cut, left)

    def groups(self) -> npt.NDArray[np.int32]:
        """Return the leaf of every row of the table."""
        return self.reduction.of_rows(self.leaf_of)

    def ranges(self) -> Ranges:
        """Return the ranges of all leaves."""
        return Ranges(
            np.concatenate([ranges.low for ranges in self._leaf_ranges]),
            np.concatenate([ranges.high for ranges in self._leaf_ranges]),
            np.concatenate([ranges.missing for ranges in self._leaf_ranges]),
        )

    def _finish(self, segments: Ints, ranges: Ranges) -> None:
        self.cutter.number(self.records, segments, self.leaves, self.leaf_of)
        self.leaves += len(segments)
        self._leaf_ranges.append(Ranges(ranges.low[segments], ranges.high[segments], ranges.missing[segments]))

    def _allowed_cuts(self, ranges: Ranges) -> Cuts:
        """Propose cuts, widest attribute first, until both halves of every cut keep the models."""
        tried = np.arange(self.records.segments)
        cuts = self.cutter.propose(self.records, self.axes, self.rule, ranges, tried, np.zeros_like(tried))
        refused = self._refused(tried, cuts)
        while len(refused):
            again = self.cutter.propose(self.records, self.axes, self.rule, ranges, refused, cuts.rank[refused] + 1)
            cuts.replace(refused, again)
            refused = self._refused(refused, again)
        return cuts

    def _refused(self, segments: Ints, cuts: Cuts) -> Ints:
        """Find the segments whose proposed halves break a model."""
        proposed = np.flatnonzero(cuts.axis != NO_CUT)
        named = segments[proposed]
        halves = self._halves(named, cuts.of(proposed))
        kept = np.ones(len(halves), dtype=np.bool_)
        for model in self.task.models:
            kept &= model.kept_by(halves)
        return named[~(kept[0::2] & kept[1::2])]

    def _halves(self, segments: Ints, cuts: Cuts) -> Groups:
        """Count the left and right halves of some segments, in turn."""
        if not self.whole.histograms:
            return Groups(np.column_stack([cuts.left, cuts.total - cuts.left]).ravel())
        rows, place = self.records.rows_of(segments)
        half = 2 * place + ~self.cutter.sides(self.records, segments, cuts)
        watched = [
            CodedColumn(domain, codes[rows])
            for domain, codes in zip(self.whole.domains.values(), self.records.extra, strict=True)
        ]
        weights = self.records.weight[rows]
        return Groups.from_rows(
            half, 2 * len(segments), watched, self.task.missing, weights=weights, totals=self.whole.totals
        )
