"""Domains: values in an order that keeps relatives together, and codes that fit them."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from sfumato.encoding.coded_table import encode_column
from sfumato.encoding.domain import Domain, get_scale, infer_domain, to_axis
from sfumato.errors import HierarchyError, SchemaError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import format_values
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from strategies import described_tables

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "field": ["farmer", "ranger"]})
GRADES = OrderedGroups({"low": ["none", "school"], "high": ["degree"]})
MOMENT = datetime(1970, 1, 1, 0, 0, 1)  # noqa: DTZ001 - naive, as tables are


def schema(**about):
    return Schema(quasi_identifiers=["q"], **{what: {"q": value} for what, value in about.items()})


def coded(values, type_=None, **about):
    return encode_column("q", pa.chunked_array([pa.array(values, type_)]), schema(**about))


def decoded(column):
    values = [*column.domain.texts, None]
    return [values[code] for code in column.codes.tolist()]


@given(described_tables())
def test_codes_stand_for_the_values_of_the_cells(drawn):
    table, described = drawn
    for name in described.attributes:
        column = encode_column(name, table[name], described)
        assert decoded(column) == format_values(table[name]).to_pylist()


@given(described_tables())
def test_codes_do_not_depend_on_chunks_dictionaries_or_the_order_of_rows(drawn):
    table, described = drawn
    order = np.random.default_rng(0).permutation(table.num_rows)
    for name in described.attributes:
        expected = encode_column(name, table[name], described)
        third = table.num_rows // 3
        pieces = [table[name].combine_chunks().slice(0, third), table[name].combine_chunks().slice(third)]
        chunked = pa.chunked_array([piece.dictionary_encode() for piece in pieces])
        for column, codes in (
            (pa.chunked_array(pieces), expected.codes),
            (chunked, expected.codes),
            (table[name].take(order), expected.codes[order]),
        ):
            again = encode_column(name, column, described)
            assert again.domain.texts == expected.domain.texts
            assert again.codes.tolist() == codes.tolist()


@pytest.mark.parametrize(
    ("leaves", "type_"),
    [
        (1, np.uint8),
        (254, np.uint8),
        (255, np.uint16),
        (256, np.uint16),
        (65_534, np.uint16),
        (65_535, np.uint32),
        (65_536, np.uint32),
    ],
)
def test_codes_have_the_smallest_type_that_holds_the_missing_code_too(leaves, type_):
    column = coded([*range(leaves), None, 0], pa.int64())
    assert column.codes.dtype == type_
    assert column.codes.tolist() == [*range(leaves), leaves, 0]
    assert column.domain.missing == leaves


@pytest.mark.parametrize(
    ("values", "about", "scale", "order"),
    [
        ([30, 4, 100], {}, Scale.NUMERIC, ["4", "30", "100"]),
        ([0.5, 1e-05, -2.0], {}, Scale.NUMERIC, ["-2", "1e-05", "0.5"]),
        ([date(2000, 1, 2), date(1999, 12, 31)], {}, Scale.NUMERIC, ["1999-12-31", "2000-01-02"]),
        ([MOMENT], {}, Scale.NUMERIC, ["1970-01-01T00:00:01"]),
        (["b", "a", ""], {}, Scale.NOMINAL, ["", "a", "b"]),
        ([True, False], {}, Scale.NOMINAL, ["false", "true"]),
        ([30, 4, 100], {"scales": "nominal"}, Scale.NOMINAL, ["4", "30", "100"]),
        ([30, 4, 100], {"scales": "ordinal"}, Scale.ORDINAL, ["4", "30", "100"]),
        (["mid", "low"], {"orders": ["low", "mid", "high"]}, Scale.ORDINAL, ["low", "mid", "high"]),
        (["none"], {"hierarchies": GRADES}, Scale.ORDINAL, ["none", "school", "degree"]),
        (["farmer"], {"hierarchies": JOBS}, Scale.CATEGORICAL, ["clerk", "lawyer", "farmer", "ranger"]),
        (["99", "10"], {"hierarchies": Prefixes()}, Scale.CATEGORICAL, ["10", "99"]),
        ([99, 10], {"hierarchies": Prefixes()}, Scale.CATEGORICAL, ["10", "99"]),
        ([30, 4], {"hierarchies": Intervals(10)}, Scale.NUMERIC, ["4", "30"]),
        ([30, 4], {"hierarchies": Intervals(10), "scales": "categorical"}, Scale.CATEGORICAL, ["4", "30"]),
        (
            ["farmer"],
            {"hierarchies": JOBS, "scales": "nominal"},
            Scale.NOMINAL,
            ["clerk", "lawyer", "farmer", "ranger"],
        ),
    ],
)
def test_scale_and_order_follow_from_schema_and_type(values, about, scale, order):
    column = coded(values, **about)
    assert column.domain.scale is scale
    assert list(column.domain.texts) == order
    assert decoded(column) == format_values(pa.array(values)).to_pylist()


@pytest.mark.parametrize("hierarchy", [Intervals(5), Intervals("year"), Prefixes(), JOBS, GRADES, None])
@pytest.mark.parametrize("scale", [None, "numeric", "ordinal", "nominal"])
def test_a_column_without_any_value_has_only_missing_codes(hierarchy, scale):
    about = {
        **({} if hierarchy is None else {"hierarchies": hierarchy}),
        **({} if scale is None else {"scales": scale}),
    }
    column = coded([None, None], pa.string(), **about)
    assert column.codes.tolist() == [len(column.domain)] * 2
    assert len(column.domain.positions) == len(column.domain)


def test_positions_are_numbers_days_microseconds_or_ranks():
    assert to_axis(pa.array([date(1970, 1, 3)])).tolist() == [2.0]
    assert to_axis(pa.array([MOMENT], pa.timestamp("us"))).tolist() == [1e6]
    assert coded([2.5, -1.0]).domain.positions.tolist() == [-1.0, 2.5]
    assert coded(["x", "y"]).domain.positions.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("column", [[2.5], ["secret"], [date(1970, 1, 2)], [2**53 + 1], [True]])
def test_values_outside_the_domain_are_refused_without_showing_them(column):
    for domain in (Domain("q", Scale.NUMERIC, pa.array([1, 2, 3])), Domain("q", Scale.NOMINAL, pa.array(["1", "2"]))):
        with pytest.raises(SchemaError, match="'q' has 1 distinct values outside") as refused:
            domain.encode(pa.chunked_array([column]))
        assert "secret" not in str(refused.value)
        assert "2.5" not in str(refused.value)


def test_values_of_another_type_are_found_by_what_they_say():
    domain = Domain("q", Scale.NUMERIC, pa.array([1, 2, 3]))
    assert domain.encode(pa.chunked_array([[3.0, 1.0, None]])).tolist() == [2, 0, 3]


@pytest.mark.parametrize(
    ("values", "about", "error", "sentence"),
    [
        (["a"], {"scales": "numeric"}, SchemaError, "'q' should be numeric but has text"),
        ([True], {"scales": "numeric"}, SchemaError, "'q' should be numeric but has text"),
        (["a"], {"scales": "categorical"}, SchemaError, "'q' is categorical but has no hierarchy"),
        (["a"], {"scales": "ordinal"}, SchemaError, "'q' is ordinal; give its order"),
        (
            ["secret"],
            {"orders": ["low", "high"]},
            HierarchyError,
            "'q' has 1 distinct values that are not in its order",
        ),
        (["secret"], {"hierarchies": JOBS}, HierarchyError, "'q'"),
        (["secret"], {"hierarchies": Intervals(5)}, HierarchyError, "'q'"),
        (["a"], {"orders": ["a"], "scales": "numeric"}, SchemaError, "'q' has an order but its scale is numeric"),
        (
            ["a"],
            {"orders": ["a"], "scales": "categorical"},
            SchemaError,
            "'q' has an order but its scale is categorical",
        ),
        (["none"], {"orders": ["none"], "hierarchies": GRADES}, SchemaError, "'q' has an order and a hierarchy"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(values, about, error, sentence):
    with pytest.raises(error, match=sentence) as refused:
        coded(values, **about)
    assert "secret" not in str(refused.value)
    assert str(refused.value).endswith(".")


def test_the_scale_can_be_asked_for_without_values():
    assert get_scale("q", pa.int64(), schema()) is Scale.NUMERIC
    assert get_scale("q", pa.bool_(), schema()) is Scale.NOMINAL
    assert get_scale("q", pa.string(), schema(orders=["a"])) is Scale.ORDINAL
    assert get_scale("q", pa.string(), schema(hierarchies=JOBS)) is Scale.CATEGORICAL


def test_a_numeric_hierarchy_is_kept_with_its_domain():
    domain = infer_domain("q", pa.chunked_array([[7, 3, 12]]), schema(hierarchies=Intervals(5)))
    assert domain.hierarchy is not None
    assert list(domain.hierarchy.leaves) == [3, 7, 12]
