"""MAA-SLIE: microaggregation by the entropy of sensitivity levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from sfumato._progress import ignore_progress
from sfumato._threads import count_workers
from sfumato._validation import is_finite_number, require
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.algorithms.microaggregation._class_growth import (
    AdmissionRule,
    ClassRequirements,
    Ints,
    class_requirements,
    grow_classes,
    weights_by_level,
)
from sfumato.tables.algorithms.microaggregation._clustering import ClusteringAlgorithm, report_clustered
from sfumato.tables.algorithms.microaggregation._point_clusters import Labels
from sfumato.tables.algorithms.microaggregation._space import RecordSpace
from sfumato.tables.models.k_anonymity import KAnonymity

BLOCK = 5_000  # the fewest records in a block
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class MAASLIE(ClusteringAlgorithm):
    r"""Grow classes of nearby records with mixed sensitivity levels [1]_.

    A class starts with the record farthest from the previous start (the first one from the center of all records)
    and takes the record with which its privacy safety index is largest, until it has enough levels, values and
    records: only records of a new level while it has fewer than $H$, then only records with a new value while it
    has fewer than $p$, then any. The index is $w_1 \cdot HEC + w_2 / InfoLoss$. Here $HEC = -\sum_i w_i\,p_i \log p_i$
    over the levels with their shares $p_i$ and weights $w_i$, and $InfoLoss$ is the mean distance of records to the
    center of the class, or their sum, as printed. Without any loss the index is larger than all finite ones, and the
    larger $HEC$ counts. When the remaining records cannot supply another class, they join, in random order, the
    classes whose index is then largest.

    $H$, $p$, $k$ and the levels come from `HPKAnonymity`. With `PSensitiveKAnonymity` or `DistinctLDiversity` every
    value is a level of its own, of weight 1/2, if there are fewer than 256; the same holds for other models of a
    sensitive attribute. Classes that break another model are merged with their nearest ones. Nothing is suppressed.

    The work grows as $d\,n\,m$ for $n$ records, $m$ distinct ones and $d$ quasi-identifiers. The approximate mode first
    cuts records into blocks of at least 5,000, as `Mondrian` does, and grows classes within each; then the work
    grows as $d\,n$.

    Parameters
    ----------
    approximate : whether classes are grown within blocks.
    w1, w2 : the weights of entropy and loss in the index; at least 0, with sum 1.
    index : `"mean"` puts the mean distance of a class's records to its center into the index, so that `w1` means the
        same for classes of all sizes; `"sum"` their sum, as printed.
    base : the base of the logarithm.
    level_weights : the weight of every level of `HPKAnonymity` by its text, between 0 and 1. By default, levels that
        are whole numbers get weights spread evenly, $i / (L + 1)$ for the $i$-th lowest of $L$, and levels that are
        texts 1/2 each, because their order is not known.
    weights : the weight of every attribute in a distance; 1 by default.
    publish : `"centers"` publishes means, middle ranks, medoids of taxonomies and most frequent values; `"ranges"`
        publishes intervals, nodes and sets that cover a class's values.

    References
    ----------
    .. [1] Shi, Zhang, Dong, "Data anonymity method based on sensitive hierarchical information entropy",
       Computer Applications and Software 41(5), 2024. https://doi.org/10.3969/j.issn.1000-386x.2024.05.046
    """

    name = "maa-slie"
    reference = "Shi, Zhang, Dong 2024, https://doi.org/10.3969/j.issn.1000-386x.2024.05.046"

    approximate: bool = False
    w1: float = 0.5
    w2: float = 0.5
    index: Literal["mean", "sum"] = "mean"
    base: float = 10
    level_weights: Mapping[str, float] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.approximate, bool), self, "approximate", "true or false", self.approximate)
        require(is_finite_number(self.w1) and 0 <= self.w1 <= 1, self, "w1", "a number from 0 to 1", self.w1)
        rest = f"1 - w1 = {1 - self.w1:g}, so that they sum to 1"
        require(is_finite_number(self.w2) and abs(self.w1 + self.w2 - 1) <= ROUNDING, self, "w2", rest, self.w2)
        require(self.index in ("mean", "sum"), self, "index", "'mean' or 'sum'", self.index)
        require(is_finite_number(self.base) and self.base > 1, self, "base", "a number above 1", self.base)
        if self.level_weights is not None:
            wanted = "a mapping from levels to numbers between 0 and 1"
            require(_are_level_weights(self.level_weights), self, "level_weights", wanted, self.level_weights)
            object.__setattr__(self, "level_weights", dict(self.level_weights))

    def check(self, task: TableRequest) -> str | None:
        """Refuse what every clustering refuses, and weights of levels that are not those of the model."""
        refusal = super().check(task)
        if refusal is not None or self.level_weights is None:
            return refusal
        levels = {str(name) for name in class_requirements(task).level_names}
        if not levels:
            return "MAASLIE has weights of levels, but no model has levels; add HPKAnonymity or drop level_weights."
        missed, unknown = len(levels - set(self.level_weights)), len(set(self.level_weights) - levels)
        if missed or unknown:
            return (
                f"MAASLIE.level_weights misses {missed} of the model's {len(levels)} levels and has {unknown} others; "
                "give every level one weight."
            )
        return None

    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Grow classes, within blocks in the approximate mode."""
        demand = class_requirements(task)
        weights = weights_by_level(demand, self.level_weights)
        averaged = self.index == "mean"
        rule = AdmissionRule(float(self.w1), float(self.w2), weights, float(self.base), averaged=averaged)
        rows = np.arange(task.table.rows)
        if self.approximate:
            blocks = _blocks(space, task, max(BLOCK, 2 * least))
            if len(blocks) > 1:
                return _form_in_blocks(space, blocks, demand, rule, task)
        return grow_classes(space, rows, demand, rule, rng=task.rng, progress=partial(report_clustered, task))


