"""t-closeness by the Kullback-Leibler divergence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import divergence, equal_distance
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import counts, group_counts


def close(t: float = 0.5) -> TCloseness:
    return TCloseness(t=t, sensitive="s", distance="kl")


def test_a_certain_value_of_half_the_table_diverges_by_ln_2():
    groups = Groups.from_counts(s=[[3, 0], [1, 1]], totals={"s": np.array([7, 7])})
    assert close().levels(groups).tolist() == [pytest.approx(math.log(2), rel=1e-15), 0]


def test_t_may_be_above_1():
    groups = Groups.from_counts(s=[[1, 0], [0, 99]])
    assert close(t=4.7).satisfied_by(groups).all()
    assert close(t=4.6).satisfied_by(groups).tolist() == [False, True]


@given(group_counts(most=40))
def test_levels_are_the_definition_rounded_upwards(matrix):
    totals, groups = np.sum(matrix, axis=0).tolist(), Groups.from_counts(s=matrix)
    expected = np.array([divergence(row, totals) for row in matrix])
    level = close().levels(groups)
    assert level == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert (level >= expected).all()


@given(group_counts(), st.integers(1, 1000))
def test_only_equal_shares_do_not_diverge(matrix, times):
    groups, totals = Groups.from_counts(s=matrix), np.sum(matrix, axis=0)
    same = [equal_distance(row, totals.tolist()) == 0 for row in matrix]
    assert close(t=0).satisfied_by(groups).tolist() == same
    assert close(t=0).satisfied_by(Groups.from_counts(s=[totals * times], totals={"s": totals})).all()


@given(group_counts())
def test_pinsker_holds(matrix):
    """Twice the squared variational distance is at most the divergence."""
    groups = Groups.from_counts(s=matrix)
    variational = TCloseness(t=0.5, sensitive="s", distance="variational").levels(groups)
    assert (2 * variational**2 <= close().levels(groups) + 1e-12).all()


@given(counts(4), counts(4).filter(all), st.integers(1, 4))
def test_missing_values_that_may_be_anything_are_the_worst_value_of_the_table(row, totals, lost):
    reference = {"s": np.array(totals)}
    filled = [[c + lost * (i == j) for i, c in enumerate(row)] for j in range(4)]
    worst = close().levels(Groups.from_counts(s=filled, totals=reference)).max()
    groups = Groups.from_counts(s=[row], totals=reference, missing={"s": [lost]})
    assert close().levels(groups) == pytest.approx([worst], rel=1e-12, abs=1e-15)


def test_nothing_but_missing_values_is_the_rarest_value():
    groups = Groups.from_counts(s=[[0, 0], [1, 3]], missing={"s": [2, 0]})
    assert close().levels(groups) == pytest.approx([math.log(4), 0])


def test_what_the_table_lacks_diverges_infinitely():
    groups = Groups.from_counts(s=[[1, 1], [0, 1]], totals={"s": np.array([0, 5])}, missing={"s": [1, 0]})
    assert close().levels(groups).tolist() == [math.inf, 0]


def test_a_table_without_any_known_value_protects_nobody():
    assert close().levels(Groups.from_counts(s=[[0, 0]], missing={"s": [3]})).tolist() == [math.inf]


def test_large_counts_are_judged():
    big = 10**15
    groups = Groups.from_counts(s=[[big, big], [2 * big, 0]], totals={"s": np.array([3 * big, 3 * big])})
    assert close().levels(groups) == pytest.approx([0, math.log(2)], rel=1e-14, abs=0)


@pytest.mark.parametrize("t", [-0.1, True, "1", float("inf"), float("nan")])
def test_t_is_a_number_of_at_least_0(t):
    with pytest.raises(InvalidParameterError, match=r"TCloseness\.t must be a number of at least 0; got"):
        close(t=t)
