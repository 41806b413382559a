"""What happens to a question never depends on rows that were not paid for: a refusal, an answer, and no warning."""

from __future__ import annotations

import warnings
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.dp.accountant import Accountant
from sfumato.dp.private_table import PrivateTable
from sfumato.errors import SfumatoError

COLUMNS = ("x", "y", "day", "word", "who")
STATED = {
    "bounds": {"x": (0, 10), "y": (-1e150, 1e150), "day": (date(2020, 1, 1), date(2021, 1, 1))},
    "categories": {"word": ["a", "b", "1"]},
    "person": "who",
    "max_rows": 2,
}
ODD = [
    *(None, "", " ", 0, 1, -1, 3.5, 2**63, -(2**63), 2**64, 10**400, 1e308, -1e308, 5e-324),
    *(float("inf"), float("-inf"), float("nan"), True, "1e999", "inf", "-Infinity", "nan", "x", "\ud800", "\0"),
    *(date(2020, 5, 1), date(1, 1, 1), datetime.max, "2020-02-30", "20000-01-01", time(3, 4)),  # noqa: DTZ901 - naive, as in tables
    *(Decimal("1e999999"), Decimal("NaN"), Decimal("0.1234567890123456789"), b"bytes", (1, 2), {"a": 1}, pd.NaT, pd.NA),
    *(np.float32(1.5), np.datetime64("NaT"), np.datetime64("30000-01-01"), np.timedelta64(1, "s"), pd.Timestamp(1)),
]
REALS = [0.0, 3.5, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 5e-324, None]
ROWS = st.lists(st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)), max_size=5)
WHERES = [
    None,
    {"x": (">=", 3)},
    {"x": (0, 1e308), "word": ["a", "1"]},
    {"day": ("2020-01-01", "2020-06-30")},
    *({"x": "much"}, {"word": (">", "a")}, {"z": 1}, {"x": 10**400}, {"x": float("nan")}, {"day": 3}, {"who": 1}, 5),
]
EPSILONS = [1, 0.1, "1e-3", "8e-12", 1e-12, "1e-300", 10**6, 0, -1, float("nan"), True, "x", np.float64(0.5), 10**400]
CONFIDENCES = [0.95, 0.5, 1e-9, 1 - 1e-9, 1 - 2**-53, 0, 1, float("nan"), "x", np.float64(0.9), 10**400]
SHARES = [0.5, 0.999999, 1e-6, 0, 1, 1e-7, "0.5", float("nan"), np.float64(0.25), 10**400]
EDGES = [
    None,
    [0, 5, 10],
    [0, 1e308],
    [5, 1],
    [0],
    [0, "x"],
    [0, float("nan")],
    [0, 10**400],
    ["2020-01-01", "2021-01-01"],
]
QUESTIONS = {
    "count": lambda t, o, **cost: t.count(o["where"], **cost),
    "sum": lambda t, o, **cost: t.sum(o["column"], o["where"], **cost),
    "mean": lambda t, o, **cost: t.mean(o["column"], o["where"], **cost),
    "quantile": lambda t, o, **cost: t.quantile(o["column"], o["share"], o["where"], step=o["step"], **cost),
    "histogram": lambda t, o, **cost: t.histogram(
        o["column"], o["where"], edges=o["edges"], shape=o["shape"], branching=o["branching"], **cost
    ),
    "table": lambda t, o, **cost: t.contingency_table([o["column"], "word"], edges={o["column"]: o["edges"]}, **cost),
    "grid": lambda t, o, **cost: t.grid([o["column"], "x"], o["where"], **cost),
}
ASKED = st.fixed_dictionaries({
    "where": st.sampled_from(WHERES),
    "column": st.sampled_from(["x", "y", "y", "day", "word", "who", "z"]),
    "share": st.sampled_from(SHARES),
    "step": st.sampled_from([None, None, 1, 1e-9, -1, 10**400, float("inf")]),
    "edges": st.sampled_from(EDGES),
    "shape": st.sampled_from(["cells", "tree", "wavelet", "ring"]),
    "branching": st.sampled_from([2, 2, 16, 10**9, 1]),
})  # fmt: skip
COSTS = st.fixed_dictionaries({
    "epsilon": st.one_of(st.just(1), st.sampled_from(EPSILONS)),
    "confidence": st.one_of(st.just(0.9), st.sampled_from(CONFIDENCES)),
})  # fmt: skip


class Purse(Accountant):
    """An accountant without a file, which only counts."""

    def __init__(self):
        self.costs = []

    def bind_table(self, *_, **__):  # noqa: D102 - as that of the class
        pass

    def record_refusal(self, analyst, question, reason):
        """Count nothing."""

    def spend(self, analyst, epsilon, question, *, delta=0):  # noqa: D102 - as that of the class
        self.costs.append((analyst, epsilon, question, delta))
        return len(self.costs)


def pandas_of(rows):
    return pd.DataFrame({name: pd.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(COLUMNS)})


