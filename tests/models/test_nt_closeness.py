"""(n,t)-closeness: its own facts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted import named
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import group_counts


def close(**changed: object) -> NTCloseness:
    return NTCloseness(**{"n": 4, "t": 0.3, "sensitive": "s", **changed})


def test_a_large_group_is_its_own_superset():
    groups = Groups.from_counts(s=[[4, 0], [3, 0], [0, 5], [2, 1]])
    assert close().levels(groups).tolist() == [0, 0.4, 0, 1 / 15]
    assert close().satisfied_by(groups).tolist() == [True, False, True, True]


def test_a_table_of_fewer_than_n_records_leaves_nothing_to_be_close_to():
    groups = Groups.from_counts(s=[[1, 1], [1, 1]])
    assert close(n=5).levels(groups).tolist() == [math.inf, math.inf]
    assert close(n=4).levels(groups).tolist() == [0, 0]


@given(group_counts(), st.sampled_from(["equal", "variational", "ordered", "kl"]))
def test_with_n_the_size_of_the_table_it_is_t_closeness(matrix, distance):
    groups = Groups.from_counts(s=matrix)
    model = close(n=int(groups.sizes.sum()), distance=distance)
    expected = TCloseness(t=0.3, sensitive="s", distance=distance).levels(groups)
    assert model.levels(groups) == pytest.approx(np.where(groups.sizes == groups.sizes.sum(), 0, expected))


def test_a_matrix_gives_the_distance_of_t_closeness():
    groups, costs = Groups.from_counts(s=[[1, 1, 0], [3, 0, 1], [0, 2, 2]]), [[0, 1, 4], [1, 0, 2], [4, 2, 0]]
    expected = TCloseness(t=1, sensitive="s", distance="matrix", costs=costs).levels(groups)
    assert close(n=5, t=1, distance="matrix", costs=costs).levels(groups).tolist() == expected.tolist()


def test_a_small_group_can_be_spoiled_but_not_a_large_one():
    groups = Groups.from_counts(s=[[1, 1], [0, 1], [3, 2]])
    assert close(t=0.1).satisfied_by(groups).tolist() == [True, False, True]
    assert close(t=0.1).satisfied_by(groups.merge_groups(np.array([0, 0, 1]))).tolist() == [False, True]
    assert close(t=0.1).satisfied_by(groups.merge_groups(np.array([0, 1, 1]))).tolist() == [True, True]
    assert not NTCloseness.extendable


def test_missing_values_that_may_be_anything_are_records_of_their_group():
    groups = Groups.from_counts(s=[[2, 0], [1, 1]], missing={"s": [2, 0]})
    assert close(n=4).levels(groups).tolist() == [0, 0.25]


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match=r"NTCloseness\.n must be a whole number of at least 1; got 0"):
        close(n=0)
    with pytest.raises(InvalidParameterError, match=r"NTCloseness\.t must be a number from 0 to 1; got 2"):
        close(t=2)
    with pytest.raises(
        InvalidParameterError, match=r"NTCloseness\.costs must be given if and only if the distance is 'matrix'"
    ):
        close(distance="matrix")
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        close(sensitive=3)
    with pytest.raises(SchemaError, match="'s' is nominal and has no order for NTCloseness"):
        close(distance="ordered").levels(named([[1, 1], [1, 2]], ["a", "b"]))
