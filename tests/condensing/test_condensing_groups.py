"""Groups of records: how large they are, and that they are close and of one class."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.synthesis.condensation import partition_records


@given(st.integers(0, 10_000), st.integers(2, 7), st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_groups_have_k_to_2k_less_one_records_of_one_class(seed, k, extra):
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.repeat(np.arange(len(extra)), np.array(extra) + k))
    values = rng.integers(0, 4, size=(len(classes), 2)).astype(float)
    labels = partition_records(values, classes, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert len(sizes) == (np.bincount(classes) // k).sum()
    for group in range(len(sizes)):
        assert len(set(classes[labels == group])) == 1


def test_clusters_that_lie_apart_are_not_mixed():
    rng = np.random.default_rng(1)
    truth = rng.permutation(np.repeat(np.arange(8), 5))
    corners = np.array([[x, y, z] for x in (0, 100) for y in (0, 200) for z in (0, 400)])
    labels = partition_records(corners[truth] + rng.normal(size=(40, 3)), np.zeros(40, dtype=np.int64), 5)
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 8


def test_the_column_that_varies_most_is_cut():
    values = np.column_stack([np.arange(8) % 2, 10.0 * np.arange(8)])
    labels = partition_records(values, np.zeros(8, dtype=np.int64), 4)
    assert sorted(labels[:4].tolist()) == [0, 0, 0, 0]
    assert sorted(labels[4:].tolist()) == [1, 1, 1, 1]
