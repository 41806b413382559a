"""The sensitive values of a whole published table, which groups are compared with when only some are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.codes import CodedColumn, encode_column
from sfumato.core.groups import Groups
from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.exceptions import SchemaError
from sfumato.schema.missing import SENSITIVE
from sfumato.schema.schema import Schema
from sfumato.table.formats.inference import infer_column
from sfumato.table.values import encode_distinct

Counts = npt.NDArray[np.int64]


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
