"""What happens to a count of a log never depends on rows that were not paid for."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from purse import Purse
from sfumato.errors import SfumatoError
from sfumato.transactions.dp import private_item_counts

COLUMNS = ("who", "query", "click")
ODD = [
    *(
        None,
        "",
        " ",
        0,
        1,
        1.0,
        -0.0,
        2**64,
        10**400,
        float("inf"),
        float("nan"),
        True,
        "nan",
        "\ud800",
        "\0",
        "a",
        "A",
    ),
    *("a", "A", pd.NaT, pd.Timestamp(1), (1, 2), {"a": 1}, b"x", [1], "x" * 10_000),
]
ROWS = st.lists(st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)), max_size=5)
EPSILONS = [1, 0.5, "8e-12", "1e-12", 10**6, 0, -1, float("nan"), "x", 10**400]
DELTAS = ["1e-6", 0.5, "1e-18", 0, 1, -1, float("nan"), "x"]


def happening(rows, asked):
    """Return what an analyst sees beside the items and their counts, and what was paid."""
    log = pd.DataFrame({name: pd.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(COLUMNS)})
    purse = Purse()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = private_item_counts(log, person="who", accountant=purse, analyst="ann", **asked)
        except SfumatoError as error:
            return type(error), str(error), purse.costs
    return found.scale, found.threshold, found.leak_probability, found.to_frame().schema, purse.costs


@examples(100)
@given(
    rows=ROWS,
    more=st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)),
    asked=st.fixed_dictionaries({
        "item": st.sampled_from(["query", ["query", "click"], "who", [], "no"]),
        "max_items": st.sampled_from([1, 1, 5, 0, 2**40, 10**30, 1.5]),
        "epsilon": st.one_of(st.just(1), st.sampled_from(EPSILONS)),
        "delta": st.one_of(st.just("1e-6"), st.sampled_from(DELTAS)),
        "keep": st.sampled_from(["random", "random", "frequent", "all"]),
    }),
)  # fmt: skip
def test_a_count_of_a_log_is_refused_alike_or_answered_whatever_one_more_row_holds(rows, more, asked):
    seen = [happening(each, asked) for each in (rows, [*rows, more], [])]
    assert repr(seen[1]) == repr(seen[2]) == repr(seen[0])
    assert len(seen[0][-1]) == 1


@pytest.mark.parametrize("at", range(len(COLUMNS)))
def test_a_log_is_counted_whatever_a_cell_holds(at):
    usual = ("ann", "a", "b")
    asked = {"item": ["query", "click"], "max_items": 2, "epsilon": 1, "delta": "1e-6"}
    rows = [tuple(odd if place == at else cell for place, cell in enumerate(usual)) for odd in ODD]
    seen = {repr(happening([usual, row], asked)) for row in rows}
    assert len(seen) == 1
    assert "Error" not in seen.pop()
