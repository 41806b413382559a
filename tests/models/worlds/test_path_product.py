"""The product form of values that change: an estimate by everybody's own paths."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from series_oracle import drawn_history, written
from sfumato.tables.series._worlds.transitions import path_product_estimate, refine_path_bounds
from sfumato.tables.series.history import History

ONE_WAY = np.array([[True, True], [False, True]])
STAY = np.eye(2, dtype=np.bool_)


def estimates(history: History, relation: np.ndarray) -> list[float]:
    """List everybody's paths with the product of their shares, one by one."""
    found = []
    for person in range(history.persons):
        told = [
            (at, int(each.members[person])) for at, each in enumerate(history.releases) if each.members[person] >= 0
        ]
        weights, best = [], np.nan
        for path in product(range(len(relation)), repeat=len(told)):
            weight = 1.0
            for (before, after), (a, b) in zip(pairwise(told), pairwise(path), strict=True):
                weight *= bool(np.linalg.matrix_power(relation.astype(int), after[0] - before[0])[a, b])
            for value, (at, group) in zip(path, told, strict=True):
                part = history.releases[at].histogram.take(np.array([group]))
                weight *= dict(zip(part.codes.tolist(), part.counts / part.sizes[0], strict=True)).get(value, 0)
            weights.append((path, weight))
        total = sum(weight for _, weight in weights)
        for at, value in product(range(len(told)), range(len(relation))):
            share = sum(weight for path, weight in weights if path[at] == value) / total if total else 0.0
            best = np.fmax(best, share)
        found.append(float(best))
    return found


@examples(20)
@given(st.integers(0, 10**6), st.lists(st.booleans(), min_size=9, max_size=9))
def test_sums_forward_and_backward_are_those_of_all_paths(seed, changes):
    history = drawn_history(seed, persons=5)
    relation = np.array(changes).reshape(3, 3) | np.eye(3, dtype=np.bool_)
    assert path_product_estimate(history, relation) == pytest.approx(estimates(history, relation), nan_ok=True)


def test_it_is_exact_where_companions_differ_and_are_in_no_other_group():
    history = written("ab:xy", "acd:xyy")
    assert path_product_estimate(history, ONE_WAY)[0] == pytest.approx(refine_path_bounds(history, ONE_WAY).top[0])


def test_it_is_far_off_for_one_group_that_is_published_twice():
    history = written("abc:xxy", "abc:xxy")
    assert path_product_estimate(history, STAY) == pytest.approx([4 / 5] * 3)
    assert refine_path_bounds(history, STAY).top == pytest.approx([2 / 3] * 3)


def test_a_release_alone_says_the_share_of_the_most_frequent_value():
    assert path_product_estimate(written("abc:xxy"), STAY) == pytest.approx([2 / 3] * 3)
