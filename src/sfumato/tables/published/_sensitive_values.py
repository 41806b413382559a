"""The sensitive values of a whole published table, which groups are compared with when only some are looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.encoding._counts import sparse_counts
from sfumato.encoding.coded_table import CodedColumn, encode_column
from sfumato.errors import SchemaError
from sfumato.io._type_inference import infer_column
from sfumato.io._values import dictionary_encode, encode_distinct
from sfumato.schema.roles import SENSITIVE
from sfumato.schema.schema import Schema
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import NOT_PUBLISHED, SUPPRESSED_TEXT

Counts = npt.NDArray[np.int64]


# What buckets hold, and in what whole numbers the values that are expected of their records are counted.

MAX_COUNT = 2**62


@dataclass(frozen=True, eq=False)
class BucketContents:
    """The values of some buckets: `codes[offsets[b]:offsets[b + 1]]` occur in bucket b, and `counts` says how often.

    `scale` is what shares of values are multiplied by, so that they are whole numbers in every bucket of the table;
    None if such numbers would be too large. `numbers` are the published numbers of the buckets, where records of the
    table are looked at that are only some of those in these buckets.
    """

    offsets: Counts
    codes: npt.NDArray[np.int32]
    counts: Counts
    scale: int | None
    numbers: pa.Array | None = None

    @classmethod
    def from_rows(cls, bucket: Counts, column: CodedColumn, weights: Counts | None, records: int) -> BucketContents:
        """Count what buckets hold, given all cells in them; the table has so many records."""
        buckets = int(bucket.max(initial=-1)) + 1
        found = sparse_counts(bucket, buckets, column.codes, len(column.domain) + 1, weights)
        sizes = np.bincount(bucket, weights, minlength=buckets).astype(np.int64)
        return cls(*found, find_integer_scale(np.unique(sizes[sizes > 0]).tolist(), records))

    @classmethod
    def from_counts(
        cls, numbers: pa.ChunkedArray, column: CodedColumn, counts: Counts, scale: int | None
    ) -> BucketContents:
        """Take what was counted of some whole buckets: the bucket of every count, and the value."""
        encoded = dictionary_encode(numbers)
        bucket = encoded.indices.to_numpy()
        found = sparse_counts(bucket, len(encoded.dictionary), column.codes, len(column.domain) + 1, counts)
        return cls(*found, scale, encoded.dictionary)

    @property
    def sizes(self) -> Counts:
        """The number of records of every bucket."""
        sums = np.append(0, np.cumsum(self.counts))
        return np.asarray(sums[self.offsets[1:]] - sums[self.offsets[:-1]])

    def places(self, cells: pa.ChunkedArray) -> Counts:
        """Find the buckets of some records by their published numbers; `NOT_PUBLISHED` for records in none."""
        found = pc.index_in(cells.combine_chunks(), value_set=self.numbers)
        return np.asarray(found.fill_null(NOT_PUBLISHED).to_numpy(zero_copy_only=False).astype(np.int64))

    def add_single_cells(self, codes: npt.NDArray[np.integer]) -> BucketContents:
        """Add a bucket of its own for each of some cells."""
        last = int(self.offsets[-1])
        return replace(
            self,
            offsets=np.concatenate([self.offsets, last + 1 + np.arange(len(codes))]),
            codes=np.concatenate([self.codes, codes.astype(np.int32)]),
            counts=np.concatenate([self.counts, np.ones(len(codes), dtype=np.int64)]),
        )


def find_integer_scale(sizes: Collection[int], records: int) -> int | None:
    """Return a number that the sizes of all buckets of a table divide; None if counts would be too large by it.

    Parameters
    ----------
    sizes : the sizes that buckets have, each once.
    records : how many records the table has.
    """
    scale = lcm(*sizes)
    return scale if scale * records * max(sizes, default=1) < MAX_COUNT else None


@dataclass(frozen=True)
class BucketSizes:
    """How large the buckets of an attribute are, in a table of so many records: in all, and which sizes occur."""

    records: int
    cells: int
    buckets: int
    different: frozenset[int]

    @classmethod
    def from_pieces(cls, pieces: Iterable[pa.Array | pa.ChunkedArray], records: int) -> BucketSizes:
        """Look at the sizes of all buckets, some at a time."""
        cells, buckets, different = 0, 0, set[int]()
        for sizes in pieces:
            cells, buckets = cells + int(pc.sum(sizes).as_py() or 0), buckets + len(sizes)
            different.update(sizes.unique().to_pylist())
        return cls(records, cells, buckets, frozenset(different))

    @property
    def scale(self) -> int | None:
        """What shares of values are multiplied by, see `BucketContents`."""
        return find_integer_scale(self.different, self.records)


@dataclass(frozen=True, eq=False, repr=False)
class SensitiveTotals:
    """The distinct cells of every sensitive attribute of a whole table, their codes, and how often each code occurs.

    A missing or suppressed cell may be any value.
    """

    records: int
    cells: Mapping[str, pa.Array]
    columns: Mapping[str, CodedColumn]
    counts: Mapping[str, Counts]

    @classmethod
    def count(
        cls, records: int, values: Mapping[str, tuple[pa.ChunkedArray, Counts]], schema: Schema
    ) -> SensitiveTotals:
        """Count a table of so many records, given the cells of every sensitive attribute and how many have each."""
        cells, columns, counts = {}, {}, {}
        for name in schema.sensitive:
            given, weights = values[name]
            column, _ = stars_to_missing(given)
            if int(weights.sum()) != records:
                raise SchemaError(
                    f"{int(weights.sum()):,} records have a cell of {name!r}, but the table has {records:,} records; "
                    "count its cells, the missing ones, too."
                )
            read = encode_column(name, column, schema)
            one = np.zeros(len(weights), dtype=np.int64)
            counts[name] = Groups.from_rows(one, 1, [read], SENSITIVE, weights=weights).totals[name]
            distinct, places = encode_distinct(given)
            used, rows = np.unique(places.fill_null(-1).to_numpy(zero_copy_only=False), return_index=True)
            cells[name] = distinct.take(pa.array(used[used >= 0]))
            columns[name] = read.take(rows[used >= 0])
        return cls(records, cells, columns, counts)

    def matches(self, other: SensitiveTotals) -> bool:
        """Return whether another table has the same number of records and the same values, each as often."""
        return (
            (self.records, self.counts.keys()) == (other.records, other.counts.keys())
            and all(column.domain.texts == other.columns[name].domain.texts for name, column in self.columns.items())
            and all(np.array_equal(counts, other.counts[name]) for name, counts in self.counts.items())
        )

    def select(self, names: Sequence[str]) -> SensitiveTotals:
        """Return the totals of some attributes."""
        return replace(
            self,
            cells={name: self.cells[name] for name in names},
            columns={name: self.columns[name] for name in names},
            counts={name: self.counts[name] for name in names},
        )

    def texts(self, name: str) -> list[str]:
        """Return the values of an attribute that occur."""
        counted = zip(self.columns[name].domain.texts, self.counts[name].tolist(), strict=False)
        return [text for text, count in counted if count]

    def encode(self, name: str, column: pa.ChunkedArray) -> CodedColumn:
        """Code the cells of some groups as those of the whole table."""
        distinct, places = encode_distinct(column)
        known, nowhere = self.columns[name], len(self.cells[name])
        found = pc.index_in(distinct.cast(self.cells[name].type), value_set=self.cells[name]).fill_null(nowhere)
        place = np.append(found.to_numpy(zero_copy_only=False), nowhere + 1)
        place = place[places.fill_null(len(distinct)).to_numpy(zero_copy_only=False)]
        if (place == nowhere).any():
            raise SchemaError(
                f"Column {name!r} has values that were not found in the whole table; count those of the table that the "
                "groups come from."
            )
        codes = np.concatenate([known.codes, [0, known.domain.missing]]).astype(known.codes.dtype)
        return CodedColumn(known.domain, codes[place])


def stars_to_missing(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """Treat suppressed cells as missing; the others may have been numbers or dates."""
    if not pa.types.is_string(column.type):
        return column, False
    distinct, codes = encode_distinct(column)
    stars = pc.match_substring_regex(distinct, rf"\A\s*[{SUPPRESSED_TEXT}]+\s*\z")
    if not pc.any(stars).as_py():
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, distinct)]), False
    known = pc.invert(stars)
    places = pc.if_else(known, pc.subtract(pc.cumulative_sum(known.cast(pa.int32())), 1), None)
    return infer_column(distinct.filter(known), places.take(codes), missing=()), True
