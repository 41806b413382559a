"""Totals below the last record."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.io._remarks import detect_total_row


@pytest.mark.parametrize("word", ["Total", "SUMME:", "Gesamt", "insgesamt", "合计", "Grand total"])
def test_a_row_that_is_named_a_total_is_told(word):
    assert detect_total_row(pa.table({"name": ["Eve", "Bob", "Ann", word], "n": [1, 2, 3, 9]}))


def test_a_row_of_sums_and_nothing_else_is_told():
    assert detect_total_row(pa.table({"name": ["Eve", "Bob", "Ann", None], "n": [1.5, 2, 3, 6.5]}))


@pytest.mark.parametrize(
    "columns",
    [
        {"name": ["Eve", "Bob", "Ann", "Tim"], "n": [1, 2, 3, 6]},
        {"name": ["Eve", "Bob", "Ann", None], "n": [1, 2, 3, 7]},
        {"name": ["Eve", "Bob", "Ann", None], "n": [0, 0, 0, 0]},
        {"kind": ["total", "part", "part", "total"], "n": [1, 2, 3, 4]},
        {"n": [1, 2, 3, 6]},
        {"name": ["Eve", "Total"], "n": [1, 1]},
    ],
)
def test_other_last_rows_are_records(columns):
    assert detect_total_row(pa.table(columns)) == []
