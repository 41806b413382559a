"""Delta-disclosure privacy: its own facts, and what leaving out absent values costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import disclosed_bits
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.delta_disclosure import DeltaDisclosure
from sfumato.tables.published.groups import Groups
from strategies import counts, group_counts

EVEN = {"s": np.array([1, 1, 1, 1])}


def private(**changed: object) -> DeltaDisclosure:
    return DeltaDisclosure(**{"delta": 1, "sensitive": "s", **changed})


def test_gains_and_losses_count_in_bits():
    groups = Groups.from_counts(s=[[2, 2, 2, 2], [4, 2, 1, 1], [5, 1, 1, 1]], totals=EVEN)
    assert private().levels(groups).tolist() == [0, 1, pytest.approx(math.log2(5 / 2))]
    assert private(delta=1.1).satisfied_by(groups).tolist() == [True, True, False]


@pytest.mark.parametrize("bits", range(1, 40))
def test_equality_is_refused(bits):
    """2, 4, 8 ... times as often as in the table is not below 1, 2, 3 ... bits."""
    exact = Groups.from_counts(s=[[1, 0]], totals={"s": np.array([1, 2**bits - 1])})
    assert not private(delta=bits, present_only=True).satisfied_by(exact).any()
    assert private(delta=bits * (1 + 1e-12), present_only=True).satisfied_by(exact).all()


def test_what_is_within_rounding_of_delta_is_refused():
    groups = Groups.from_counts(s=[[39, 61]], totals={"s": np.array([38, 62])})
    assert not private(delta=math.log2(39 / 38)).satisfied_by(groups).any()
    assert private(delta=math.log2(39 / 38) * (1 + 1e-12)).satisfied_by(groups).all()


def test_an_absent_value_breaks_the_promise_unless_left_out():
    groups = Groups.from_counts(s=[[1, 1, 1, 0], [1, 1, 1, 1]], totals=EVEN)
    assert private().levels(groups).tolist() == [math.inf, 0]
    assert private(present_only=True).levels(groups) == pytest.approx([math.log2(4 / 3), 0])


def test_values_that_nobody_has_are_no_values():
    groups = Groups.from_counts(s=[[1, 0, 1], [2, 0, 2]])
    assert private().levels(groups).tolist() == [0, 0]


def test_what_the_table_lacks_is_infinitely_much():
    groups = Groups.from_counts(s=[[1, 1]], totals={"s": np.array([0, 5])})
    for present_only in (False, True):
        assert private(present_only=present_only).levels(groups).tolist() == [math.inf]


@given(group_counts(most=40), st.booleans())
def test_levels_are_the_definition(matrix, present_only):
    totals = np.sum(matrix, axis=0).tolist()
    expected = [disclosed_bits(row, totals, present_only=present_only) for row in matrix]
    assert private(present_only=present_only).levels(Groups.from_counts(s=matrix)) == pytest.approx(expected)


def test_absent_values_left_out_are_not_monotone():
    """The first value is absent from one group and a quarter as frequent as in the table in the union."""
    groups = Groups.from_counts(s=[[0, 4], [1, 3]], totals={"s": np.array([5, 5])})
    model = private(delta=1.5, present_only=True)
    assert model.satisfied_by(groups).tolist() == [True, True]
    assert model.satisfied_by(groups.merge_groups(groups.sizes * 0)).tolist() == [False]
    assert not model.monotone


def test_with_absent_values_it_is_monotone():
    assert private().monotone


def test_a_record_can_spoil_a_group():
    groups = Groups.from_counts(s=[[1, 1], [6, 0]], totals={"s": np.array([5, 5])})
    assert private().satisfied_by(groups).tolist() == [True, False]
    assert not private().satisfied_by(groups.merge_groups(groups.sizes * 0)).any()
    assert not DeltaDisclosure.extendable


@given(counts(3), counts(3).filter(all), st.integers(1, 3), st.booleans())
def test_missing_values_that_may_be_anything_never_help(row, totals, lost, present_only):
    model, reference = private(present_only=present_only), {"s": np.array(totals)}
    ways = [[a, b, lost - a - b] for a in range(lost + 1) for b in range(lost + 1 - a)]
    filled = [[c + more for c, more in zip(row, way, strict=True)] for way in ways]
    worst = model.levels(Groups.from_counts(s=filled, totals=reference)).max()
    level = model.levels(Groups.from_counts(s=[row], totals=reference, missing={"s": [lost]}))[0]
    assert level >= worst or level == pytest.approx(worst)
    if not present_only and all(row):
        assert level == pytest.approx(worst)


def test_a_table_without_any_known_value_protects_nobody():
    groups = Groups.from_counts(s=[[0, 0]], missing={"s": [3]})
    assert private(present_only=True).levels(groups).tolist() == [math.inf]


def test_large_counts_stay_exact():
    big = 10**15
    groups = Groups.from_counts(s=[[big, 3 * big]], totals={"s": np.array([2 * big, 2 * big])})
    assert private(delta=2).levels(groups).tolist() == [1]


@pytest.mark.parametrize("delta", [0, -1, True, "1", float("nan"), float("inf")])
def test_delta_is_a_number_above_0(delta):
    with pytest.raises(InvalidParameterError, match=r"DeltaDisclosure\.delta must be a number above 0; got"):
        private(delta=delta)


def test_the_other_parameters_are_checked():
    with pytest.raises(InvalidParameterError, match="present_only must be true or false; got 1"):
        private(present_only=1)
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        private(sensitive=3)
