"""Halving: every run is cut at the same count, the plain and the compiled loop alike."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.tables.algorithms.bucketization._bisection import (
    SMALL,
    Bisection,
    argsort_keys,
    bisect_compiled,
    bisect_with_numpy,
)


def drawn(seed: int, largest: int) -> Bisection:
    """Draw parts with runs of different lengths, one of them full."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, largest + 1, rng.integers(1, 4))
    lengths, part = [], []
    for at, most in enumerate(size.tolist()):
        for number in range(rng.integers(1, 5)):
            lengths.append(most if number == 0 else int(rng.integers(1, most + 1)))
            part.append(at)
    rows, axes, width = sum(lengths), int(rng.integers(1, 4)), int(rng.integers(1, 12))
    return Bisection(
        np.repeat(np.arange(len(lengths)), lengths),
        np.array(part),
        size.astype(np.int64),
        rng.integers(0, width, (axes, rows)).astype(np.int32),
        np.sort(rng.random((axes, width)), axis=1).ravel(),
        np.arange(axes) * width,
    )


@pytest.mark.parametrize("largest", [1, 2, 7, 130])
def test_plain_and_compiled_loops_agree_and_nobody_of_a_run_shares_a_leaf(largest):
    for seed in range(8):
        halving = drawn(seed, largest)
        leaf = bisect_with_numpy(halving)
        assert np.array_equal(leaf, bisect_compiled(halving))
        for run, part in enumerate(halving.part.tolist()):
            mine = leaf[halving.run == run]
            assert len(set(mine.tolist())) == len(mine)
            assert 0 <= mine.min() <= mine.max() < halving.size[part]


def test_the_attribute_with_the_narrowest_halves_is_cut_and_equal_records_keep_their_order():
    codes = np.array([[0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 3, 3, 0, 0, 3, 3]], dtype=np.int32)
    positions = np.array([0, 0.1, 0.2, 0.3, 0, 0.3, 0.6, 1.0])
    halving = Bisection(
        np.repeat([0, 1], 4), np.zeros(2, dtype=np.int64), np.array([4]), codes, positions, np.array([0, 4])
    )
    assert halving.leaves().tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    same = Bisection(halving.run, halving.part, halving.size, np.zeros_like(codes), positions, halving.places)
    assert same.leaves().tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize("span", [9, SMALL + 9, SMALL * SMALL + 9])
def test_order_is_stable_for_small_and_large_keys(span):
    keys = np.random.default_rng(1).integers(0, 9, 50) * (span // 9)
    assert np.array_equal(argsort_keys(keys, span), np.argsort(keys, kind="stable"))
