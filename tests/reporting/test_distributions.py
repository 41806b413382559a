"""Published cells count evenly for all that they may stand for, and rare values stay unnamed."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.encoding.coded_table import encode_column
from sfumato.report.sections.distributions import quasi_identifier_distribution, unchanged_distribution
from sfumato.tables.published.published_table import PublishedTable


def compared(original, published, *, fewest=1, **settings):
    schema = sf.Schema(quasi_identifiers=["a"], **{key: {"a": value} for key, value in settings.items()})
    coded = encode_column("a", pa.chunked_array([original]), schema)
    shown = PublishedTable.read(pa.table({"a": published}), schema, {"a": coded.domain})
    return quasi_identifier_distribution(shown.columns[0], coded, fewest=fewest)


def bars(facts, side):
    return {bar["text"]: bar[side] for bar in facts["bars"] if bar[side]}


def test_a_taxonomy_label_counts_evenly_for_its_leaves():
    tree = sf.hierarchies.Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer", "colitis"]})
    facts = compared(pa.array(["flu", "flu", "ulcer"]), ["lung", "lung", "ulcer"], hierarchies=tree)
    assert bars(facts, "before") == {"flu": 2, "ulcer": 1}
    assert bars(facts, "after") == {"flu": 1, "ulcer": 1}
    assert facts["other"] == {"values": 1, "before": 0, "after": 1}


@pytest.mark.parametrize("original", [["x", "x", "y", "y"], [1, 1, 7, 7]])
def test_suppressed_cells_have_no_bars_and_are_counted(original):
    facts = compared(pa.array(original), ["*", "*", " * ", str(original[3])])
    assert sum(bars(facts, "after").values()) == bars(facts, "after")[str(original[3])] == 1
    assert (facts["suppressed_cells"], facts["unread_cells"]) == (3, 0)


def test_a_set_counts_evenly_for_its_members():
    facts = compared(pa.array(["x", "y", "z", "z"]), ["{x, z}", "{x, z}", "y", "z"])
    assert bars(facts, "after") == {"x": 1, "y": 1, "z": 2}


def test_an_interval_of_ranks_counts_evenly_for_its_members_in_their_order():
    order = ["low", "middle", "high"]
    facts = compared(pa.array(["high", "low", "low"]), ["[low, high]"] * 3, orders=order)
    assert [bar["text"] for bar in facts["bars"]] == ["low", "high"]
    assert bars(facts, "after") == {"low": 1, "high": 1}


def test_an_interval_of_numbers_counts_over_its_whole_width_not_over_the_values_that_occur():
    ages = pa.array([0, 1, 2, 3, 49])
    facts = compared(ages, ["[0, 49]"] * 5)
    assert sum(bars(facts, "before").values()) == 5
    assert list(bars(facts, "after").values()) == [0.5] * 10


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("[20, 22]", {"20": 1, "21": 1, "22": 1}),
        ("[20, 22)", {"20": 1.5, "21": 1.5}),
        ("(20, 22)", {"21": 3}),
        ("<=21", {"20": 1.5, "21": 1.5}),
        ("{20, 23}", {"20": 1.5, "23": 1.5}),
        ("21", {"21": 3}),
    ],
)
def test_bounds_of_intervals_count_only_if_they_belong_to_them(cell, expected):
    facts = compared(pa.array([20, 21, 22, 23]), [cell, cell, cell, None])
    assert bars(facts, "after") == expected
    assert facts["missing"] == {"before": 0, "after": 1}


def test_a_cell_that_nobody_can_read_is_said_to_be_unread():
    facts = compared(pa.array([20, 21]), ["twenty or so", "[20, 21]"])
    assert facts["unread_cells"] == 1
    assert sum(bars(facts, "after").values()) == 1


def test_many_values_are_shown_as_broader_terms_where_there_are_any():
    codes = [f"{number:05}" for number in range(10_000, 90_000, 1000)]
    facts = compared(pa.array(codes), codes, hierarchies=sf.hierarchies.Prefixes())
    assert [bar["text"] for bar in facts["bars"]] == [f"{first}****" for first in range(1, 9)]
    assert bars(facts, "before") == bars(facts, "after")


def test_of_many_values_the_twelve_most_frequent_are_named():
    values = [letter for place, letter in enumerate("abcdefghijklmnop", start=1) for _ in range(place)]
    facts = compared(pa.array(values), values)
    assert [bar["text"] for bar in facts["bars"]] == list("ponmlkjihgfe")
    assert facts["other"] == {"values": 4, "before": 10, "after": 10}


def test_values_of_few_records_are_not_named():
    facts = compared(pa.array(["common"] * 5 + ["rare"] * 4), ["*"] * 9, fewest=5)
    assert [bar["text"] for bar in facts["bars"]] == ["common"]
    assert facts["other"] == {"values": 1, "before": 4, "after": 0}


def test_a_column_without_any_value_has_only_missing_cells():
    facts = compared(pa.array([None, None], pa.string()), pa.array([None, None], pa.string()))
    assert facts["bars"] == []
    assert facts["missing"] == {"before": 2, "after": 2}


@pytest.mark.parametrize(
    "values",
    [[True, False, None], ["x", "", None], [1, 2, None], [0.5, 0.25, None]],
)
def test_an_attribute_published_as_it_is_has_equal_sides(values):
    column = pa.chunked_array([values])
    facts = unchanged_distribution("a", column, column, sf.Schema(insensitive=["a"]), fewest=1)
    assert facts["missing"] == {"before": 1, "after": 1}
    assert [bar["before"] for bar in facts["bars"]] == [bar["after"] for bar in facts["bars"]]
    assert sum(bar["before"] for bar in facts["bars"]) == 2


def test_a_schema_that_an_insensitive_column_does_not_fit_does_not_break_the_report():
    column = pa.chunked_array([["x", "y"]])
    schema = sf.Schema(insensitive=["a"], scales={"a": "ordinal"})
    assert unchanged_distribution("a", column, column, schema, fewest=1)["kind"] == "values"


def test_an_ordered_sensitive_attribute_keeps_its_order():
    column = pa.chunked_array([["high", "low", "high"]])
    schema = sf.Schema(sensitive=["a"], orders={"a": ["low", "high"]})
    facts = unchanged_distribution("a", column, column, schema, fewest=1)
    assert [bar["text"] for bar in facts["bars"]] == ["low", "high"]
