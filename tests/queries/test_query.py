"""Conditions in every form, and refusals that name no value."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.queries.estimation import estimate, estimate_all
from sfumato.queries.query import Query

SCHEMA = sf.Schema(
    quasi_identifiers=["age", "born", "grade", "sex"], sensitive=["salary"], orders={"grade": ["low", "mid", "high"]}
)
TABLE = pa.table(
    {
        "age": [20, 30, 40],
        "born": [date(2004, 5, 1), date(1994, 5, 1), date(1984, 5, 1)],
        "grade": ["low", "mid", "high"],
        "sex": ["F", "M", "F"],
        "salary": [1, 2, 4],
    }
)


@pytest.mark.parametrize(
    ("where", "total"),
    [
        ({}, 7),
        ({"age": 30}, 2),
        ({"age": np.int64(30)}, 2),
        ({"age": "30"}, 2),
        ({"age": [20, 40, 60]}, 5),
        ({"age": {20.0, 30}}, 3),
        ({"age": (25, 40)}, 6),
        ({"age": ("!=", 30)}, 5),
        ({"age": ("<", 30)}, 1),
        ({"age": ("<=", 30)}, 3),
        ({"age": (">", 30)}, 4),
        ({"age": (">=", 30)}, 6),
        ({"age": ("=", 30)}, 2),
        ({"born": (">=", date(1994, 5, 1))}, 3),
        ({"born": ("<", "1990-01-01")}, 4),
        ({"grade": ("low", "mid")}, 3),
        ({"grade": (">", "low")}, 6),
        ({"grade": ["high", "unheard of"]}, 4),
        ({"sex": ("!=", "M")}, 5),
        ({"sex": frozenset({"M"}), "age": (">", 30)}, 0),
        ({"salary": (">", 1)}, 6),
    ],
)
def test_every_form_of_a_condition_is_understood(where, total):
    found = estimate(TABLE, SCHEMA, Query(kind="sum", over="salary", where=where))
    assert (found.expected, found.lower, found.upper) == (total, total, total)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "median"}, "Query.kind must be one of count, sum, avg; got 'median'."),
        ({"kind": "sum"}, "Query.over must be the attribute of the sum; got None."),
        ({"over": "salary"}, "Query.over must be left out of a count; got 'salary'."),
        ({"where": ["age"]}, "Query.where must be a mapping by attribute; got 'list'."),
        ({"where": {3: 4}}, "Query.where must be a mapping by attribute; got 'int'."),
        ({"where": {"age": None}}, "Query.where['age'] must be a value, a set of values"),
        ({"where": {"age": []}}, "Query.where['age'] must be a value, a set of values"),
        ({"where": {"age": (1, 2, 3)}}, "Query.where['age'] must be a value, a set of values"),
        (
            {"where": {"age": {1, None}}},
            "Query.where['age'] must name strings, numbers or dates, none of them missing.",
        ),
        ({"where": {"age": (">", float("nan"))}}, "Query.where['age'] must name strings, numbers or dates"),
    ],
)
def test_a_query_that_is_none_is_refused_in_one_sentence(given, message):
    with pytest.raises(sf.errors.InvalidParameterError) as caught:
        Query(**given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"where": {"agee": 3}},
            "The query names 'agee', which the published table does not show; did you mean 'age'?",
        ),
        ({"kind": "sum", "over": "pay"}, "The query names 'pay', which the published table does not show; it shows"),
        ({"kind": "sum", "over": "sex"}, "Only numbers can be summed and averaged, but 'sex' has other values"),
        ({"kind": "avg", "over": "born"}, "Only numbers can be summed and averaged, but 'born' has other values"),
        ({"where": {"age": "Canary"}}, "The condition on 'age' must name numbers, like those in the column."),
        ({"where": {"age": date(2000, 1, 1)}}, "The condition on 'age' must name numbers"),
        ({"where": {"born": (">", 2000)}}, "The condition on 'born' must name dates"),
        (
            {"where": {"sex": ("<", "Canary")}},
            "The condition on 'sex' needs an order, which the attribute does not have",
        ),
        (
            {"where": {"grade": ("<", "Canary")}},
            "The condition on 'grade' compares with a value that is not in its order.",
        ),
    ],
)
def test_a_query_that_does_not_fit_the_table_is_refused_without_its_values(query, message):
    with pytest.raises(sf.errors.SfumatoError) as caught:
        estimate(TABLE, SCHEMA, Query(**query))
    assert message in str(caught.value)
    assert "Canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_query_does_not_show_the_values_it_asks_for():
    query = Query(kind="avg", over="salary", where={"age": ("<", 4711), "sex": {"Canary"}, "grade": ("Canary", "b")})
    assert repr(query) == "Query(avg of salary where age < ..., sex = ..., grade between ...)"
    assert repr(Query()) == "Query(count)"


@pytest.mark.parametrize(
    ("domains", "message"),
    [
        ({"agee": [1]}, "domains names 'agee', which has no role; did you mean 'age'?"),
        ({"sex": "FM"}, "domains['sex'] must list all values that the attribute can take."),
        ({"sex": 3}, "domains['sex'] must list all values that the attribute can take."),
        ({"age": [20, 30]}, "Column 'age' is published with 1 cells that fit none of its known values"),
        (["sex"], "estimate.domains must be a mapping by attribute"),
    ],
)
def test_domains_that_do_not_fit_are_refused(domains, message):
    with pytest.raises(sf.errors.SfumatoError) as caught:
        estimate(TABLE, SCHEMA, Query(where={"age": 20}), domains=domains)
    assert message in str(caught.value)


def test_what_is_no_query_is_refused():
    with pytest.raises(
        sf.errors.InvalidParameterError, match=r"estimate.query must be an sf.queries.Query; got 'age > 3'\."
    ):
        estimate(TABLE, SCHEMA, "age > 3")
    with pytest.raises(
        sf.errors.InvalidParameterError, match=r"estimate_all\.queries must be a list of sf.queries.Query"
    ):
        estimate_all(TABLE, SCHEMA, ["age > 3"])
    with pytest.raises(sf.errors.InvalidParameterError, match=r"estimate\.schema must be an sf.Schema"):
        estimate(TABLE, "schema", Query())


def test_cells_that_cannot_be_read_are_counted_and_not_shown():
    table = pa.table({"age": ["20", "Canary", "[1, 3]"]})
    schema = sf.Schema(quasi_identifiers=["age"], scales={"age": "numeric"})
    with pytest.raises(sf.errors.SchemaError) as caught:
        estimate(table, schema, Query(where={"age": 20}))
    assert str(caught.value) == (
        "Column 'age' is read as numbers but has 1 cells that are not numbers; "
        "give its scale or hierarchy in the schema."
    )
