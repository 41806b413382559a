"""Which values share a bucket: golden values, brute force, and what is left over."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.tables.algorithms.bucketization._assignment import (
    assign_buckets,
    distribute_in_turn,
    ineligible_error,
    is_eligible,
    min_suppression,
    suppress_frequent_values,
)

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any)
WHOLE = st.integers(1, 5)
FRACTIONAL = st.sampled_from([1.2, 1.5, 2.25, 2.5, 3.3])


def eligible_part(counts, l):
    return (np.array(counts) - min_suppression(counts, l)).tolist()


def replayed(counts, pieces):
    """Give what is left after every piece."""
    left = list(counts)
    for codes, repetitions in pieces:
        for code, often in Counter(codes).items():
            left[code] -= often * repetitions
        yield list(left)


def brute_step(counts, l, betas):
    """Find the first number of values that can be taken, and how often, by trying all."""
    order = sorted((code for code, count in enumerate(counts) if count), key=lambda code: (-counts[code], code))
    for beta in betas:
        for often in range(max(counts), 0, -1):
            chosen = order[:beta]
            left = [count - often * (code in chosen) for code, count in enumerate(counts)]
            if len(chosen) == beta and min(left) >= 0 and max(left) * Fraction(str(l)) <= sum(left):
                return tuple(chosen), often
    return None


@pytest.mark.parametrize(
    ("counts", "l", "alpha", "beta"), [((5, 4, 3, 2), 2, 4, 2), ((3, 3, 3), 2, 1, 2), ((1, 1, 1), 2, 1, 3)]
)
def test_the_first_step_is_that_of_the_paper(counts, l, alpha, beta):
    codes, repetitions = assign_buckets(counts, l)[0]
    assert (repetitions, len(codes)) == (alpha, beta)


def test_the_short_cut_of_the_thesis_is_not_taken():
    assert assign_buckets([4, 4, 3, 1], 3) == [((0, 1, 2), 3), ((0, 1, 3), 1)]


@given(COUNTS, WHOLE, st.integers(1, 4))
@examples(200)
def test_every_step_is_the_one_that_brute_force_finds(counts, l, step):
    counts = eligible_part(counts, l)
    start = -(-l // step) * step
    pieces = assign_buckets(counts, l, start=start, step=step)
    left = counts
    for piece, after in zip(pieces, replayed(counts, pieces), strict=True):
        values = len([count for count in left if count])
        expected = brute_step(left, l, range(start, values + 1, step)) or brute_step(left, l, range(l, values + 1))
        assert piece == expected
        left = after
    assert not any(left)


@given(COUNTS, WHOLE | FRACTIONAL)
@examples(200)
def test_no_remainder_is_ineligible_and_no_bucket_too_poor(counts, l):
    counts = eligible_part(counts, l)
    pieces = assign_buckets(counts, l)
    for codes, repetitions in pieces:
        assert repetitions >= 1
        assert max(Counter(codes).values()) * Fraction(str(l)) <= len(codes)
        if isinstance(l, int):
            assert len(set(codes)) == len(codes) >= l
    remainders = list(replayed(counts, pieces))
    assert all(is_eligible(left, l) for left in remainders) or not isinstance(l, int)
    assert not any(remainders[-1] if remainders else [])


def test_a_fractional_l_repeats_values_only_where_it_must():
    assert assign_buckets([2, 1], 1.5) == [((0, 0, 1), 1)]
    assert assign_buckets([30, 30, 30], 2.5) == assign_buckets([30, 30, 30], 3)
    assert assign_buckets([39, 30, 30], 2.5)[0] == ((0, 1, 2), 3)


def test_work_does_not_grow_with_the_number_of_records():
    few = assign_buckets([5 * 10, 4 * 10, 3 * 10, 2 * 10], 2)
    many = assign_buckets([5 * 10**12, 4 * 10**12, 3 * 10**12, 2 * 10**12], 2)
    assert [codes for codes, _ in few] == [codes for codes, _ in many]


def test_an_ineligible_input_is_refused():
    with pytest.raises(sf.errors.InfeasibleError, match="too frequent"):
        assign_buckets([3, 1], 2)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any), WHOLE | FRACTIONAL)
@examples(100)
def test_no_smaller_surplus_does(counts, l):
    lost = min_suppression(counts, l)
    assert (lost >= 0).all()
    assert is_eligible(np.array(counts) - lost, l)
    ways = itertools.product(*(range(count + 1) for count in counts))
    assert lost.sum() == min(sum(counts) - sum(kept) for kept in ways if is_eligible(kept, l))


def test_only_too_frequent_values_have_a_surplus():
    assert min_suppression([9, 2, 2], 2).tolist() == [5, 0, 0]
    assert min_suppression([9, 5, 2, 1], 2).tolist() == [1, 0, 0, 0]
    assert min_suppression([2, 2], 3).tolist() == [2, 2]
    assert min_suppression([4, 4, 3, 1], 3).tolist() == [0, 0, 0, 0]


def test_rows_of_the_surplus_are_left_out():
    codes = np.array([0, 1, 0, 0, 1, 2], dtype=np.uint8)
    kept = suppress_frequent_values(np.arange(6), codes, np.array([2, 0, 1]), np.random.default_rng(1))
    assert np.bincount(codes[kept], minlength=3).tolist() == [1, 2, 0]
    assert kept.tolist() == sorted(kept.tolist())


@given(COUNTS, st.integers(1, 12))
def test_dealt_buckets_get_their_share_of_every_value(counts, buckets):
    buckets = min(buckets, sum(counts))
    pieces = list(distribute_in_turn(list(enumerate(counts)), buckets))
    assert sum(repetitions for _, repetitions in pieces) == buckets
    assert not any(list(replayed(counts, pieces))[-1])
    for codes, _ in pieces:
        assert len(codes) in {sum(counts) // buckets, -(-sum(counts) // buckets)}
        for code, count in enumerate(counts):
            assert math.floor(count / buckets) <= codes.count(code) <= math.ceil(count / buckets)


def test_the_error_names_column_share_and_largest_l():
    message = str(ineligible_error("disease", [6, 2, 1], 2))
    assert "'disease'" in message
    assert "66.67%" in message
    assert "at most 1.5 " in message
    assert "3 records" in message
