"""Rows are chosen by their own cells alone, whatever the others hold."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import to_canonical
from sfumato.queries.query import Query, matching_rows, natural_column, number_column, text_column


def chosen(column, condition, read=natural_column):
    table = to_canonical(pa.table({"x": column}))
    columns = {"x": read("x", table["x"])}
    return np.flatnonzero(matching_rows(Query(where={"x": condition}).conditions, columns, table.num_rows)).tolist()


def test_numbers_are_compared_as_numbers():
    numbers = [5, None, 10, 7.5]
    assert chosen(numbers, 5) == [0]
    assert chosen(numbers, "5.0") == [0]
    assert chosen(numbers, {5, 10}) == [0, 2]
    assert chosen(numbers, (6, 10)) == [2, 3]
    assert chosen(numbers, ("!=", 5)) == [2, 3]
    assert chosen(numbers, ("<", 7.5)) == [0]


def test_texts_are_equal_or_not():
    texts = ["a", "b", None, "a"]
    assert chosen(texts, "a") == [0, 3]
    assert chosen(texts, ["a", "b"]) == [0, 1, 3]
    assert chosen(texts, ("!=", "a")) == [1]
    with pytest.raises(InvalidParameterError, match="'x' needs an order"):
        chosen(texts, (">", "a"))


def test_dates_are_ordered_and_one_moment_among_them_changes_nothing():
    days = [date(2020, 1, 5), date(2021, 1, 5), None]
    moments = [datetime(2020, 1, 5), datetime(2021, 1, 5), datetime(2022, 1, 5, 12)]  # noqa: DTZ001 - as tables have it
    for column in (days, moments):
        assert chosen(column, date(2020, 1, 5)) == [0]
        assert chosen(column, "2020-01-05") == [0]
        assert chosen(column, ("<=", date(2021, 1, 5))) == [0, 1]
        assert chosen(column, ("2020-06-01", "2021-06-01")) == [1]


def test_texts_that_write_numbers_are_read_one_by_one():
    mixed = ["5", " 7 ", "n/a", None, "1e400", "nan", "0x10", "1_0"]
    assert chosen(mixed, (">=", -10), number_column) == [0, 1]
    assert chosen([True, False], ("=", True), text_column) == [0]
    with pytest.raises(SchemaError, match="Column 'x' does not contain numbers"):
        chosen([date(2020, 1, 5)], 5, number_column)
