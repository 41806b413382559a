"""Mondrian: top-down multidimensional partitioning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.recoding import keep_missing, publish_groups, recode_ranges, recode_sets
from sfumato.attributes.missing import Missing
from sfumato.attributes.scales import Scale
from sfumato.engine.axes import axes_of
from sfumato.engine.coding import CodedColumn
from sfumato.engine.domain import Domain
from sfumato.engine.partition import NO_CUT, Cutter, Cuts, Ints, Ranges, Records, Rule, cutter_for
from sfumato.engine.reduction import reduce_rows
from sfumato.groups import Groups
from sfumato.publication import Publication
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

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "mondrian"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006, https://doi.org/10.1109/ICDE.2006.101"

    strict: bool = True
    publish: Literal["nodes", "sets"] = "nodes"

    def __post_init__(self) -> None:
        require(isinstance(self.strict, bool), self, "strict", "true or false", self.strict)
        require(self.publish in {"nodes", "sets"}, self, "publish", "'nodes' or 'sets'", self.publish)

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            return publish_groups(np.zeros(task.table.rows, dtype=np.int32), {})
        rides = task.missing is Missing.MATCHES_ALL and all(model.extendable for model in task.models)
        watched = _watched(task)
        reduction = reduce_rows(quasi, watched, equal_together=self.strict)
        rule = Rule(max((model.smallest_group for model in task.models), default=1), not self.strict, rides)
        leaves = _Leaves(len(reduction.records.weight))
        _cut_down(task, reduction.records, watched, rule, leaves)
        group = reduction.of_rows(leaves.leaf_of)
        ranges = leaves.ranges()
        recoded = {}
        for j, column in enumerate(quasi):
            low, high, missing = ranges.low[:, j], ranges.high[:, j], ranges.missing[:, j] & (not rides)
            if self._as_set(column.domain):
                recoded[column.name] = recode_sets(column, group, leaves.count)
            else:
                recoded[column.name] = recode_ranges(column.domain, low, high, missing)
        if rides:
            group, recoded = keep_missing(group, recoded, quasi)
        return publish_groups(group, recoded)

    def _as_set(self, domain: Domain) -> bool:
        return domain.scale is Scale.NOMINAL or (domain.scale is Scale.CATEGORICAL and self.publish == "sets")


class _Leaves:
    """The finished segments: which records are in each, and their ranges."""

    def __init__(self, records: int) -> None:
        self.leaf_of = np.empty(records, dtype=np.int32)
        self.count = 0
        self.records = 0
        self._ranges: list[Ranges] = []

    def finish(self, records: Records, ranges: Ranges, segments: Ints) -> None:
        """Number some segments as leaves."""
        rows, place = records.rows_of(segments)
        self.leaf_of[records.origin[rows]] = place + self.count
        self.count += len(segments)
        self.records += len(rows)
        self._ranges.append(Ranges(ranges.low[segments], ranges.high[segments], ranges.missing[segments]))

    def ranges(self) -> Ranges:
        """Give the ranges of all leaves."""
        return Ranges(
            np.concatenate([r.low for r in self._ranges]),
            np.concatenate([r.high for r in self._ranges]),
            np.concatenate([r.missing for r in self._ranges]),
        )


def _watched(task: Task) -> tuple[CodedColumn, ...]:
    names = {name for model in task.models for name in model.attributes}
    return tuple(column for column in task.table.sensitive if column.name in names)


def _cut_down(task: Task, records: Records, watched: Sequence[CodedColumn], rule: Rule, leaves: _Leaves) -> None:
    axes = axes_of([column.domain for column in task.table.quasi])
    cutter = cutter_for(len(records.weight))
    whole = Groups.from_rows(np.zeros(task.table.rows, dtype=np.int32), 1, watched, task.missing)
    while records.segments:
        ranges = cutter.ranges(records, axes)
        tried = np.arange(records.segments)
        cuts = cutter.propose(records, axes, rule, ranges, tried, np.zeros_like(tried))
        refused = _refused(task, cutter, records, whole, tried, cuts)
        while len(refused):
            again = cutter.propose(records, axes, rule, ranges, refused, cuts.rank[refused] + 1)
            cuts.replace(refused, again)
            refused = _refused(task, cutter, records, whole, refused, again)
        leaves.finish(records, ranges, np.flatnonzero(cuts.axis == NO_CUT))
        task.progress(leaves.records / len(leaves.leaf_of))
        cut = np.flatnonzero(cuts.axis != NO_CUT)
        records = cutter.split(records, cut, cutter.sides(records, cut, cuts.of(cut)))


def _refused(task: Task, cutter: Cutter, records: Records, whole: Groups, segments: Ints, cuts: Cuts) -> Ints:
    """Find the segments whose proposed halves break a model."""
    proposed = np.flatnonzero(cuts.axis != NO_CUT)
    named, cuts = segments[proposed], cuts.of(proposed)
    halves = _halves(task, cutter, records, whole, named, cuts)
    kept = np.ones(len(halves), dtype=np.bool_)
    for model in task.models:
        kept &= model.kept_by(halves)
    return named[~(kept[0::2] & kept[1::2])]


def _halves(task: Task, cutter: Cutter, records: Records, whole: Groups, segments: Ints, cuts: Cuts) -> Groups:
    """Count the left and right halves of some segments, in turn."""
    if not whole.histograms:
        total = np.add.reduceat(records.weight, records.offsets[:-1], dtype=np.int64)[segments]
        return Groups(np.column_stack([cuts.left, total - cuts.left]).ravel())
    rows, place = records.rows_of(segments)
    half = 2 * place + ~cutter.sides(records, segments, cuts)
    columns = [
        CodedColumn(domain, codes[rows]) for domain, codes in zip(whole.domains.values(), records.extra, strict=True)
    ]
    return Groups.from_rows(
        half, 2 * len(segments), columns, task.missing, weights=records.weight[rows], totals=whole.totals
    )
