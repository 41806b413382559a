"""Answers equal what all possible originals say, and the truth lies between the bounds."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from golden_files import GOLDEN
from queries.estimates.worlds import answer, worlds
from sfumato.queries.estimation import Estimate, PreparedTable, estimate, estimate_all
from sfumato.queries.query import Query
from strategies import CELLS, GRADES, schemas, tables

SALARIES = sf.Schema(quasi_identifiers=["age"], sensitive=["salary"])


def bounds(published, schema, query, **options):
    found = estimate(published, schema, query, **options)
    return found.expected, found.lower, found.upper


def test_a_whole_interval_counts_by_its_whole_numbers():
    table = pa.table({"age": ["[20, 29]", "[20, 29]", "[30, 39]", "35"], "salary": [10, 30, 20, 5]})
    assert bounds(table, SALARIES, Query(where={"age": ("<", 25)})) == (1.0, 0, 2)
    assert bounds(table, SALARIES, Query(where={"age": ("<=", 29)})) == (2.0, 2, 2)
    assert bounds(table, SALARIES, Query(where={"age": 35})) == (1.1, 1, 2)
    assert bounds(table, SALARIES, Query(kind="sum", over="salary", where={"age": (25, 34)})) == (30, 0, 60)
    assert bounds(table, SALARIES, Query(kind="avg", over="salary", where={"age": (">=", 30)})) == (12.5, 12.5, 12.5)


def test_an_interval_of_fractions_counts_by_its_width():
    table = pa.table({"age": ["[0.5, 2.5)", "(2.5, 4.5]"], "salary": [1, 1]})
    assert bounds(table, SALARIES, Query(where={"age": ("<", 1)})) == (0.25, 0, 1)
    assert bounds(table, SALARIES, Query(where={"age": ("<", 2.5)})) == (1, 1, 1)
    assert bounds(table, SALARIES, Query(where={"age": ("=", 2.5)})) == (0, 0, 0)
    assert bounds(table, SALARIES, Query(where={"age": ("!=", 1)})) == (2, 1, 2)


def test_bounds_do_not_trust_that_numbers_in_whole_intervals_are_whole():
    table = pa.table({"age": ["[20, 30)", "[30, 40)"], "salary": [1, 1]})
    assert bounds(table, SALARIES, Query(where={"age": (">", 29)})) == (1, 1, 2)
    assert bounds(table, SALARIES, Query(where={"age": (">", 29)}), domains={"age": range(100)}) == (1, 1, 1)


RANGES = st.tuples(st.integers(-3, 3), st.integers(1, 3)).map(lambda ends: f"[{ends[0]}, {sum(ends)})")
BOUNDS = st.integers(-8, 8).map(lambda halves: halves / 2)


@examples(150)
@given(
    st.lists(RANGES | st.integers(-3, 3).map(str), min_size=1, max_size=8),
    st.none() | st.tuples(st.sampled_from(["<", "<=", ">", ">="]), BOUNDS),
    st.sampled_from(["count", "sum", "avg"]),
)
def test_columns_of_whole_numbers_are_answered_as_if_all_whole_numbers_were_listed(cells, condition, kind):
    published, schema = pa.table({"x": cells}), sf.Schema(quasi_identifiers=["x"], scales={"x": "numeric"})
    over = None if kind == "count" else "x"
    query = Query(kind=kind, over=over, where={} if condition is None else {"x": condition})
    found = estimate(published, schema, query, whole=["x"])
    listed = estimate(published, schema, query, domains={"x": range(-9, 10)})
    for part in ("expected", "lower", "upper"):
        assert getattr(found, part) == pytest.approx(getattr(listed, part), nan_ok=True)


def test_what_is_stated_to_be_whole_must_be_a_column_of_numbers_with_whole_numbers():
    published, schema = (
        pa.table({"x": ["[0.2, 0.8]", "1"], "sex": ["f", "m"]}),
        sf.Schema(quasi_identifiers=["x", "sex"]),
    )
    for whole, where, sentence in (
        (["x"], {"x": ("<", 1)}, "1 different cells without a whole number"),
        (["sex"], {"sex": ["f"]}, "not read as numbers"),
        (["y"], {}, "has no role"),
        ("x", {}, "a list of columns"),
    ):
        with pytest.raises((sf.errors.SchemaError, sf.errors.InvalidParameterError), match=sentence):
            estimate(published, schema, Query(where=where), whole=whole)


def test_beyond_what_is_shown_much_is_possible_and_nothing_expected():
    table = pa.table({"age": [">=90", "20"], "salary": [1, 1]})
    assert bounds(table, SALARIES, Query(where={"age": (">", 95)})) == (0, 0, 1)
    assert bounds(table, SALARIES, Query(kind="sum", over="age")) == (110, 110, inf)


def test_a_taxonomy_node_counts_by_its_leaves_and_a_suppressed_cell_may_be_missing():
    jobs = sf.hierarchies.Taxonomy({"office": ["clerk", "lawyer"], "outdoors": ["farmer"]})
    schema = sf.Schema(quasi_identifiers=["job"], hierarchies={"job": jobs})
    table = pa.table({"job": ["office", "office", "farmer", "*"]})
    assert bounds(table, schema, Query(where={"job": "clerk"})) == pytest.approx((4 / 3, 0, 3))
    assert bounds(table, schema, Query(where={"job": ["clerk", "lawyer", "farmer"]})) == (4, 3, 4)
    known = {"job": ["clerk", "lawyer", "farmer"]}
    assert bounds(table, schema, Query(where={"job": ["clerk", "lawyer", "farmer"]}), domains=known) == (4, 4, 4)


def test_values_that_nothing_shows_may_hide_behind_stars_and_masks():
    schema = sf.Schema(quasi_identifiers=["zip"], scales={"zip": "nominal"})
    table = pa.table({"zip": ["537**", "53703", "53706", "*", "{53703, 90210}"]})
    expected = (0.5 + 1 + 1 / 3 + 0.5, 1, 4)
    assert bounds(table, schema, Query(where={"zip": {"53703"}})) == pytest.approx(expected)
    assert bounds(table, schema, Query(where={"zip": {"53799"}})) == (0, 0, 2)
    assert bounds(table, schema, Query(where={"zip": ("!=", "53799")})) == (5, 3, 5)
    starred = pa.table({"zip": ["53703", "*"]})
    assert bounds(starred, schema, Query(where={"zip": ("!=", "53703")})) == (0, 0, 1)
    lost = pa.table({"zip": ["537**", "902**"]})
    assert bounds(lost, schema, Query(where={"zip": {"10000"}})) == (0, 0, 0)
    with pytest.raises(sf.errors.InvalidParameterError, match=r"state them, as in domains=\{'zip': \[...\]\}"):
        estimate(lost, schema, Query(where={"zip": {"53703"}}))
    stated = {"zip": ["53703", "53706", "90210"]}
    assert bounds(lost, schema, Query(where={"zip": {"53703"}}), domains=stated) == (0.5, 0, 1)


def test_a_sum_over_buckets_takes_the_smallest_and_largest_values():
    table = pa.table({"age": [20, 30, 40, 50], "salary": [10, 20, 40, -5], "_bucket_salary": [1, 1, 1, None]})
    assert bounds(table, SALARIES, Query(kind="sum", over="salary", where={"age": ("<=", 30)})) == pytest.approx(
        (140 / 3, 30, 60)
    )
    assert bounds(table, SALARIES, Query(kind="sum", over="salary")) == (65, 65, 65)
    assert bounds(table, SALARIES, Query(kind="avg", over="salary", where={"age": 30})) == pytest.approx(
        (70 / 3, 10, 40)
    )
    assert bounds(table, SALARIES, Query(where={"age": (20, 30), "salary": (">=", 20)})) == pytest.approx((4 / 3, 1, 2))
    assert bounds(
        table, SALARIES, Query(kind="sum", over="salary", where={"age": (20, 30), "salary": (">=", 20)})
    ) == pytest.approx((40, 20, 60))


def test_negative_numbers_lower_a_sum_where_they_are_only_possible():
    table = pa.table({"age": ["[20, 29]", "[20, 29]", "30"], "salary": [-6, 10, -1], "_bucket_salary": [None, 1, 1]})
    young = Query(kind="sum", over="salary", where={"age": ("<", 25)})
    assert bounds(table, SALARIES, young) == (-3 + 4.5 / 2, -6 - 1, 10)


def test_a_suppressed_number_has_no_bound_and_spoils_none_of_another_bucket():
    table = pa.table({"age": [20, 30, 40, 50], "salary": ["*", "5", "6", "7"], "_bucket_salary": [1, 1, 2, 2]})
    assert bounds(table, SALARIES, Query(kind="sum", over="salary", where={"age": 20})) == (5.5, -inf, inf)
    assert bounds(table, SALARIES, Query(kind="avg", over="salary", where={"age": 20})) == (5.5, -inf, inf)
    assert bounds(table, SALARIES, Query(kind="sum", over="salary", where={"age": 50})) == (6.5, 6, 7)


def local_anatomy():
    """Thesis table 4.4, with salaries in the buckets of its diseases."""
    table = pd.read_csv(GOLDEN / "thesis_4_4.csv")
    renamed = {f"{name}__bucket": f"_bucket_{name}" for name in ("age", "occupation")}
    table = table.drop(columns=["id", "disease"]).rename(columns={**renamed, "disease__bucket": "_bucket_salary"})
    return table.assign(salary=[10, 20, 30, 40, 50, 60, 70, 80])


PERSONS = sf.Schema(quasi_identifiers=["age", "sex", "occupation"], sensitive=["salary"])


def test_semi_sensitive_cells_count_by_the_share_in_their_bucket():
    where = {"age": (">", 30), "occupation": "Lawyer"}
    assert bounds(local_anatomy(), PERSONS, Query(where=where)) == (1.0, 0, 2)
    assert bounds(local_anatomy(), PERSONS, Query(where={"age": (">", 30)})) == (3, 3, 3)
    assert bounds(local_anatomy(), PERSONS, Query(where={"age": (">", 30), "sex": "Male"})) == (1.5, 1, 2)
    found = bounds(local_anatomy(), PERSONS, Query(kind="sum", over="salary", where=where))
    assert found == (0.25 * 25 + 0.75 * 65, 0, 40 + 80 + 70 + 60)


def test_rounded_bounds_are_those_of_the_thesis():
    where = {"age": (">", 30), "occupation": "Lawyer"}
    queries = [Query(kind="sum", over="salary", where=where), Query(where=where), Query(where={"age": (">", 30)})]
    total, both, older = PreparedTable.from_table(local_anatomy(), PERSONS, queries, {}).rounded()
    assert total == Estimate(55, 0, 40 + 80)  # 1/4 and 3/4 of a record match in the two buckets
    assert both == Estimate(1, 1, 1)
    assert older == Estimate(3, 3, 3)


def test_average_of_nothing_is_not_a_number():
    table = pa.table({"age": [20, 30], "salary": [1, None]})
    found = estimate(table, SALARIES, Query(kind="avg", over="salary", where={"age": 30}))
    assert all(isnan(each) for each in (found.expected, found.lower, found.upper))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_many_queries_give_a_frame_of_the_callers_kind(frame):
    table = frame({"age": [20, 30, 40], "salary": [1, 2, 3]})
    queries = [Query(where={"age": (">", age)}) for age in (10, 20, 30)]
    found = estimate_all(table, SALARIES, queries)
    assert isinstance(found, frame)
    assert list(found["lower"]) == list(found["upper"]) == list(found["expected"]) == [3, 2, 1]


NUMBERS = range(4)
NAMES = ["x", "y", "z"]
SCHEMA = sf.Schema(quasi_identifiers=["a", "b"], sensitive=["s"])
LABELS = {f"[{low}, {high}]": list(range(low, high + 1)) for low in NUMBERS for high in range(low, 4)}
LABELS |= {"*": list(NUMBERS), "2": [2]}
SETS = {"x": ["x"], "y": ["y"], "{x, z}": ["x", "z"], "*": NAMES}


@st.composite
def tiny_releases(draw):
    """Draw cells with what they cover, and buckets; b may be in buckets where it shows a value."""
    rows = draw(st.integers(1, 3))
    many = {"min_size": rows, "max_size": rows}
    a = draw(st.lists(st.sampled_from(sorted(LABELS)), **many))
    b = draw(st.lists(st.sampled_from(sorted(SETS)), **many))
    s = draw(st.lists(st.integers(-2, 3), **many))
    spread = st.lists(st.none() | st.integers(0, 1), **many)
    buckets = {"a": [None] * rows, "b": draw(spread), "s": draw(spread)}
    buckets["b"] = [bucket if cell in NAMES else None for bucket, cell in zip(buckets["b"], b, strict=True)]
    table = pa.table({"a": a, "b": b, "s": s})
    for name in ("b", "s"):
        if draw(st.booleans()):
            table = table.append_column(f"_bucket_{name}", pa.array(buckets[name], pa.int64()))
        else:
            buckets[name] = [None] * rows
    cells = {"a": [LABELS[each] for each in a], "b": [SETS[each] for each in b], "s": [[each] for each in s]}
    return table, cells, buckets


signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
on_numbers = st.tuples(signs, st.integers(0, 3)) | st.lists(st.integers(0, 3), min_size=1, unique=True)
on_numbers |= st.tuples(st.integers(0, 2), st.integers(1, 3))
on_names = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)
on_names |= st.tuples(st.sampled_from(["=", "!="]), st.sampled_from(NAMES))
wheres = st.fixed_dictionaries({}, optional={"a": on_numbers, "b": on_names, "s": st.tuples(signs, st.integers(-2, 3))})
kinds = st.sampled_from([("count", None), ("sum", "s"), ("avg", "s"), ("sum", "a"), ("avg", "a")])


@examples(120)
@given(tiny_releases(), wheres, kinds)
def test_expected_values_and_bounds_are_those_of_all_possible_originals(release, where, kind):
    table, cells, buckets = release
    found = estimate(table, SCHEMA, Query(kind=kind[0], over=kind[1], where=where), domains={"a": NUMBERS, "b": NAMES})
    named = {*where, *([kind[1]] if kind[1] else [])}
    cells = {name: each for name, each in cells.items() if name in named} or {"s": cells["s"]}
    answers = [answer(rows, *kind, where) for rows in worlds(cells, {name: buckets[name] for name in cells})]
    known = [each for each in answers if each is not None]
    if not known:
        assert isnan(found.expected)
        assert isnan(found.lower)
        assert isnan(found.upper)
        return
    tight = sum(any(b is not None for b in buckets[name]) and name != kind[1] for name in where) <= (kind[1] is None)
    if kind[0] != "avg":
        assert found.expected == pytest.approx(float(Fraction(sum(known), len(known))), abs=1e-9)
    assert found.lower <= float(min(known)) + 1e-9
    assert found.upper >= float(max(known)) - 1e-9
    if tight:
        assert found.lower == pytest.approx(float(min(known)), abs=1e-9)
        assert found.upper == pytest.approx(float(max(known)), abs=1e-9)


@st.composite
def asked(draw, schema):
    """Draw conditions on some attributes of a schema, and what to compute."""
    where = {}
    for name in draw(st.lists(st.sampled_from(schema.attributes), unique=True, max_size=3)):
        value = CELLS[name][1]
        condition = st.lists(value, min_size=1, max_size=4)
        if name in {"age", "income", "born", "grade"}:
            condition |= st.tuples(signs, value) | st.tuples(value, value)
        where[name] = draw(condition)
    over = draw(st.sampled_from([None, *(name for name in ("age", "income") if name in schema.attributes)]))
    kind = "count" if over is None else draw(st.sampled_from(["sum", "avg"]))
    return kind, over, where


described = (schemas(sensitive="income") | schemas()).flatmap(
    lambda schema: st.tuples(
        tables(schema.attributes, least_rows=2) | tables(schema.attributes, least_rows=2, missing=True), st.just(schema)
    )
)


@given(described, st.data(), st.booleans())
def test_the_truth_lies_between_the_bounds_of_a_mondrian_release(described, data, stated):
    table, schema = described
    kind, over, where = data.draw(asked(schema))
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], sf.algorithms.Mondrian(), seed=0)
    domains = {name: table[name].unique().to_pylist() for name in schema.attributes} if stated else None
    try:
        found = estimate(release.published, schema, Query(kind=kind, over=over, where=where), domains=domains)
    except sf.errors.InvalidParameterError as error:
        assume("Nothing published shows" not in str(error))
        raise
    actual = answer(table.to_pylist(), kind, over, where, {"grade": list(GRADES.hierarchy.leaves)})
    if actual is not None:
        assert found.lower - 1e-6 <= float(actual) <= found.upper + 1e-6
