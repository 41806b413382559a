"""Values per group are counted alike in a dense table and by hashing, weighted or not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core._kernels import grouping
from sfumato.encoding import _counts
from sfumato.encoding._counts import sparse_counts, sum_by_key

RECORDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), max_size=40)


def as_counter(counted):
    offsets, codes, counts = counted
    groups = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()
    assert (np.diff(np.array(groups, dtype=np.int64) * 1000 + codes) > 0).all()
    return dict(zip(zip(groups, codes.tolist(), strict=True), counts.tolist(), strict=True))


def expected_counts(records, *, weighted):
    counter = Counter()
    for group, code, weight in records:
        counter[group, code] += weight if weighted else 1
    return {key: count for key, count in counter.items() if count}


@given(RECORDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("path", ["dense", "sorted", "hashed"])
def test_values_are_counted_as_by_a_counter(path, weighted, records):
    if path == "hashed" and not records:
        return
    group, code, weight = (np.array([record[i] for record in records], dtype=np.int32) for i in range(3))
    with pytest.MonkeyPatch.context() as patch:
        if path != "dense":
            patch.setattr(_counts, "DENSE_CELLS", -1)
            patch.setattr(grouping, "COMPILED_ROWS", 0 if path == "hashed" else 1 << 40)
        # 400 groups of 7 values are more cells than four per record, so nothing but DENSE_CELLS makes them dense
        counted = sparse_counts(group, 400, code, 7, weight if weighted else None)
    assert len(counted[0]) == 401
    assert as_counter(counted) == expected_counts(records, weighted=weighted)


def test_counts_above_a_float32_are_exact():
    weights = np.array([2**31 - 1, 2**31 - 1, 1], dtype=np.int64)
    _, codes, counts = sparse_counts(np.zeros(3, dtype=np.int32), 1, np.array([1, 1, 0]), 2, weights)
    assert codes.tolist() == [0, 1]
    assert counts.tolist() == [1, 2**32 - 2]


def test_many_groups_of_wide_values_do_not_overflow_their_keys():
    group = np.array([2**31 - 2, 0, 2**31 - 2], dtype=np.int32)
    offsets, codes, counts = sparse_counts(group[:0], 0, group[:0], 5)
    assert offsets.tolist() == [0]
    assert len(codes) == len(counts) == 0
    keys = group.astype(np.int64) * (2**31)
    assert sum_by_key(keys, np.ones(3, dtype=np.int64))[1].tolist() == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9))))
def test_sums_by_key_are_those_of_a_counter(pairs):
    expected = Counter()
    for key, count in pairs:
        expected[key] += count
    keys, sums = sum_by_key(*(np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(2)))
    assert keys.tolist() == sorted(expected)
    assert sums.tolist() == [expected[key] for key in sorted(expected)]
