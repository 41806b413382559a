"""What buckets hold, and in what whole numbers the values that are expected of their records are counted."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from math import lcm

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.codes import CodedColumn
from sfumato.coding.histograms import Counts, sparse_counts
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.table.values import dictionary_encode

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
