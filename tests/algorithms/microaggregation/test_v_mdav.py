"""V-MDAV equals its definition; groups grow with gamma; what is left over joins the nearest group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering_oracle as oracle
from clustering_oracle import as_groups, coded_tables, numbers, task_for
from drawn_examples import examples
from sfumato.errors import InvalidParameterError
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_points
from sfumato.tables.algorithms.microaggregation._tree_clusters import cluster_by_v_mdav
from sfumato.tables.algorithms.microaggregation.v_mdav import VMDAV

GAMMAS = st.sampled_from([0.0, 0.2, 0.7, 1.1, 3.0])


def silent(_done):
    """Show no progress."""


@given(coded=coded_tables(), k=st.integers(2, 5), gamma=GAMMAS, scaling=st.sampled_from(["deviation", "range"]))
def test_groups_are_those_of_the_definition(coded, k, gamma, scaling):
    points = to_points(RecordSpace.of(coded), scaling)
    found = cluster_by_v_mdav(points, k, gamma, silent)
    assert (as_groups(found) if found.max() >= 0 else []) == oracle.v_mdav(points, k, gamma)


@given(coded=coded_tables(), k=st.integers(2, 4), gamma=GAMMAS)
@examples(30)
def test_what_is_left_over_joins_the_group_of_the_nearest_center(coded, k, gamma):
    points = to_points(RecordSpace.of(coded), "deviation")
    found = VMDAV(gamma=gamma).cluster(RecordSpace.of(coded), k, task_for(coded))
    groups = oracle.v_mdav(points, k, gamma)
    if not groups:
        assert not found.any()
        return
    centers = [oracle.center(points, rows) for rows in groups]
    for row in range(coded.rows):
        inside = [number for number, rows in enumerate(groups) if row in rows]
        apart = [oracle.squared(points, oracle.point(points, row), center) for center in centers]
        assert apart[found[row]] == pytest.approx(min(apart)) if not inside else [found[row]] == inside


def test_a_record_beside_a_group_joins_it_if_gamma_is_large():
    coded = numbers(0, 1, 2, 3.5, 20, 21, 22)
    few, many = (VMDAV(gamma=gamma).cluster(RecordSpace.of(coded), 3, task_for(coded)) for gamma in (0.0, 1.1))
    assert as_groups(many) == [[4, 5, 6], [0, 1, 2, 3]]
    assert as_groups(few) == [[4, 5, 6], [0, 1, 2, 3]]  # it joins as the nearest group's left-over
    crowd = numbers(0, 1, 2, 3, 20, 21, 22, 40, 41, 42, 43)
    sizes = [
        sorted(
            np.bincount(cluster_by_v_mdav(to_points(RecordSpace.of(crowd), "range"), 3, gamma, silent) + 1)[1:].tolist()
        )
        for gamma in (0.0, 1.1)
    ]
    assert sizes == [[3, 3, 3], [3, 4, 4]]


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), "wide", True])
def test_gamma_must_be_a_number_of_at_least_0(gamma):
    with pytest.raises(InvalidParameterError, match=r"VMdav\.gamma must be a number of at least 0"):
        VMDAV(gamma=gamma)


def test_fewer_records_than_a_group_needs_are_one_group():
    coded = numbers(1, 2)
    assert VMDAV().cluster(RecordSpace.of(coded), 3, task_for(coded)).tolist() == [0, 0]
