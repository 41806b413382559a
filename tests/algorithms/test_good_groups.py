"""Which groups may be published together: judged on what is published, until nothing more falls."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import MODELS, SENSITIVE, VALUES, any_tasks
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import counts

BY_GROUPS = [models for models in MODELS if not any(model.needs_original for model in models)]

S = {"sensitive": "s"}
MATRICES = st.lists(counts(VALUES), min_size=1, max_size=7)


def counted(matrix):
    """Count groups of both sensitive attributes, alike in both."""
    dense = [[*row, 0] for row in matrix]
    return Groups.from_counts(domains=SENSITIVE, s=dense, number=dense)


def totals(matrix, groups):
    return [sum(matrix[g][value] for g in groups) for value in range(len(matrix[0]))]


def left(matrix, t, k=1):
    """Leave out all groups that are too small, or too far from the rest and themselves, and again."""
    groups = list(range(len(matrix)))
    while groups:
        table = totals(matrix, groups)
        close = [g for g in groups if oracles.equal_distance(matrix[g], table) <= Fraction(str(t))]
        good = [g for g in close if sum(matrix[g]) >= k]
        if good == groups:
            break
        groups = good
    return groups


@given(MATRICES, st.sampled_from([0.1, 0.25, 0.4, 0.6]))
def test_groups_that_are_close_to_what_is_published_are_kept(matrix, t):
    kept = find_valid_groups(counted(matrix), [TCloseness(t=t, **S)])
    assert np.flatnonzero(kept).tolist() == left(matrix, t)


@given(MATRICES, st.integers(1, 8), st.sampled_from([0.25, 0.4]))
def test_a_group_that_falls_by_one_model_is_not_compared_with_by_another(matrix, k, t):
    kept = find_valid_groups(counted(matrix), [KAnonymity(k=k), TCloseness(t=t, **S)])
    assert np.flatnonzero(kept).tolist() == left(matrix, t, k)


@pytest.mark.parametrize("models", BY_GROUPS, ids=repr)
@examples(8)
@given(matrix=MATRICES, data=st.data())
def test_the_order_of_groups_says_nothing(models, matrix, data):
    order = data.draw(st.permutations(range(len(matrix))))
    kept = find_valid_groups(counted(matrix), models)
    assert find_valid_groups(counted([matrix[g] for g in order]), models).tolist() == kept[list(order)].tolist()


@pytest.mark.parametrize("models", BY_GROUPS, ids=repr)
@examples(8)
@given(matrix=MATRICES)
def test_what_is_kept_is_good_by_itself(models, matrix):
    kept = find_valid_groups(counted(matrix), models)
    rest = counted([row for row, is_kept in zip(matrix, kept, strict=True) if is_kept]) if kept.any() else None
    assert rest is None or all(model.satisfied_by(rest).all() for model in models)


@pytest.mark.parametrize("models", BY_GROUPS, ids=repr)
@examples(8)
@given(matrix=MATRICES)
def test_models_that_do_not_compare_are_asked_once(models, matrix):
    groups = counted(matrix)
    once = np.logical_and.reduce([np.ones(len(matrix), dtype=bool), *(model.satisfied_by(groups) for model in models)])
    kept = find_valid_groups(groups, models)
    assert not (kept & ~once).any()
    if not any(model.compares_with_table for model in models):
        assert kept.tolist() == once.tolist()


def test_suppressing_a_group_moves_the_table_towards_the_others():
    """Methods 2.1, pitfall a: with groups (4,6) and (0,3) of a table that is even, t = 0.1."""
    even = {"s": np.array([20, 20])}
    model = TCloseness(t=0.1, **S)
    apart = Groups.from_counts(totals=even, s=[[4, 6], [0, 3]])
    assert model.satisfied_by(apart).tolist() == [True, False]
    merged = apart.merge_groups(np.array([0, 0]))
    assert model.levels(merged)[0] == pytest.approx(9 / 13 - 1 / 2)
    assert not model.satisfied_by(merged).any()


def test_with_suppression_a_more_general_node_can_suppress_more():
    """The same pitfall where the table is what is published: (16,16), once the 3 records of (0,3) are left out."""
    model = TCloseness(t=0.1, **S)
    fine = Groups.from_counts(s=[[4, 6], [0, 3], [12, 10]])
    coarse = fine.merge_groups(np.array([0, 0, 1]))
    assert fine.sizes[~find_valid_groups(fine, [model])].tolist() == [3]
    assert coarse.sizes[~find_valid_groups(coarse, [model])].tolist() == [13]


def test_a_group_can_fall_because_another_fell():
    """In (5,7) the group (1,2) is close enough, in (5,6) it is not."""
    groups, model = Groups.from_counts(s=[[0, 1], [1, 1], [1, 2], [3, 3]]), TCloseness(t=0.1, **S)
    assert model.satisfied_by(groups).tolist() == [False, True, True, True]
    assert find_valid_groups(groups, [model]).tolist() == [False, True, False, True]
    assert find_valid_groups(groups, [TCloseness(t=0.09, **S), model]).tolist() == [False, True, False, True]


def test_all_groups_may_fall():
    groups = Groups.from_counts(s=[[6, 0], [0, 2], [0, 1]])
    assert not find_valid_groups(groups, [TCloseness(t=0.3, **S)]).any()
    assert find_valid_groups(groups, [TCloseness(t=0.7, **S)]).all()


def test_no_group_is_judged_by_no_model_and_no_models_keep_all():
    empty = Groups.from_counts(s=[[1, 1]]).take(np.zeros(0, dtype=np.intp))
    assert find_valid_groups(empty, [TCloseness(t=0.3, **S)]).shape == (0,)
    assert find_valid_groups(Groups.from_counts(s=[[1, 1]]), []).all()


@given(any_tasks((KAnonymity(k=3),)))
def test_k_anonymity_is_judged_by_counting(task):
    oracle, recodings = Oracle(task), Recodings(task)
    for levels, node in oracle.nodes.items():
        assert recodings.check(levels, fully=True).suppressed == sum(
            len(rows) for rows in node.groups.values() if len(rows) < 3
        )


@given(any_tasks((DistinctLDiversity(l=2, **S),)))
def test_distinct_diversity_is_judged_by_counting_values(task):
    oracle, recodings = Oracle(task), Recodings(task)
    column = task.table.sensitive[0]
    for levels, node in oracle.nodes.items():
        bad = 0
        for rows in node.groups.values():
            values = Counter(int(column.codes[row]) for row in rows)
            known = set(values) - {column.domain.missing}
            bad += len(rows) * (len(known) < 2)
        assert recodings.check(levels, fully=True).suppressed == bad
