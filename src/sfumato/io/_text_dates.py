"""Days and moments that a dataframe or a database holds as ISO texts, and the way back to these texts."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.io._columns import to_canonical_column
from sfumato.io._type_inference import DAY, MOMENT, ZONED, match_all, parse_narrowest
from sfumato.io._values import encode_distinct

DATE_FORMAT = "%Y-%m-%d"
TIME_FORMATS = (
    ("s", "%H:%M"),
    ("s", "%H:%M:%S"),
    ("ms", "%H:%M:%S"),
    ("us", "%H:%M:%S"),
    ("s", "%-H:%M"),
    ("s", "%-H:%M:%S"),
)


def parse_text_dates(name: str, column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str] | None:
    """Return a column of ISO texts as days or moments, with how to write them; None unless every text comes back.

    Text with any other cell, or in several notations, stays text, so that no cell is published in another notation
    than it had.

    >>> column, written = parse_text_dates("born", pa.chunked_array([["1984-02-29", None]]))
    >>> column.to_pylist(), written
    ([datetime.date(1984, 2, 29), None], 's %Y-%m-%d')
    """
    if not pa.types.is_string(column.type) or not _starts_with_date(column):
        return None
    distinct, codes = encode_distinct(column)
    known = distinct.drop_null()
    found = parse_narrowest(known) if match_all(known, f"{DAY}|{MOMENT}|{ZONED}") else None
    if found is None or not pa.types.is_temporal(found.type):
        return None
    written = next(
        (each for each in _matching_formats(known[0].as_py()) if format_text_dates(found, each).equals(known)), None
    )
    if written is None:
        return None
    places = pc.index_in(distinct, value_set=known).take(codes)
    try:
        return to_canonical_column(name, pa.chunked_array([found.take(places)])), written
    except SchemaError:  # days before the year 1
        return None


def convert_text_dates(table: pa.Table, declared: Collection[str]) -> pa.Table:
    """Return a canonical table whose ISO texts are days or moments, except in columns whose type is declared."""
    for place, name in enumerate(table.column_names):
        found = None if name in declared else parse_text_dates(name, table[name])
        table = table if found is None else table.set_column(place, name, found[0])
    return table


def format_text_dates(column: pa.Array | pa.ChunkedArray, written: str) -> pa.Array | pa.ChunkedArray:
    """Write days or moments in a notation that `parse_text_dates` returned."""
    unit, _, how = written.partition(" ")
    moments = column.cast(pa.timestamp("us")) if pa.types.is_date(column.type) else column
    naive = moments.cast(pa.timestamp("us", moments.type.tz)).cast(pa.timestamp("us"))
    texts = pc.strftime(naive.cast(pa.timestamp(unit), safe=False), format=how.replace("%-H", "%H"))
    return pc.replace_substring_regex(texts, "([T ])0([0-9]:)", r"\1\2") if "%-H" in how else texts


def _starts_with_date(column: pa.ChunkedArray) -> bool:
    """Return whether the first text of a column looks like a day: the quickest way to leave out all others."""
    for chunk in column.chunks:
        texts = chunk.slice(0, 100).drop_null()
        if len(texts):
            return match_all(texts, f"{DAY}|{MOMENT}|{ZONED}")
    return False


def _matching_formats(example: str) -> list[str]:
    """Return the notations that a text may be in."""
    if len(example) == len("1984-02-29"):
        return [f"s {DATE_FORMAT}"]
    end = "Z" if example.endswith("Z") else ""
    return [f"{unit} {DATE_FORMAT}{mark}{clock}{end}" for mark, (unit, clock) in product("T ", TIME_FORMATS)]
