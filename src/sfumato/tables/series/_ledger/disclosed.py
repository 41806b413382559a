"""What a published table tells of one attribute: its groups, their values, and who is in which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.errors import SchemaError
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.bucketization._bisection import argsort_keys
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.published.groups import Histogram
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED, SUPPRESSED_TEXT

NOBODY = -1  # the original row of a counterfeit
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class DisclosedAttribute:
    """What is told of one attribute.

    Parameters
    ----------
    texts : the texts of the values that are published; None is a missing cell.
    group : the group of every published row, `NOT_PUBLISHED` if it is in none.
    histogram : the values of every group, as places among the texts.
    counterfeits : how many values of every group belong to nobody.
    shown : the first group that is a cell shown beside its record; all groups after it are, too.
    """

    texts: tuple[str | None, ...]
    group: Ints
    histogram: Histogram
    counterfeits: Ints
    shown: int

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.counterfeits)


def tracked_attributes(schema: Schema) -> tuple[str, ...]:
    """Return the attributes that a ledger follows: sensitive ones, and those with sensitive cells."""
    return tuple(dict.fromkeys((*schema.sensitive, *schema.flags)))


def read_disclosed(evidence: AuditContext, rows: Ints) -> Mapping[str, DisclosedAttribute]:
    """Read from a published table what it tells of every attribute that is followed.

    Parameters
    ----------
    evidence : the published table and its original.
    rows : the row of the evidence's original for every published row, `NOBODY` for a counterfeit.
    """
    return {name: _read_attribute(evidence, name, rows) for name in tracked_attributes(evidence.schema)}


def _read_attribute(evidence: AuditContext, name: str, rows: Ints) -> DisclosedAttribute:
    published = format_values(evidence.published[name])
    masked = evidence.masking.original
    source = evidence.source if masked is None else masked
    true = format_values(source[name]).take(pa.array(np.maximum(rows, 0)))
    both = pa.concat_arrays([published, true]).dictionary_encode(null_encoding="encode")
    codes = both.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    value, original = codes[: len(rows)], codes[len(rows) :]
    named = tuple(both.dictionary.to_pylist())
    group, shown = _groups(evidence, name, rows != NOBODY)
    if name not in evidence.schema.sensitive:
        value = np.where(group >= shown, original, value)
    inside = np.flatnonzero(group != NOT_PUBLISHED)
    if SUPPRESSED_TEXT in named and (value[inside] == named.index(SUPPRESSED_TEXT)).any():
        raise _masked(name)
    count = int(group.max(initial=-1)) + 1
    counterfeits = np.bincount(group[inside][rows[inside] == NOBODY], minlength=count).astype(np.int64)
    width = len(named)
    keys, counts = _counted(group[inside] * width + value[inside], count * width)
    members = inside[rows[inside] != NOBODY]
    _reject_masked(name, keys, counts, *_counted(group[members] * width + original[members], count * width))
    texts_, place = _used_texts(named, keys % width)
    histogram = Histogram.from_entries(keys // width, place, counts, groups=count, width=len(texts_))
    return DisclosedAttribute(texts_, group, histogram, counterfeits, shown)


def _groups(evidence: AuditContext, name: str, somebody: npt.NDArray[np.bool_]) -> tuple[Ints, int]:
    """Return the group of every row; cells that are shown beside their records come last, one by one.

    A quasi-identifier with sensitive cells is known where it is not hidden in a bucket, however coarse it is published:
    it counts as shown. A row of nobody shows nothing outside a bucket.
    """
    bucket = read_bucket_numbers(evidence.published, name)
    sensitive = name in evidence.schema.sensitive
    if bucket is None and sensitive:
        group = evidence.table.grouped.labels.astype(np.int64)
        return group, int(group.max(initial=-1)) + 1
    group = np.full(len(somebody), NOT_PUBLISHED, dtype=np.int64) if bucket is None else bucket.astype(np.int64)
    first = 0
    hidden = np.flatnonzero(group != NOT_PUBLISHED)
    if len(hidden):
        hidden = hidden[argsort_keys(group[hidden], int(group.max()) + 1)]
        group[hidden] = np.cumsum(np.append(0, np.diff(group[hidden]) != 0))
        first = int(group[hidden[-1]]) + 1
    alone = np.flatnonzero((group == NOT_PUBLISHED) & somebody)
    group[alone] = first + np.arange(len(alone))
    return group, first


def _counted(keys: Ints, span: int) -> tuple[Ints, Ints]:
    """Return every key once, ascending, and how often it is there; all are below `span`."""
    ordered = keys[argsort_keys(keys, span)]
    starts = np.flatnonzero(np.append(ordered[:1] >= 0, ordered[1:] != ordered[:-1]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _reject_masked(name: str, keys: Ints, counts: Ints, original: Ints, often: Ints) -> None:
    """Refuse values that are neither those of members, which are `often` there, nor of counterfeits."""
    place = np.minimum(np.searchsorted(keys, original), max(len(keys) - 1, 0))
    if len(original) and ((keys[place] != original) | (counts[place] < often)).any():
        raise _masked(name)


def _masked(name: str) -> SchemaError:
    return SchemaError(
        f"Cells of {name!r} are published masked or suppressed, so a ledger cannot tell what its groups show; "
        "leave the attribute as it is."
    )


def _used_texts(named: tuple[str | None, ...], codes: Ints) -> tuple[tuple[str | None, ...], Ints]:
    """Keep the texts that occur, in an order that does not depend on the rows."""
    used = np.flatnonzero(np.bincount(codes))
    order = sorted(used.tolist(), key=lambda code: (named[code] is None, named[code] or ""))
    place = np.zeros(len(named), dtype=np.int64)
    place[order] = np.arange(len(order))
    return tuple(named[code] for code in order), place[codes]


def value_sets(told: DisclosedAttribute) -> tuple[list[tuple[int, ...]], npt.NDArray[np.int32]]:
    """Return the sets of values that groups show, and the place of every group's; cells shown alone have -1."""
    codes, offsets = told.histogram.codes, told.histogram.offsets[: told.shown + 1]
    sizes, place = np.diff(offsets), np.full(told.groups, -1, dtype=np.int32)
    sets: list[tuple[int, ...]] = []
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        mine = np.flatnonzero(sizes == size)
        columns: list[npt.NDArray[np.integer]] = [
            np.zeros_like(mine),
            *(codes[offsets[mine] + at] for at in range(size)),
        ]
        alike = group_columns(columns, [1] + [len(told.texts)] * size)
        place[mine] = alike.labels + len(sets)
        first = mine[representative_rows(alike)]
        sets += map(tuple, codes[offsets[first][:, None] + np.arange(size)].tolist())
    return sets, place
