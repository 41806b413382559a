"""Flagged cells in a release of a series: buckets of every attribute that stay safe from release to release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import InfeasibleError
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._balancing import (
    NOBODY,
    BucketSlots,
    Ints,
    split_at_random,
    split_by_co_members,
)
from sfumato.tables.algorithms.bucketization._sensitive_cells import (
    Buckets,
    Rows,
    SensitiveCells,
    collect_sensitive_cells,
    eligible_rows,
    flatten_conjunctions,
)
from sfumato.tables.algorithms.bucketization._series_slots import SeriesSlots, check_satisfied, signatures_of_request
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.solution import NOT_PUBLISHED, Counterfeits
from sfumato.tables.series._prior_disclosure import NO_SIGNATURE, Signatures
from sfumato.tables.series.models.m_distinct import MDistinct

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class SeriesBuckets:
    """Who is published, and the buckets of all attributes.

    Parameters
    ----------
    table : the records, with flags also for cells that are no longer flagged and must stay hidden all the same.
    kept : the records that are published.
    buckets : by attribute, the bucket of every record, `NOT_PUBLISHED` where its cell is in none.
    empty : by attribute, bucket and value of the seats on which nobody sits.
    texts : by attribute, the texts of values.
    waiting : how many of the others wait for a later release.
    """

    table: CodedTable
    kept: Rows
    buckets: Mapping[str, Buckets]
    empty: Mapping[str, tuple[Ints, Ints]]
    texts: Mapping[str, tuple[str | None, ...]]
    waiting: int

    @property
    def has_counterfeits(self) -> bool:
        """Whether some seats are nobody's."""
        return any(len(bucket) for bucket, _ in self.empty.values())

    def counterfeits(self, group: int) -> tuple[Counterfeits, ...]:
        """Return the rows that belong to nobody; they show the labels of one group."""
        return tuple(
            Counterfeits(
                name,
                np.full(len(bucket), group, dtype=np.int32),
                bucket.astype(np.int32),
                value,
                pa.array(self.texts[name], pa.string()),
            )
            for name, (bucket, value) in self.empty.items()
            if len(bucket)
        )


def is_in_series(task: TableRequest) -> bool:
    """Return whether a release is one of a series, by its ledger or by what it promises."""
    return task.known is not None or any(not model.monotone for model in flatten_conjunctions(task.models))


def check_series(algorithm: TableAlgorithm, task: TableRequest) -> str | None:
    """Return in one sentence why promises cannot be kept by buckets that stay the same, or nothing."""
    name = type(algorithm).__name__
    for model in flatten_conjunctions(task.models) if is_in_series(task) else ():
        if model.sensitive_attributes and (model.compares_with_table or model.needs_original):
            return (
                f"{name} does not support {model!r} in a series, because buckets that stay the same cannot follow a "
                "distribution that changes; promise MInvariance instead."
            )
        if isinstance(model, MDistinct):
            return f"{name} does not support {model!r}, which is about classes of values; promise MInvariance."
    return None


def without_series_models(task: TableRequest) -> TableRequest:
    """Return the task without promises about series, which have refusals of their own."""
    return replace(task, models=[model for model in task.models if not model.applies_to_buckets])


def assign_series_buckets(
    algorithm: TableAlgorithm, task: TableRequest, *, allow_shown: bool, halve: bool
) -> SeriesBuckets:
    """Find buckets for a release of a series, so that all releases together keep everybody's promise.

    Parameters
    ----------
    algorithm : that asks, for its name.
    task : what is asked for.
    allow_shown : whether cells may be flagged that earlier releases showed.
    halve : for attributes that change, whose releases stand alone, as for `LocalAnatomy`.
    """
    name = type(algorithm).__name__
    asked, task = task, replace(task, table=_flag_persistent_cells(task))
    cells = collect_sensitive_cells(task)
    alone = [each for each in cells if not _needs_stable_buckets(task, each)]
    columns = {column.name: column for column in (*task.table.quasi, *task.table.sensitive)}
    attributes = [
        _SeriesAttribute.of(asked, each, columns[each.name]) for each in cells if _needs_stable_buckets(task, each)
    ]
    if not allow_shown:
        for each in attributes:
            each.check_visible()
    kept, waiting = np.arange(task.table.rows), 0
    first = task.known is None or not task.known.is_any_known
    while True:
        kept = eligible_rows(alone, kept, replace(task, max_suppressed=task.max_suppressed + waiting))
        found = {each.name: each.slots(kept, first=first) for each in attributes}
        left = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(out for *_, out in found.values())]))
        if not len(left):
            break
        kept = np.setdiff1d(kept, left, assume_unique=True)
        waiting += 0 if first else len(left)
    if not len(kept):
        raise InfeasibleError(f"{name} can publish nobody: all {waiting:,} newcomers wait; promise less.")
    nobody = np.full(task.table.rows, NOT_PUBLISHED, dtype=np.int32)
    buckets = dict.fromkeys(task.table.flags, nobody)
    buckets |= {each.name: each.buckets(kept, task.stream, halve=halve) for each in alone}
    empty = {}
    for each in attributes:
        seats, bucket, _ = found[each.name]
        check_satisfied(name, each.models, each.column, replace(seats, signature=bucket), each.known.width)
        there = seats.row != NOBODY
        buckets[each.name] = nobody.copy()
        buckets[each.name][seats.row[there]] = bucket[there]
        empty[each.name] = bucket[~there], seats.value[~there]
    texts = {each.name: each.known.texts for each in attributes}
    return SeriesBuckets(task.table, kept, buckets, empty, texts, waiting)


