"""What is published does not tell the order in which the original came."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding import _row_order
from sfumato.encoding._row_order import ColumnTexts, order_rows, rank_column
from strategies import tables

TEXTS = st.lists(
    st.none() | st.sampled_from(["", "*", "[1, 2]", "b", "é", "\U0001f600"]), min_size=1, max_size=6, unique=True
)


def rows_of(table):
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@given(tables(missing=True), st.randoms(use_true_random=False))
@pytest.mark.parametrize("largest", [_row_order.LARGEST_KEY, 40])
def test_any_order_of_rows_is_published_alike(largest, table, random):
    order = list(range(table.num_rows))
    random.shuffle(order)
    published = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_order, "LARGEST_KEY", largest)
        for some in (table, table.take(order)):
            ranked = [rank_column(column) for column in some.columns]
            published.append(rows_of(some.take(order_rows(ranked, some.num_rows))))
    assert published[0] == published[1]


@given(tables(("age", "zip"), missing=True))
def test_rows_are_ordered_by_value_and_missing_comes_last(table):
    ranked = [rank_column(column) for column in table.columns]
    found = rows_of(table.take(order_rows(ranked, table.num_rows)))
    expected = sorted(found, key=lambda row: [(cell is None, cell if cell is not None else "") for cell in row])
    assert found == expected


@given(TEXTS, st.data())
def test_texts_are_given_back_and_ranked(texts, data):
    codes = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=20)), dtype=np.int32)
    cells = ColumnTexts(pa.array(texts, pa.string()), codes)
    shown = [texts[code] for code in codes]
    assert cells.array().to_pylist() == shown
    ranks, width = cells.ranks()
    assert ranks.max() < width
    order = order_rows([(ranks, width)], len(codes))
    expected = sorted(shown, key=lambda text: (text is None, text or ""))
    assert [shown[row] for row in order] == expected


def test_labels_that_are_published_alike_cannot_be_told_by_their_place():
    cells = ColumnTexts(pa.array(["*", None, "*", None]), np.array([2, 0, 3, 1, 2], dtype=np.int32))
    ranks, _ = cells.ranks()
    assert ranks.tolist() == [0, 0, ranks[2], ranks[2], 0]
    assert cells.array().to_pylist() == ["*", "*", None, None, "*"]
    assert len(cells.array().dictionary) == 1


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        (pa.int64(), ["100", "30", None], [30, 100, None]),
        (pa.float64(), ["1e-05", "-2", "0.5"], [-2.0, 1e-05, 0.5]),
        (pa.bool_(), ["true", "false"], [False, True]),
        (pa.date32(), ["2000-02-01", "1999-12-31"], [date(1999, 12, 31), date(2000, 2, 1)]),
        (pa.timestamp("us"), ["2000-01-01T10:00:00"], [datetime(2000, 1, 1, 10)]),  # noqa: DTZ001 - naive, as tables are
        (pa.string(), ["b", "a", None], ["a", "b", None]),
    ],
)
def test_values_are_published_with_their_type_and_ordered_by_it(kind, texts, values):
    cells = ColumnTexts(pa.array(texts, pa.string()), np.arange(len(texts), dtype=np.int32), kind)
    order = order_rows([cells.ranks()], len(texts))
    assert cells.array().take(order).to_pylist() == values


@given(st.lists(st.none() | st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=12))
def test_whole_numbers_near_each_other_and_far_apart_are_ranked_by_value(values):
    ranks, width = rank_column(pa.chunked_array([pa.array(values[:3], pa.int64()), pa.array(values[3:], pa.int64())]))
    assert ranks.min() >= 0
    assert ranks.max() < width
    for mine, rank in zip(values, ranks, strict=True):
        for other, its_rank in zip(values, ranks, strict=True):
            assert (rank < its_rank) == (mine is not None and (other is None or mine < other))


def test_no_rows_have_no_ranks():
    assert rank_column(pa.chunked_array([], pa.date32()))[0].tolist() == []


def test_columns_of_every_type_are_ranked():
    for values in ([True, None, False], [1.5, None, -2.0], ["b", None, "a"]):
        column = pa.chunked_array([values[:1], values[1:]])
        assert rank_column(column)[0].tolist() == [1, 2, 0]
    assert rank_column(pa.chunked_array([pa.nulls(2, pa.string())]))[0].tolist() == [0, 0]


def test_no_columns_leave_rows_in_place():
    assert order_rows([], 3).tolist() == [0, 1, 2]
