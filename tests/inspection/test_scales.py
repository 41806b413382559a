"""Proposed scales, orders and hierarchies."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.schema.roles import Role, Scale
from sfumato.tables.inspection._column_names import find_name_hint
from sfumato.tables.inspection._profiles import profile_column
from sfumato.tables.inspection._scales import propose_scale


def measure(name, cells, role=Role.QUASI, type_=None):
    return propose_scale(profile_column(name, pa.chunked_array([cells], type_)), find_name_hint(name), role)


@pytest.mark.parametrize(
    ("name", "cells", "scale", "hierarchy"),
    [
        ("age", [17, 90], Scale.NUMERIC, Intervals(5, 10, 20, 40)),
        ("x", [0.0, 0.75], Scale.NUMERIC, Intervals(0.05, 0.1, 0.2, 0.4)),
        (
            "x",
            [dt.date(2020, 1, 1), dt.date(2021, 5, 1)],
            Scale.NUMERIC,
            Intervals("month", "quarter", "year"),
        ),
        ("x", [True, False], Scale.NOMINAL, None),
        ("sex", [1, 2], Scale.NOMINAL, None),
        ("job", ["clerk", "nurse", "cook"], Scale.NOMINAL, None),
        ("zip", ["53715", "90210"], Scale.CATEGORICAL, Prefixes()),
        ("zip", [53715, 90210], Scale.CATEGORICAL, Prefixes()),
        ("postcode", ["SW1A 1AA", "M1 1AE"], Scale.CATEGORICAL, Prefixes()),
        ("zip", ["somewhere far away", "x"], Scale.NOMINAL, None),
        ("zip", [0.5, 1.5], Scale.NUMERIC, Intervals(0.05, 0.1, 0.2, 0.4)),
        ("x", ["A123", "B456"], Scale.CATEGORICAL, Prefixes()),
        ("x", ["low", "high", "medium"], Scale.ORDINAL, None),
        ("x", ["*", "a"], Scale.NOMINAL, None),
        ("x", [""], Scale.NOMINAL, None),
    ],
)
def test_a_quasi_identifier_gets_its_scale_and_hierarchy(name, cells, scale, hierarchy):
    found = measure(name, cells)
    assert (found.scale, found.hierarchy) == (scale, hierarchy)


@pytest.mark.parametrize("role", [Role.IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE])
@pytest.mark.parametrize(
    ("cells", "scale"),
    [([1, 2], Scale.NUMERIC), (["A123", "B456"], Scale.NOMINAL), ([True, False], Scale.NOMINAL)],
)
def test_only_quasi_identifiers_get_a_hierarchy(role, cells, scale):
    found = measure("x", cells, role)
    assert (found.scale, found.hierarchy) == (scale, None)


def test_an_order_lists_the_values_as_they_are_written():
    found = measure("risk", ["High", "low", None, "Medium", "low"], Role.SENSITIVE)
    assert (found.scale, found.order) == (Scale.ORDINAL, ("low", "Medium", "High"))


def test_identifiers_need_no_order():
    assert measure("x", ["low", "high", "medium"], Role.IDENTIFIER).order is None


def test_many_numbers_are_no_categories():
    assert measure("employer", list(range(1001)) * 2).scale is Scale.NUMERIC
    assert measure("employer", list(range(1000)) * 2).scale is Scale.NOMINAL
    assert measure("employer", list(range(1000))).scale is Scale.NUMERIC  # sets of them would be published


@pytest.mark.parametrize("role", [Role.QUASI, Role.SENSITIVE])
def test_codes_of_a_classification_are_no_amounts(role):
    codes = [444814009, 195662009, 10509002, 72892002] * 9
    assert measure("CODE", codes, role).scale is Scale.NOMINAL
    assert measure("amount", codes, role).scale is Scale.NUMERIC


def test_lost_zeros_of_postcodes_are_pointed_out():
    assert any("zeros" in reason for reason in measure("zip", [2139, 53715]).reasons)
    assert not any("zeros" in reason for reason in measure("zip", [53703, 53715]).reasons)
    assert not any("zeros" in reason for reason in measure("zip", ["2139", "53715"]).reasons)


def test_a_column_without_values_is_nominal():
    assert measure("x", [None], Role.INSENSITIVE, pa.string()).scale is Scale.NOMINAL
    assert measure("zip", [None], Role.QUASI, pa.string()).scale in set(Scale)
