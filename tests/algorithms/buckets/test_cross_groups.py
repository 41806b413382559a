"""The order of records inside sets: compiled, by sets, and plain, by levels."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.tables.algorithms._segments.cuts import Axes
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import _Cutting


def axes() -> Axes:
    """Return an ordered axis of 50 leaves, and a tree of 6 leaves under 2 nodes under 1."""
    ordered = np.sort(np.random.default_rng(5).random(50))
    nodes = np.concatenate([np.arange(6), [0, 0, 0, 1, 1, 1], np.zeros(6)]).astype(np.int32)
    return Axes(
        leaves=np.array([50, 6]),
        heights=np.array([0, 2]),
        places=np.array([0, 50]),
        positions=np.concatenate([(ordered - ordered[0]) / (ordered[-1] - ordered[0]), np.arange(6) / 5]),
        trees=np.array([0, 0]),
        nodes=nodes,
        shares=np.concatenate([np.full(6, 1 / 6), np.full(6, 0.5), np.ones(6)]),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_both_ways_give_the_same_order(seed: int, dtype: type[np.unsignedinteger]) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([rng.integers(2, 40, 30), rng.integers(2, 400, 2), [1_500]])
    rows = int(sizes.sum())
    missing = int(seed % 2)  # the code after the last leaf is a missing value
    codes = np.stack([rng.integers(0, 50 + missing, rows), rng.integers(0, 6 + missing, rows)]).astype(dtype)
    cutting = _Cutting(sizes, 2)
    assert cutting._arranged_by_sets(codes, axes()).tolist() == cutting._arranged_by_levels(codes, axes()).tolist()
