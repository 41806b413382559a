"""Draws: how many of every group, how far along its axes, and which of its values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato._randomness import KeyedRandom
from sfumato._randomness import secret_from_seed as fixed
from sfumato.io._values import to_numbers
from sfumato.synthesis._columns import ColumnType, SynthesizedColumn, column_from_numbers, column_from_texts
from sfumato.synthesis._sampling import (
    GroupMixture,
    ValueCounts,
    apportion_rows,
    random_source,
    sample_codes,
    sample_numbers,
)
from sfumato.synthesis._statistics import GroupStatistics


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 200), st.integers(0, 99))
def test_every_group_yields_its_share_rounded_up_or_down(sizes, rows, seed):
    found = np.bincount(apportion_rows(np.array(sizes), rows, KeyedRandom(fixed(seed))), minlength=len(sizes))
    assert found.sum() == rows
    assert (np.abs(found - rows * np.array(sizes) / sum(sizes)) < 1).all()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 3), st.integers(0, 99))
def test_alpha_times_as_many_records_are_alpha_times_every_group(sizes, alpha, seed):
    found = np.bincount(apportion_rows(np.array(sizes), alpha * sum(sizes), KeyedRandom(fixed(seed))))
    assert found.tolist() == [alpha * size for size in sizes]


def test_shares_are_rounded_without_favor():
    stream = KeyedRandom(fixed(5))
    found = sum(np.bincount(apportion_rows(np.array([1, 2]), 1, stream), minlength=2) for _ in range(3000))
    # binomial with p = 2/3; six and a half standard deviations, false alarm below 1e-9
    assert abs(found[1] - 2000) < 6.5 * np.sqrt(3000 * 2 / 9)


def test_records_are_uniform_along_the_axes():
    axes = np.array([[0.6, -0.8], [0.8, 0.6]])
    covariance = axes @ np.diag([4.0, 0.25]) @ axes.T
    held = GroupStatistics(np.array([9]), np.array([[50.0, 1e6]]), 9 * covariance[None])
    drawn = sample_numbers(held, np.array([1.0, 1.0]), np.zeros(40_000, dtype=np.int64), KeyedRandom(fixed(2)))
    along = (drawn - held.means[0]) @ axes
    for place, variance in enumerate((4.0, 0.25)):
        reach = np.sqrt(3 * variance)
        assert np.abs(along[:, place]).max() <= reach * (1 + 1e-6)
        # eight equal parts of the range are hit equally often: 6.5 standard deviations, false alarm below 2e-9
        counts, _ = np.histogram(along[:, place], bins=8, range=(-reach, reach))
        assert np.abs(counts - 5000).max() < 6.5 * np.sqrt(40_000 * 7 / 64)
    assert abs(np.corrcoef(along.T)[0, 1]) < 6.5 / np.sqrt(40_000)


def test_values_come_from_their_group_by_their_share():
    tally = ValueCounts.from_rows(["a", "b", "c"], np.array([0, 0, 0, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1]))
    groups = np.repeat([0, 1], 4000)
    codes = sample_codes(tally, np.array([4, 2]), groups, KeyedRandom(fixed(3)))
    assert set(codes[groups == 1]) == {2}
    assert set(codes[groups == 0]) == {0, 1}
    assert abs((codes[groups == 0] == 0).sum() - 3000) < 6.5 * np.sqrt(4000 * 3 / 16)


def test_a_table_of_counts_is_the_same_tally():
    labels, codes = np.array([0, 1, 1, 0, 2]), np.array([1, 0, 0, 1, 1])
    counts = np.zeros((3, 2), dtype=np.int64)
    np.add.at(counts, (labels, codes), 1)
    one, other = ValueCounts.from_rows(["a", "b"], codes, labels), ValueCounts.from_table(["a", "b"], counts)
    assert (one.codes.tolist(), one.counts.tolist()) == (other.codes.tolist(), other.counts.tolist())


def test_a_secret_repeats_a_draw_of_the_same_groups_and_none_does_not():
    def words(secret, drawn, mean=0.0):
        statistics = GroupStatistics.from_rows(np.array([[mean], [1.0]]), np.zeros(2, dtype=np.int64), 1)
        return random_source(secret, drawn, GroupMixture((), statistics, np.ones(1), ())).random_uint64(3).tolist()

    secret = fixed(4)
    assert words(secret, 1) == words(secret, 1)
    assert words(secret, 1) != words(secret, 2)
    assert words(secret, 1) != words(secret, 1, mean=0.5)
    assert words(None, 0) != words(None, 0)


@pytest.mark.parametrize(
    ("kind", "numbers", "expected"),
    [
        (ColumnType.WHOLE, [1.4, -2.6, 1.6], ["1", "-3", "2"]),
        (ColumnType.NUMBER, [1.25], ["1.25"]),
        (ColumnType.DATE, [0.6, 365.2], ["1970-01-02", "1971-01-01"]),
        (ColumnType.MOMENT, [0.5], ["1970-01-01 12:00:00.000000"]),
    ],
)
def test_numbers_become_values_of_their_kind_and_back(kind, numbers, expected):
    column = column_from_numbers(np.array(numbers), kind)
    assert [str(value) for value in column.cast("string").to_pylist()] == expected
    assert np.abs(to_numbers(column) - numbers).max() <= 0.5


def test_texts_become_values_of_their_kind():
    assert column_from_texts(["true", "false"], ColumnType.BOOLEAN).to_pylist() == [True, False]
    assert column_from_texts(["12", "7"], ColumnType.WHOLE).to_pylist() == [12, 7]


def test_a_column_widens_only_to_what_holds_its_values():
    assert SynthesizedColumn("a", ColumnType.WHOLE, numeric=True).widen(ColumnType.NUMBER).kind is ColumnType.NUMBER
    assert SynthesizedColumn("a", ColumnType.NUMBER, numeric=True).widen(ColumnType.WHOLE).kind is ColumnType.NUMBER
    assert SynthesizedColumn("a", ColumnType.DATE, numeric=True).widen(ColumnType.MOMENT).kind is ColumnType.MOMENT
    assert SynthesizedColumn("a", ColumnType.DATE, numeric=True).widen(ColumnType.WHOLE) is None
    assert SynthesizedColumn("a", ColumnType.TEXT, numeric=False).widen(ColumnType.WHOLE) is None