def happening(ask, rows, frame=pandas_of):
    """Return what an analyst sees beside the answer, and what was paid."""
    purse = Purse()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = PrivateTable(frame(rows), accountant=purse, analyst="ann", **STATED)
        try:
            ask(table)
        except SfumatoError as error:
            return type(error), str(error), purse.costs
    return "answered", "", purse.costs


def same_for_all(ask, tables, frame=pandas_of):
    first, *others = (happening(ask, rows, frame) for rows in tables)
    assert all(each == first for each in others)
    assert len(first[2]) == (first[0] == "answered")


@pytest.mark.slow
@examples(150)
@given(
    rows=ROWS,
    more=st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)),
    name=st.sampled_from([*QUESTIONS]),
    o=ASKED,
    cost=COSTS,
)
def test_a_question_is_refused_alike_or_answered_whatever_one_more_row_holds(rows, more, name, o, cost):
    same_for_all(lambda t: QUESTIONS[name](t, o, **cost), [rows, [*rows, more], []])


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_a_question_is_answered_whatever_a_row_holds(name, value):
    o = {"where": {"x": (">=", -5)}, "share": 0.9, "step": None, "shape": "tree", "branching": 2}
    o |= {"column": "y", "edges": [0, 5, 10]}
    rows = [(3, 4, "2020-02-02", "a", "ann"), (value, value, value, value, value), (1, value, None, "b", "bob")]
    ask = lambda t: QUESTIONS[name](t, o, epsilon=1, confidence=0.9)  # noqa: E731 - one line
    assert happening(ask, rows)[0] == "answered"
    same_for_all(ask, [rows, rows[:1] + rows[2:], rows[:2]])


def arrow(kind, low, high=None):
    """Return what makes a table of one type: one value for every row, or another one for rows of 0 or nothing."""

    def made(rows):
        cells = [high if high is not None and row[0] else low for row in rows]
        return pa.table({name: pa.array(cells, kind) for name in COLUMNS})

    return made


FRAMES = {
    "floats": lambda rows: pd.DataFrame(rows, columns=[*COLUMNS], dtype=float),
    "polars": lambda rows: pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Float64), orient="row"),
    "categories": lambda rows: pd.DataFrame({name: pd.Categorical([row[0] for row in rows]) for name in COLUMNS}),
    "moments": lambda rows: pd.DataFrame(
        {name: pd.Series([int(row[0] == 0) for row in rows], dtype="datetime64[ns]") for name in COLUMNS}
    ),
    "infinite": arrow(pa.float64(), 0.0, float("inf")),
    "unsigned": arrow(pa.uint64(), 0, 2**64 - 1),
    "truths": arrow(pa.bool_(), low=False, high=True),
    "spans": arrow(pa.duration("s"), 7),
    "days": arrow(pa.date32(), 0, 10**9),
    "far": arrow(pa.timestamp("s", "UTC"), 0, 2**62),
    "fine": arrow(pa.timestamp("ns"), 0, 1),
    "times": arrow(pa.time64("ns"), 0, 1),
    "decimals": arrow(pa.decimal128(38, 6), Decimal(0), Decimal(10**30) / 8),
    "lists": arrow(pa.list_(pa.int64()), [1]),
    "nothing": arrow(pa.null(), None),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_columns_of_every_type_are_read_cell_by_cell(name, kind):
    o = {
        "where": None,
        "share": 0.9,
        "step": None,
        "shape": "cells",
        "branching": 2,
        "column": "y",
        "edges": [0, 5, 10],
    }
    rows = [(each,) * len(COLUMNS) for each in REALS]
    ask = lambda t: QUESTIONS[name](t, o, epsilon=1, confidence=0.9)  # noqa: E731 - one line
    assert happening(ask, rows, FRAMES[kind])[0] == "answered"
    same_for_all(ask, [rows, rows[:-1], rows[1:], rows[:1], rows[5:6], []], FRAMES[kind])


@given(rows=ROWS, other=st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)), place=st.integers(0, 4))
def test_no_cell_changes_how_another_is_read(rows, other, place):
    place %= max(len(rows), 1)

    def read(lines):
        free = {**STATED, "person": None, "max_rows": None}
        found = PrivateTable(pandas_of(lines), accountant=Purse(), analyst="ann", **free)._stated
        numbers = (found.columns[name].values.tolist() for name in ("x", "y", "day"))  # noqa: PD011 - not a frame
        return list(zip(*numbers, found.cells("word", None)[0].tolist(), strict=True))

    before, after = read(rows), read([*rows[:place], other, *rows[place + 1 :]])
    assert repr(before[:place] + before[place + 1 :]) == repr(after[:place] + after[place + 1 :])


def test_infinite_and_huge_values_are_moved_to_the_bounds():
    rows = [
        (each, 0, None, "a", number) for number, each in enumerate(["inf", float("inf"), 1e308, "1e999", 2**70, "-inf"])
    ]
    table = PrivateTable(pandas_of(rows), accountant=Purse(), analyst="ann", **STATED)
    assert table.sum("x", epsilon=10**5).value == pytest.approx(50, abs=0.01)
    assert table.unreadable_counts["x"] == 0