def _blocks(space: RecordSpace, task: TableRequest, least: int) -> list[Ints]:
    """Split the rows into blocks of at least this many nearby records, each of which keeps every model.

    Sides of a cut along a taxonomy or between nominal values are farther apart than those of a cut at a median, so
    these cuts come first.
    """
    blocks = [np.arange(task.table.rows)]
    for ordered in (False, True):
        columns = [axis.column for axis in space.axes if axis.ordered is ordered]
        blocks = [part for rows in blocks for part in _cut(rows, columns, task, least)]
    return blocks


def _cut(rows: Ints, columns: Sequence[CodedColumn], task: TableRequest, least: int) -> list[Ints]:
    """Cut a block along some attributes, as long as both sides are large enough."""
    if not columns or len(rows) < 2 * least:
        return [rows]
    quasi, sensitive = ([column.take(rows) for column in each] for each in (columns, task.table.sensitive))
    table = CodedTable(len(rows), tuple(quasi), tuple(sensitive))
    models = [*task.models, KAnonymity(k=least)]
    block = Mondrian().search(replace(task, table=table, models=models, progress=ignore_progress)).group
    order = np.argsort(block, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(block[order])) + 1)


def _form_in_blocks(
    space: RecordSpace, blocks: list[Ints], demand: ClassRequirements, rule: AdmissionRule, task: TableRequest
) -> Labels:
    """Grow classes within every block, several blocks at a time."""
    labels, formed, done = np.empty(task.table.rows, dtype=np.int32), 0, 0
    streams = task.rng.spawn(len(blocks))
    pool = ThreadPoolExecutor(count_workers())
    try:
        jobs = [
            pool.submit(grow_classes, space, rows, demand, rule, rng=rng)
            for rows, rng in zip(blocks, streams, strict=True)
        ]
        of = dict(zip(jobs, blocks, strict=True))
        for job in as_completed(jobs):
            done += len(of[job])
            report_clustered(task, done / len(labels))
        for job, rows in of.items():
            labels[rows] = formed + job.result()
            formed += int(job.result().max()) + 1
    finally:
        pool.shutdown(cancel_futures=True)
    return labels


def _are_level_weights(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_finite_number(weight) and 0 < weight < 1 for name, weight in given.items()
    )
