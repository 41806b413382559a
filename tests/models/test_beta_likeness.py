"""Beta-likeness: its own facts, basic and enhanced."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from oracles import is_enhanced_beta_like, relative_gain
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.beta_likeness import BetaLikeness
from sfumato.tables.published.groups import Groups
from strategies import counts, group_counts


def alike(**changed: object) -> BetaLikeness:
    return BetaLikeness(**{"beta": 1, "sensitive": "s", **changed})


@given(group_counts())
def test_the_basic_level_is_the_definition_rounded_once(matrix):
    totals = np.sum(matrix, axis=0).tolist()
    groups = Groups.from_counts(s=[[c for c, t in zip(row, totals, strict=True) if t] for row in matrix])
    kept = [[c for c, t in zip(row, totals, strict=True) if t] for row in matrix]
    expected = [float(relative_gain(row, [t for t in totals if t])) for row in kept]
    assert alike().levels(groups).tolist() == expected


@given(group_counts(), st.sampled_from([0.1, 0.5, 1, 3]))
@examples(100)
def test_the_enhanced_verdict_is_the_definition(matrix, beta):
    used = [v for v, total in enumerate(np.sum(matrix, axis=0)) if total]
    matrix = [[row[v] for v in used] for row in matrix]
    totals = np.sum(matrix, axis=0).tolist()
    expected = [is_enhanced_beta_like(row, totals, beta) for row in matrix]
    assert alike(beta=beta, enhanced=True).satisfied_by(Groups.from_counts(s=matrix)).tolist() == expected


def test_a_gain_of_exactly_beta_is_good():
    groups = Groups.from_counts(s=[[3, 7], [31, 69]], totals={"s": np.array([1, 9])})
    assert alike(beta=2).levels(groups).tolist() == [2, 2.1]
    assert alike(beta=2).satisfied_by(groups).tolist() == [True, False]
    tenth = Groups.from_counts(s=[[11, 9]], totals={"s": np.array([1, 1])})
    assert alike(beta=0.1).satisfied_by(tenth).all()


def test_frequent_values_may_not_become_certain_if_enhanced():
    """With p = 1/2 a group of one value gains 1, more than ln 2."""
    groups = Groups.from_counts(s=[[2, 0], [5, 3]], totals={"s": np.array([1, 1])})
    assert alike().satisfied_by(groups).tolist() == [True, True]
    assert alike(enhanced=True).satisfied_by(groups).tolist() == [False, True]
    assert alike(enhanced=True).levels(groups) == pytest.approx([1 / math.log(2), 0.25 / math.log(2)])


def test_a_small_beta_is_the_tighter_bound():
    groups = Groups.from_counts(s=[[6, 4]], totals={"s": np.array([1, 1])})
    assert alike(beta=0.2, enhanced=True).levels(groups).tolist() == alike(beta=0.2).levels(groups).tolist() == [0.2]


def test_losses_do_not_count():
    groups = Groups.from_counts(s=[[0, 1], [1, 1]], totals={"s": np.array([1, 99])})
    assert alike().levels(groups).tolist() == [float(Fraction(1, 99)), 49]


def test_the_only_value_of_a_table_gains_nothing():
    groups = Groups.from_counts(s=[[3, 0], [1, 0]])
    assert alike(enhanced=True).levels(groups).tolist() == alike().levels(groups).tolist() == [0, 0]


def test_what_the_table_lacks_is_an_infinite_gain():
    groups = Groups.from_counts(s=[[1, 1]], totals={"s": np.array([0, 5])})
    assert alike().levels(groups).tolist() == [math.inf]


def test_large_counts_stay_exact():
    big = 10**15
    groups = Groups.from_counts(s=[[3 * big, 7 * big], [3, 7]], totals={"s": np.array([big, 9 * big])})
    assert alike(beta=2).levels(groups).tolist() == [2, 2]


@given(counts(4), counts(4).filter(all), st.integers(1, 4), st.sampled_from([0.5, 2]), st.booleans())
def test_missing_values_that_may_be_anything_are_the_worst_value_of_the_table(row, totals, lost, beta, enhanced):
    model, reference = alike(beta=beta, enhanced=enhanced), {"s": np.array(totals)}
    filled = [[c + lost * (i == j) for i, c in enumerate(row)] for j in range(4)]
    worst = model.levels(Groups.from_counts(s=filled, totals=reference)).max()
    groups = Groups.from_counts(s=[row], totals=reference, missing={"s": [lost]})
    assert model.levels(groups) == pytest.approx([worst], rel=1e-15)


def test_missing_values_of_a_table_with_one_value_are_that_value():
    groups = Groups.from_counts(s=[[0, 3], [0, 0]], missing={"s": [1, 2]})
    assert alike().levels(groups).tolist() == [0, 0]


def test_a_table_without_any_known_value_protects_nobody():
    groups = Groups.from_counts(s=[[0, 0]], missing={"s": [3]})
    assert alike().levels(groups).tolist() == [math.inf]


def test_a_record_can_spoil_a_group():
    groups = Groups.from_counts(s=[[1, 1], [0, 1]], totals={"s": np.array([5, 5])})
    assert alike(beta=0.1).satisfied_by(groups).tolist() == [True, False]
    assert not alike(beta=0.1).satisfied_by(groups.merge_groups(groups.sizes * 0)).any()
    assert not BetaLikeness.extendable


@pytest.mark.parametrize("beta", [0, -1, True, "1", float("nan"), float("inf")])
def test_beta_is_a_number_above_0(beta):
    with pytest.raises(InvalidParameterError, match=r"BetaLikeness\.beta must be a number above 0; got"):
        alike(beta=beta)


def test_the_other_parameters_are_checked():
    with pytest.raises(InvalidParameterError, match="enhanced must be true or false; got 'yes'"):
        alike(enhanced="yes")
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        alike(sensitive=3)
