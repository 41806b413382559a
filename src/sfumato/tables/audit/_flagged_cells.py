"""The buckets of flagged cells in a published table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.encoding.coded_table import STARS, CodedColumn, CodedTable, encode_column
from sfumato.errors import SchemaError
from sfumato.io._type_inference import infer_column
from sfumato.io._values import encode_distinct, format_values
from sfumato.schema.roles import SENSITIVE, Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published._sensitive_values import stars_to_missing
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import BUCKET_PREFIX, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FlaggedBuckets:
    """The buckets of one attribute as groups of cells, and the bucket of every published row."""

    groups: Groups
    labels: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class FlaggedCells:
    """What an original says about flagged cells.

    `flags` say for every published row whether its cell is flagged, if it is known which original row it is; `written`
    are the attributes with flags, if they are known, and whether they contain text.
    """

    flags: Mapping[str, Mask] = field(default_factory=dict)
    written: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, table: CodedTable, original: pa.Table, rows: Ints | None) -> FlaggedCells:
        """Look up the flags of published rows in the original."""
        written = {name: pa.types.is_string(original[name].type) for name in table.flags}
        flags = {} if rows is None else {name: mask[rows] & (rows >= 0) for name, mask in table.flags.items()}
        return cls(flags, written)

    def buckets(self, shown: pa.Table, name: str, schema: Schema, weights: Ints | None = None) -> FlaggedBuckets:
        """Count the buckets of an attribute; a flagged cell published outside any bucket is a bucket of its own."""
        labels = read_bucket_numbers(shown, name)
        if labels is None:
            raise SchemaError(
                f"The published table has no column {BUCKET_PREFIX + name!r}, so the flagged cells of {name!r} cannot "
                "be judged; give the table with its buckets or a schema without flags."
            )
        open_cells = self._open_cells(shown[name], name) & (labels == NOT_PUBLISHED)
        labels[open_cells] = int(labels.max(initial=-1)) + 1 + np.arange(np.count_nonzero(open_cells))
        inside = labels != NOT_PUBLISHED
        column = self.column(shown[name].filter(pa.array(inside)), name, schema)
        number = int(labels.max(initial=-1)) + 1
        many = None if weights is None else weights[inside]
        groups = Groups.from_rows(labels[inside], number, [column], SENSITIVE, weights=many)
        return FlaggedBuckets(groups, labels.astype(np.int32))

    def _open_cells(self, column: pa.ChunkedArray, name: str) -> Mask:
        """Return which cells are flagged and not suppressed, as far as flags are known."""
        if name not in self.flags:
            return np.zeros(len(column), dtype=np.bool_)
        return np.asarray(self.flags[name] & ~suppressed_cells(column))

    def column(self, cells: pa.ChunkedArray, name: str, schema: Schema) -> CodedColumn:
        """Code the cells in buckets; numbers and dates among generalized cells are text."""
        if pa.types.is_string(cells.type) and not self._is_text(name, schema):
            distinct, codes = encode_distinct(cells)
            cells = infer_column(distinct, codes, missing=())
        return encode_column(name, cells, schema)

    def _is_text(self, name: str, schema: Schema) -> bool:
        if name in self.written:
            return self.written[name]
        hierarchy = schema.hierarchies.get(name)
        if hierarchy is not None and Scale(hierarchy.scale) is Scale.NUMERIC:
            return False  # intervals are built of numbers and dates alone, on whatever scale
        if name in schema.scales:
            return Scale(schema.scales[name]) in {Scale.NOMINAL, Scale.CATEGORICAL}
        return name in schema.orders or hierarchy is not None


def whole_buckets(
    shown: pa.Table, name: str, schema: Schema, weights: Ints | None = None, persons: Ints | None = None
) -> FlaggedBuckets:
    """Count the buckets of an attribute of which every cell is sensitive; a cell in no bucket is one of its own.

    `persons` are the rows that belong to somebody, if some do not: a row of nobody shows nothing outside a bucket.
    """
    labels = read_bucket_numbers(shown, name)
    assert labels is not None  # noqa: S101 - asked only where there are buckets
    nobody = np.zeros(len(labels), dtype=np.bool_) if persons is None else ~np.isin(np.arange(len(labels)), persons)
    alone = (labels == NOT_PUBLISHED) & ~nobody
    labels = np.where(alone, int(labels.max(initial=-1)) + np.cumsum(alone), labels)
    inside = labels != NOT_PUBLISHED
    column, _ = stars_to_missing(shown[name].filter(pa.array(inside)))
    many, number = None if weights is None else weights[inside], int(labels.max(initial=-1)) + 1
    groups = Groups.from_rows(labels[inside], number, [encode_column(name, column, schema)], SENSITIVE, weights=many)
    return FlaggedBuckets(groups, labels.astype(np.int32))


def check_flagged_cells_hidden(shown: pa.Table, buckets: Ints, name: str, flagged: Mask) -> None:
    """Refuse a table that hides fewer cells than the original flags, so that some stand open for certain."""
    hidden = np.count_nonzero(suppressed_cells(shown[name]) | (buckets != NOT_PUBLISHED))
    left_out = len(flagged) - shown.num_rows
    lacking = np.count_nonzero(flagged) - hidden - left_out
    if lacking > 0:
        raise SchemaError(
            f"At least {lacking:,} flagged cells of {name!r} are published openly, in no bucket, and expose their "
            "persons entirely; hide them, or leave the original out to measure the buckets alone."
        )


def suppressed_cells(column: pa.ChunkedArray) -> Mask:
    """Return which cells of a published column are suppressed."""
    stars = pc.fill_null(pc.match_substring_regex(format_values(column), STARS), fill_value=False)
    return np.asarray(stars)