def _flag_persistent_cells(task: TableRequest) -> CodedTable:
    """Flag also cells that are no longer flagged, and that may not be shown, because this would expose others."""
    flags = dict(task.table.flags)
    for name, mask in flags.items():
        known = None if task.known is None else task.known.signatures[name]
        if known is not None and known.companies is not None:
            flags[name] = mask | ((known.of_case != NO_SIGNATURE) & ~known.shown & ~known.companies.may_show)
    return replace(task.table, flags=flags)


def _needs_stable_buckets(task: TableRequest, cells: SensitiveCells) -> bool:
    """Return whether buckets must stay the same: of values that do not change, or if something promises it."""
    promised = any(not model.monotone for model in cells.models)
    return promised or (task.known is not None and task.known.signatures[cells.name].permanent)


@dataclass(frozen=True, eq=False)
class _SeriesAttribute:
    """One attribute with sensitive cells: whose these are, and what is known of them."""

    task: TableRequest
    column: CodedColumn
    cells: Bools
    flagged: Bools
    models: Sequence[GroupModel]
    known: Signatures

    @classmethod
    def of(cls, task: TableRequest, cells: SensitiveCells, column: CodedColumn) -> _SeriesAttribute:
        """Look up what is known; `task` has the flags as they were given."""
        flagged = task.table.flags.get(column.name, cells.cells)
        return cls(task, column, cells.cells, flagged, cells.models, signatures_of_request(task, column))

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    @property
    def shown(self) -> Bools:
        """Whose value an earlier release showed, and is the same now."""
        return self.known.shown & self.known.permanent

    def check_visible(self) -> None:
        """Refuse flags that come too late."""
        late = int(np.count_nonzero(self.flagged & self.shown))
        if late:
            raise InfeasibleError(
                f"{late:,} cells of {self.name!r} are flagged that earlier releases showed, which cannot be taken "
                "back; drop these flags, or hide the cells from now on by allow_shown=true."
            )

    def slots(self, kept: Rows, *, first: bool) -> tuple[BucketSlots, Ints, Ints]:
        """Seat the cells of some records; return the seats, the bucket of each, and who is left out.

        Who is in a component with somebody whose cell is shown stays with her company, and nobody joins it. Cells that
        were shown hide nobody, so they are seated apart, and none of them waits.
        """
        known, width, stream = self.known, self.known.width, self.task.stream
        m = max(model.min_group_size for model in self.models)
        series = SeriesSlots(task=self.task, column=self.column, m=m, known=known, first=first)
        rows = kept[self.cells[kept]]
        signed, nobody = known.of_case[rows] != NO_SIGNATURE, np.full(len(self.cells), NOBODY, dtype=np.int64)
        company = nobody if known.companies is None else known.companies.of_case
        late = self.shown[rows]
        closed = signed & ~late & (False if known.companies is None else known.companies.closed[rows])
        seats = series.slots(rows[~closed & ~late])
        bucket = split_by_co_members(seats, company, width, stream)
        apart = series.by_co_members(rows[closed], company)
        own = replace(series, newcomers="counterfeits").slots(rows[late])
        more = split_at_random(own, width, stream)
        ends = np.cumsum([int(each.max(initial=-1)) + 1 for each in (bucket, apart.signature)])
        return (
            seats + apart + own,
            np.concatenate([bucket, apart.signature + ends[0], more + ends[1]]),
            series.left_out,
        )
