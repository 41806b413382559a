"""Totals below the last record, which would be taken for a person."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.numbers import is_metric_type

MIN_RECORDS = 3
WORDS = (
    r"(?i)\A\W*(?:grand )?(?:total|totals|sum|subtotal|summe|gesamt|insgesamt|zusammen|gesamtsumme|summa|somme|suma"
    r"|totale|totaal|合计|总计|总和|共计|小计)\W*\z"
)


def detect_total_row(table: pa.Table) -> list[str]:
    """Say that the last row seems to be a total: it is named so, or has sums and nothing else.

    >>> detect_total_row(pa.table({"name": ["Eve", "Bob", "Ann", None], "cost": [1, 2, 3, 6]}))[0][:42]
    'The last row seems to hold totals, no reco'
    """
    records = table.num_rows - 1
    if records < MIN_RECORDS:
        return []
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    numbers = [
        column for column in table.columns if is_metric_type(column.type) and not pa.types.is_temporal(column.type)
    ]
    named = any(_is_labeled_total(column, records) for column in texts)
    bare = texts and all(not column[records].is_valid for column in texts)
    if not named and not (bare and any(_is_sum(column, records) for column in numbers)):
        return []
    return ["The last row seems to hold totals, no record; leave it out with skip_last=1."]


def _is_labeled_total(column: pa.ChunkedArray, records: int) -> bool:
    last, others = column.slice(records), column.slice(0, records)
    if not pc.any(pc.match_substring_regex(last, WORDS)).as_py():
        return False
    return not pc.any(pc.match_substring_regex(others.unique(), WORDS)).as_py()


def _is_sum(column: pa.ChunkedArray, records: int) -> bool:
    last, total = column[records].as_py(), pc.sum(column.slice(0, records).cast(pa.float64(), safe=False)).as_py()
    return bool(last and total and abs(last - total) <= abs(total) * 1e-9)
