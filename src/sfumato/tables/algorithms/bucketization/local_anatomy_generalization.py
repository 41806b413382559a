"""Local anatomy generalization: single sensitive cells in buckets, all other cells k-anonymous."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sfumato._progress import ignore_progress
from sfumato._validation import require
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.algorithms._labels import label_ranges, label_sets, merge_identical_groups
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._sensitive_cells import (
    Rows,
    SensitiveCells,
    collect_sensitive_cells,
    eligible_rows,
    flatten_conjunctions,
)
from sfumato.tables.algorithms.bucketization._series_buckets import (
    assign_series_buckets,
    check_series,
    is_in_series,
    without_series_models,
)
from sfumato.tables.algorithms.bucketization.local_anatomy import (
    check_sensitive_cells,
    flag_masks,
    group_published_records,
)
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import RecodedAttribute, Suppressed, TableSolution

# Records by the pattern of their flags, and groups of at least k within the patterns.

Masks = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int32]
Cut = Callable[[Rows, Masks], Labels]


@dataclass(frozen=True, eq=False)
class PatternPool:
    """Records with the same flagged quasi-identifiers, or of several patterns that were combined.

    Parameters
    ----------
    flagged : for every quasi-identifier, whether it is flagged in any of the records.
    rows : the records.
    guests : patterns with too few records that join single groups of this one.
    """

    flagged: Masks
    rows: Rows
    guests: list[PatternPool] = field(default_factory=list)


def pool_by_pattern(flags: Sequence[Masks], kept: Rows) -> list[PatternPool]:
    """Split records by the pattern of their flags, fewest flags first."""
    if not flags:
        return [PatternPool(np.zeros(0, dtype=np.bool_), kept)]
    grouped = group_columns([mask[kept].astype(np.uint8) for mask in flags], [2] * len(flags))
    patterns = np.column_stack([mask[kept[representative_rows(grouped)]] for mask in flags])
    parts = np.split(kept[np.argsort(grouped.labels, kind="stable")], np.cumsum(grouped.counts)[:-1])
    order = np.lexsort((*patterns.T, patterns.sum(axis=1)))
    return [PatternPool(patterns[number], parts[number]) for number in order]


def merge_small_pools(pools: Sequence[PatternPool], k: int, spare: int) -> tuple[list[PatternPool], Rows]:
    """Combine patterns of fewer than k records with others; return the remaining pools, and records to suppress.

    The smallest pattern goes first, to the pattern with which it has the most unflagged attributes in common; among
    several, to one of at least k records, and to the one that loses fewest. A pattern of at least k records takes it as
    a guest of one of its groups; where it flags no more than its guest, it hides whoever knows all open cells. One
    that has no attribute in common with any other is suppressed, if that many records may be: otherwise at least k more
    records would be published without any quasi-identifier.
    """
    left, lost = list(pools), np.zeros(0, dtype=np.intp)
    while len(left) > 1:
        number = min(range(len(left)), key=lambda i: len(left[i].rows))
        small = left[number]
        if len(small.rows) >= k:
            break
        left.pop(number)
        host = _closest_pool(small, left, k)
        nothing_shared = bool((small.flagged | left[host].flagged).all())
        if nothing_shared and not (small.flagged & left[host].flagged).all() and len(small.rows) <= spare - len(lost):
            lost = np.concatenate([lost, small.rows])
        elif len(left[host].rows) >= k:
            left[host].guests.append(small)
        else:
            rows = np.concatenate([left[host].rows, small.rows])
            left[host] = PatternPool(left[host].flagged | small.flagged, rows)
    return left, lost


def _closest_pool(small: PatternPool, others: Sequence[PatternPool], k: int) -> int:
    """Find the pool with the most unflagged attributes in common; among several, one of k records with the least loss.

    If all unflagged attributes are common to both, records of the pool are ruled out by no cell that somebody knows of
    the small one's; k of them are enough to hide everybody.
    """
    patterns = np.array([pool.flagged for pool in others]).reshape(len(others), -1)
    shared = (~patterns & ~small.flagged).sum(axis=1)
    losing = (~patterns & small.flagged).sum(axis=1)
    sizes = np.array([len(pool.rows) for pool in others])
    return int(np.lexsort((-sizes, losing, sizes < k, -shared))[0])


def group_pools(pools: Sequence[PatternPool], columns: Sequence[CodedColumn], cut: Cut, rows: int) -> Labels:
    """Cut every pool into groups, and let guests join them; return the group of every record, below 0 for others."""
    group = np.full(rows, -1, dtype=np.int32)
    used = 0
    for pool in pools:
        labels = cut(pool.rows, ~pool.flagged)
        group[pool.rows] = used + labels
        if pool.guests:
            joined = _RangeExpansion(pool, labels, columns)
            for guest in pool.guests:
                group[guest.rows] = used + joined.join(guest)
        used += int(labels.max()) + 1
    return group


class _RangeExpansion:
    """The groups of one pool as ranges of codes, to find the one that a guest widens the least."""

    def __init__(self, pool: PatternPool, labels: Labels, columns: Sequence[CodedColumn]) -> None:
        self.columns = columns
        self.spans = np.array([max(len(column.domain), 1) for column in columns], dtype=np.float64)
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
        cells = self._cells(pool.rows[order])
        self.low, self.high = np.minimum.reduceat(cells, starts), np.maximum.reduceat(cells, starts)
        self.sizes = np.bincount(labels).astype(np.int64)
        self.starred = np.tile(pool.flagged, (len(starts), 1))

    def join(self, guest: PatternPool) -> int:
        """Choose a group, and widen it."""
        cells = self._cells(guest.rows)
        low, high = np.minimum(self.low, cells.min(axis=0)), np.maximum(self.high, cells.max(axis=0))
        after = np.where(guest.flagged, 1.0, (high - low) / self.spans)
        grown = np.where(self.starred, 0.0, after - (self.high - self.low) / self.spans)
        chosen = int(np.argmin(grown.sum(axis=1) * self.sizes))
        self.low[chosen], self.high[chosen] = low[chosen], high[chosen]
        self.starred[chosen] |= guest.flagged
        self.sizes[chosen] += len(guest.rows)
        return chosen

    def _cells(self, rows: Rows) -> npt.NDArray[np.int64]:
        return np.column_stack([column.codes[rows].astype(np.int64) for column in self.columns])


Mechanism: TypeAlias = Literal["cuts", "seeds", "cheapest"]


@dataclass(frozen=True, kw_only=True)
class LocalAnatomyGeneralization(TableAlgorithm):
    r"""Publish flagged cells in buckets, as `LocalAnatomy` does, and generalize all others to k-anonymity [1]_.

    Records are split by their pattern, the set of attributes that are flagged for them. Within each pattern, groups of
    at least $k$ are formed, and only the unflagged attributes are generalized. Generalizing changes no bucket, so it
    never weakens the protection of flagged cells.

    A pattern of fewer than $k$ records joins the pattern with which it has the most unflagged attributes in common:
    another small one, or one group of a large one. An attribute that is flagged for any record of a group is published
    as `*` for the others. A small pattern that has nothing in common with any other is suppressed, if that many records
    may be; otherwise, and in a series, its group is published without quasi-identifiers. Sensitive attributes that no
    model names are published next to their group, unchanged. The work grows as $d\, n \log n$ for $n$ records and $d$
    attributes, and with the square of the number of patterns; with seeds, whose cuts may be uneven, as $d\, n$ times
    the depth.

    Parameters
    ----------
    mechanism : how groups are formed within a pattern. `"cuts"` cuts at medians, as `Mondrian` does (algorithm 5.2).
        `"seeds"` sends every record to the nearer of two distant ones, and stops where a side would have fewer than
        $k$ records (algorithm 5.3). `"cheapest"` chooses the cheapest of several cuts, as `TopDownNCP` does, and loses
        the least; it is not in the thesis.
    halve, allow_shown : as for `LocalAnatomy`.

    References
    ----------
    .. [1] "Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests", doctoral
       thesis, Jilin University, 2018, chapter 5.
    .. [2] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006 (the cuts).
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "local-anatomy-generalization"
    reference = "Doctoral thesis, Jilin University 2018, chapter 5"
    needs_monotone = "always"
    supports_series = True
    supports_flags = True
    supports_attributes = "apart"

    mechanism: Mechanism = "cuts"
    halve: bool = True
    allow_shown: bool = False

    def __post_init__(self) -> None:
        known = get_args(Mechanism)
        require(self.mechanism in known, self, "mechanism", "'cuts', 'seeds' or 'cheapest'", self.mechanism)
        require(isinstance(self.halve, bool), self, "halve", "true or false", self.halve)
        require(isinstance(self.allow_shown, bool), self, "allow_shown", "true or false", self.allow_shown)

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse flagged cells that no model protects, and models of other things than group sizes and values."""
        series = check_series(self, task)
        return super().check(without_series_models(task)) or series or check_sensitive_cells(self, task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        k = max((model.k for model in flatten_conjunctions(task.models) if isinstance(model, KAnonymity)), default=1)
        if is_in_series(task):
            return self._search_in_series(task, k)
        protected = collect_sensitive_cells(task)
        kept, pools = _feasible_pools(task, protected, k)
        task.progress(0.1)
        buckets = {each.name: each.buckets(kept, task.stream, halve=self.halve) for each in protected}
        task.progress(0.4)
        published, _ = self._published(task, k, kept, pools)
        task.progress(1.0)
        return replace(published, buckets=buckets)

    def _search_in_series(self, task: TableRequest, k: int) -> TableSolution:
        """Find what to publish in a release of a series."""
        found = assign_series_buckets(self, task, allow_shown=self.allow_shown, halve=self.halve)
        _check_enough_records(found.kept, task, k)
        task.progress(0.4)
        task = replace(task, table=found.table)
        pools, _ = merge_small_pools(pool_by_pattern(flag_masks(found.table), found.kept), k, 0)
        published, star = self._published(task, k, found.kept, pools, star=found.has_counterfeits)
        task.progress(1.0)
        return replace(published, buckets=found.buckets, counterfeits=found.counterfeits(star), waiting=found.waiting)

    def _published(
        self, task: TableRequest, k: int, kept: Rows, pools: list[PatternPool], *, star: bool = False
    ) -> tuple[TableSolution, int]:
        """Cut pools into groups and cover these; with `star`, also return a group that shows nothing but `*`."""

        def cut(rows: Rows, unflagged: npt.NDArray[np.bool_]) -> Labels:
            return self._cut(task, k, rows, unflagged)

        table = task.table
        group = group_pools(pools, table.quasi, cut, table.rows)[kept]
        task.progress(0.9)
        group, rows = (np.append(group, group.max() + 1), np.append(kept, kept[0])) if star else (group, kept)
        found = merge_identical_groups(group.astype(np.int32), _label_groups(table, rows, group, star=star))
        shown = group_published_records(table.rows, kept, found.group[: len(kept)])
        return replace(found, group=shown), int(found.group[-1])

    def _cut(self, task: TableRequest, k: int, rows: Rows, unflagged: npt.NDArray[np.bool_]) -> Labels:
        """Form groups of at least k among records of one pattern."""
        columns = [column for column, chosen in zip(task.table.quasi, unflagged, strict=True) if chosen]
        if not columns:
            return np.zeros(len(rows), dtype=np.int32)
        quasi = tuple(column.take(rows) for column in columns)
        part = replace(
            task,
            table=CodedTable(len(rows), quasi, ()),
            models=(KAnonymity(k=k),),
            max_suppressed=0,
            missing=MissingPolicy.OWN_VALUE,
            progress=ignore_progress,
        )
        return _grouped(self.mechanism, part)


def _grouped(mechanism: Mechanism, part: TableRequest) -> Labels:
    """Form groups by one of the mechanisms."""
    if mechanism == "cuts":
        return Mondrian().search(part).group
    if mechanism == "cheapest":
        from sfumato.tables.algorithms.local.top_down_ncp import TopDownNCP

        return TopDownNCP().search(part).group
    from sfumato.tables.algorithms.local.top_down_ncp import SeedPartitioning

    cutting = SeedPartitioning(part)
    cutting.run()
    return cutting.leaf_of


def _feasible_pools(task: TableRequest, protected: list[SensitiveCells], k: int) -> tuple[Rows, list[PatternPool]]:
    """Suppress what must be suppressed, until values can be put in buckets and patterns in groups."""
    flags, kept = flag_masks(task.table), np.arange(task.table.rows)
    while True:
        kept = eligible_rows(protected, kept, task)
        spare = task.max_suppressed - (task.table.rows - len(kept))
        pools, lost = merge_small_pools(pool_by_pattern(flags, kept), k, spare)
        _check_enough_records(kept, task, k)
        if not len(lost):
            return kept, pools
        kept = np.setdiff1d(kept, lost, assume_unique=True)


def _check_enough_records(kept: Rows, task: TableRequest, k: int) -> None:
    """Refuse to publish fewer records than a group needs."""
    if len(kept) < k:
        raise InfeasibleError(
            f"Only {len(kept):,} of {task.table.rows:,} records are left after too frequent sensitive values are "
            f"suppressed, but k = {k:,} are needed; promise less."
        )


def _label_groups(table: CodedTable, kept: Rows, group: Labels, *, star: bool) -> dict[str, RecodedAttribute]:
    """Cover the values of every group; if any of its cells is flagged, publish `*` for all that are not.

    With `star`, the last group shows nothing but `*`.
    """
    groups = int(group.max()) + 1
    recoded = {}
    for column, mask in zip(table.quasi, flag_masks(table), strict=True):
        starred = np.bincount(group, mask[kept], minlength=groups) > 0
        starred[groups - 1] |= star
        mine = column.take(kept)
        cover = _sets if column.domain.scale is Scale.NOMINAL else _ranges
        recoded[column.name] = cover(mine, group, starred)
    return recoded


def _ranges(column: CodedColumn, group: Labels, starred: npt.NDArray[np.bool_]) -> RecodedAttribute:
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(starred)))
    codes = column.codes[order].astype(np.int64)
    lost = codes == column.domain.missing
    low = np.where(starred, 0, np.minimum.reduceat(codes, starts))
    high = np.where(starred, 0, np.maximum.reduceat(np.where(lost, -1, codes), starts))
    return label_ranges(column.domain, low, high, starred | np.logical_or.reduceat(lost, starts))


def _sets(column: CodedColumn, group: Labels, starred: npt.NDArray[np.bool_]) -> RecodedAttribute:
    found = label_sets(column, group, len(starred))
    labels = list(found.labels)
    star = labels.index(Suppressed()) if Suppressed() in labels else len(labels)
    by_group = np.where(starred, star, found.by_group)
    used, place = np.unique(by_group, return_inverse=True)
    return RecodedAttribute(tuple([*labels, Suppressed()][number] for number in used.tolist()), place.astype(np.int32))
