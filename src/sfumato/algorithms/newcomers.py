"""Which newcomers of a series can be published together, and who waits for a later release."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.coding.codes import CodedColumn
from sfumato.core.groups import Groups, Histogram
from sfumato.schema.missing import SENSITIVE

STEPS = 1000  # limits of all values that are tried
SINGLE, SINGLE_STEPS = 20, 60  # of so many frequent values also so many limits of one alone
DENSE = 4_000_000  # numbers at once; of very many values fewer limits are tried
Ints = npt.NDArray[np.int64]


def publishable_subset(task: TableRequest) -> Ints:
    """Return records that keep every model as one group, as many as are found; none if no such records are found.

    Where values are too frequent, a limit of them is published: of those who waited longest first, and else at random.
    All values are limited alike, or one of the most frequent alone, whichever leaves out fewer. This errs on the side
    of too few records.
    """
    rows = np.arange(task.table.n_weighted_records, dtype=np.int64)
    if _satisfy_as_one_group(task, rows):
        return rows
    order = np.lexsort((task.stream.permutation(len(rows)), -_releases_waited(task)))
    for column in task.model_columns:
        rows = _limit_frequent_values(task, column, rows, order) if len(rows) else rows
    return rows if len(rows) and _satisfy_as_one_group(task, rows) else rows[:0]


def _satisfy_as_one_group(task: TableRequest, rows: Ints) -> bool:
    """Return whether records keep every model as one group."""
    columns = [column.take(rows) for column in task.model_columns]
    whole = Groups.from_rows(np.zeros(len(rows), dtype=np.int32), 1, columns, SENSITIVE)
    return bool(satisfy_all(whole, task.models)[0])


def _releases_waited(task: TableRequest) -> Ints:
    """Return for how many releases everybody has waited."""
    return np.zeros(task.table.n_weighted_records, dtype=np.int64) if task.known is None else task.known.waited


def _limit_frequent_values(task: TableRequest, column: CodedColumn, rows: Ints, order: Ints) -> Ints:
    """Leave out records whose values are too frequent for the models of one attribute; the first in order stay."""
    models = [model for model in task.models if set(model.sensitive_attributes) <= {column.name}]
    codes, width = column.codes[rows].astype(np.int64), len(column.domain) + 1
    counts = np.bincount(codes, minlength=width)
    occurring = np.flatnonzero(counts)
    shown = np.minimum(counts[occurring], _frequency_limits(counts[occurring]))
    group, value = np.nonzero(shown)
    histogram = Histogram.from_entries(group, occurring[value], shown[group, value], groups=len(shown), width=width)
    tried = Groups(shown.sum(axis=1), {column.name: histogram}, domains={column.name: column.domain})
    kept = satisfy_all(tried, models)
    if not kept.any():
        return rows[:0]
    most = np.zeros(width, dtype=np.int64)
    most[occurring] = shown[int(np.argmax(np.where(kept, tried.sizes, -1)))]
    place = np.empty(task.table.n_weighted_records, dtype=np.int64)
    place[order] = np.arange(len(order))
    by_value = np.lexsort((place[rows], codes))
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(rows)) - starts[codes[by_value]]
    return np.sort(rows[by_value[rank < most[codes[by_value]]]])


def _frequency_limits(counts: Ints) -> Ints:
    """Return what is tried: in every row, how often every value may be published."""
    frequent = np.argsort(-counts, kind="stable")[:SINGLE]
    room = max(2, DENSE // len(counts))
    alike = np.unique(np.linspace(1, counts.max(), min(STEPS, room)).astype(np.int64))
    tried = [np.repeat(alike[:, None], len(counts), axis=1)]
    for value in frequent.tolist():
        steps = np.unique(np.linspace(0, counts[value], min(SINGLE_STEPS, room)).astype(np.int64))
        alone = np.repeat(counts[None, :], len(steps), axis=0)
        alone[:, value] = steps
        tried.append(alone)
    return np.concatenate(tried)
