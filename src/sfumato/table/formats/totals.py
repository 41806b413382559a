"""Totals below the last record, which would be taken for a person."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.numbers import has_distances

LEAST_RECORDS = 3
WORDS = (
    r"(?i)\A\W*(?:grand )?(?:total|totals|sum|subtotal|summe|gesamt|insgesamt|zusammen|gesamtsumme|summa|somme|suma"
    r"|totale|totaal|合计|总计|总和|共计|小计)\W*\z"
)


def total_below(table: pa.Table) -> list[str]:
    """Say that the last row seems to be a total: it is named so, or has sums and nothing else.

    >>> total_below(pa.table({"name": ["Eve", "Bob", "Ann", None], "cost": [1, 2, 3, 6]}))[0][:42]
    'The last row seems to hold totals, no reco'
    """
    records = table.num_rows - 1
    if records < LEAST_RECORDS:
        return []
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    numbers = [
        column for column in table.columns if has_distances(column.type) and not pa.types.is_temporal(column.type)
    ]
    named = any(_named(column, records) for column in texts)
    bare = texts and all(not column[records].is_valid for column in texts)
    if not named and not (bare and any(_summed(column, records) for column in numbers)):
        return []
    return ["The last row seems to hold totals, no record; leave it out with skip_last=1."]


def _named(column: pa.ChunkedArray, records: int) -> bool:
    last, others = column.slice(records), column.slice(0, records)
    if not pc.any(pc.match_substring_regex(last, WORDS)).as_py():
        return False
    return not pc.any(pc.match_substring_regex(others.unique(), WORDS)).as_py()


def _summed(column: pa.ChunkedArray, records: int) -> bool:
    last, total = column[records].as_py(), pc.sum(column.slice(0, records).cast(pa.float64(), safe=False)).as_py()
    return bool(last and total and abs(last - total) <= abs(total) * 1e-9)
