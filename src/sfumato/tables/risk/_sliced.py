"""What an adversary who knows quasi-identifiers learns from slices: all buckets that may contain the person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.io._values import encode_distinct as coded_values
from sfumato.io._values import format_distinct_values
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.published.published_table import find_bucket_column, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED, Exact, MissingCell

if TYPE_CHECKING:
    from sfumato.encoding.coded_table import CodedTable
    from sfumato.encoding.domain import Domain
    from sfumato.schema.schema import Schema
    from sfumato.tables.published.groups import Groups, Histogram
    from sfumato.tables.published.published_table import PublishedTable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class SlicedRisk:
    """The exposure of every original record: of its identity, and of each of its sensitive values."""

    identity: Floats
    values: Mapping[str, Floats]


def sliced_disclosure_risk(
    table: PublishedTable, shown: pa.Table, schema: Schema, groups: Groups, original: CodedTable
) -> SlicedRisk | None:
    r"""Compute what is learned about every person from a sliced table; None if the table is not sliced.

    A bucket $B$ matches a person $t$ by $f(t, B)$, the product over all slices of the share of $t$'s part in $B$. It
    contains $t$ with probability $f(t, B) / \sum_B f(t, B)$, and then each sensitive value next to $t$'s linked
    quasi-identifiers with its share there. Every record next to $t$'s linked quasi-identifiers in a matching bucket
    may be $t$'s.

    A table is sliced if quasi-identifiers are in buckets, which are the same for all of these and for all records,
    and all others are published unchanged. Other tables have no such products: their groups are boxes.
    """
    slices = _slices(table, shown, schema)
    if slices is None or (schema.missing is MissingPolicy.MATCHES_ALL and _has_missing(table, original)):
        return None
    bucket = read_bucket_numbers(shown, next(name for names in slices.values() for name in names))
    assert bucket is not None  # noqa: S101 - it was found before
    open_names = [name for name in schema.quasi_identifiers if not any(name in names for names in slices.values())]
    domains = {column.name: column.domain for column in original.quasi}
    columns = (*original.quasi, *original.sensitive)
    distinct = group_columns([column.codes for column in columns], [len(column.domain) + 1 for column in columns])
    rows = representative_rows(distinct)
    wanted = {column.name: column.codes[rows].astype(np.int64) for column in columns}
    parts = [_part(names, shown, domains, wanted) for names in (*slices.values(), open_names)]
    frequency = _Frequencies(parts, bucket)
    first, linked = table.first_rows, parts[-1]
    sought = [
        _SensitiveShares.of(
            groups.histograms[column.name], bucket[first], linked.shown[first], linked.wanted, wanted[column.name]
        )
        for column in original.sensitive
    ]
    found = np.zeros((2 + len(sought), len(rows)))
    for chunk, matching in frequency.chunks():
        found[0, chunk] = matching.sum(axis=1).ravel()
        found[1, chunk] = matching.sign().multiply(frequency.linked(chunk)).sum(axis=1).ravel()
        for a, each in enumerate(sought):
            found[2 + a, chunk] = matching.multiply(each.shares[each.row[chunk]]).sum(axis=1).ravel()
            found[2 + a, chunk] += matching.multiply(each.unknown[linked.wanted[chunk]]).sum(axis=1).ravel()
    label = distinct.labels
    identity = _quotient(np.ones(len(rows)), found[1])[label]
    names = (column.name for column in original.sensitive)
    return SlicedRisk(identity, {name: _quotient(found[2 + a], found[0])[label] for a, name in enumerate(names)})


def _slices(table: PublishedTable, shown: pa.Table, schema: Schema) -> dict[str, list[str]] | None:
    """Find the slices in buckets, by the column of their buckets; None if the table is not sliced."""
    slices: dict[str, list[str]] = {}
    for name in schema.quasi_identifiers:
        found = find_bucket_column(shown.column_names, name)
        if found is not None:
            slices.setdefault(found, []).append(name)
    if not slices or schema.flags:
        return None
    numbers = [read_bucket_numbers(shown, names[0]) for names in slices.values()]
    arrays = [array for array in numbers if array is not None]
    buckets = [int(array.max()) + 1 for array in arrays]
    if any(NOT_PUBLISHED in array for array in arrays) or {len(group_columns(arrays, buckets))} != set(buckets):
        return None
    outside = [column for column in table.columns if not any(column.name in names for names in slices.values())]
    exact = not any(len(column.intervals) or len(column.sets) for column in outside) and all(
        isinstance(label, Exact | MissingCell) for column in outside for label in column.others.values()
    )
    return slices if exact else None


def _has_missing(table: PublishedTable, original: CodedTable) -> bool:
    """Return whether some quasi-identifier is missing, in the published table or in the original."""
    shown = any(None in column.texts or column.mask_suppressed().any() for column in table.columns)
    return shown or any((column.codes == column.domain.missing).any() for column in original.quasi)


@dataclass(frozen=True, eq=False)
class _SliceCells:
    """The cells of records in one slice, and the cells searched for there: equal numbers are equal cells."""

    shown: Ints
    wanted: Ints
    width: int


def _part(
    names: Sequence[str], shown: pa.Table, domains: Mapping[str, Domain], wanted: Mapping[str, Ints]
) -> _SliceCells:
    rows = shown.num_rows
    if not names:
        some = next(iter(wanted.values()), np.zeros(1))
        return _SliceCells(np.zeros(rows, dtype=np.int64), np.zeros(len(some), dtype=np.int64), 1)
    columns = [np.concatenate([_encoded(shown[name], domains[name]), wanted[name]]) for name in names]
    joint = group_columns(columns, [len(domains[name]) + 2 for name in names])
    labels = joint.labels.astype(np.int64)
    return _SliceCells(labels[:rows], labels[rows:], len(joint))


def _encoded(column: pa.ChunkedArray, domain: Domain) -> Ints:
    """Code cells; those outside the domain have a code after all others."""
    distinct, codes = coded_values(column)
    place = pc.index_in(format_distinct_values(distinct), value_set=pa.array(domain.texts, pa.string()))
    look_up = np.append(place.fill_null(domain.missing + 1).to_numpy(zero_copy_only=False), domain.missing)
    return np.asarray(look_up[codes.fill_null(len(distinct)).to_numpy(zero_copy_only=False)].astype(np.int64))


class _Frequencies:
    """The frequency of every part in every bucket, as sparse matrices: an index from parts to buckets."""

    def __init__(self, parts: Sequence[_SliceCells], bucket: Ints) -> None:
        from scipy.sparse import csr_array

        self.sizes = np.bincount(bucket).astype(np.float64)
        self._wanted = [part.wanted for part in parts]
        self._matrices = []
        for part in parts:
            shape = (part.width, len(self.sizes))
            counted = csr_array((1 / self.sizes[bucket], (part.shown, bucket)), shape=shape)
            counted.sum_duplicates()
            self._matrices.append(counted)

    def linked(self, chunk: slice) -> Any:
        """Count, for some people, the records of every bucket whose last part equals theirs."""
        return self._matrices[-1][self._wanted[-1][chunk]].multiply(self.sizes)

    def chunks(self) -> Iterator[tuple[slice, Any]]:
        """Yield people and how they match the buckets, a bounded number of cells at a time."""
        lengths = sum(
            np.diff(matrix.indptr)[wanted] for matrix, wanted in zip(self._matrices, self._wanted, strict=True)
        )
        total = np.cumsum(lengths)
        start = 0
        while start < len(total):
            before = total[start - 1] if start else 0
            stop = max(int(np.searchsorted(total, before + CELLS_AT_ONCE, side="right")), start + 1)
            chunk = slice(start, stop)
            pairs = zip(self._matrices, self._wanted, strict=True)
            matching = None
            for matrix, wanted in pairs:
                mine = matrix[wanted[chunk]]
                matching = mine if matching is None else matching.multiply(mine)
            yield chunk, matching
            start = stop


@dataclass(frozen=True, eq=False)
class _SensitiveShares:
    """The shares of one sensitive attribute's values next to every linked part in every bucket.

    Row `row[i]` of `shares` belongs to person i's linked part and value; a row of `unknown` belongs to a part, for
    cells that may be any value.
    """

    shares: Any
    unknown: Any
    row: Ints

    @classmethod
    def of(cls, histogram: Histogram, bucket: Ints, linked: Ints, wanted: Ints, value: Ints) -> _SensitiveShares:
        """Index the histogram; `bucket` and `linked` are those of its groups, `wanted` and `value` those of people."""
        from scipy.sparse import csr_array

        width, buckets = histogram.width, int(bucket.max()) + 1
        group, sizes = histogram.rows, histogram.sizes
        keys, row = np.unique(linked[group] * width + histogram.codes, return_inverse=True)
        entries = (histogram.counts / sizes[group], (row.ravel(), bucket[group]))
        shares = csr_array(entries, shape=(len(keys) + 1, buckets))
        parts = int(max(linked.max(), wanted.max())) + 1
        lost = np.flatnonzero(histogram.missing)
        entries = (histogram.missing[lost] / sizes[lost], (linked[lost], bucket[lost]))
        unknown = csr_array(entries, shape=(parts, buckets))
        sought = wanted * width + value
        place = np.searchsorted(keys, sought)
        return cls(shares, unknown, np.where(np.append(keys, -1)[place] == sought, place, len(keys)))


def _quotient(amount: Floats, whole: Floats) -> Floats:
    """Divide; a person whom no bucket matches is not exposed."""
    return np.asarray(np.divide(amount, whole, out=np.zeros_like(whole), where=whole > 0))
