"""Statistics of groups against their definitions, and the split of an exercise.

The exercise is number 6 of chapter 20 of Aggarwal, "Data Mining: The Textbook", Springer, 2015.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.synthesis._statistics import GroupStatistics, standard_deviations, standardize

ONES = np.ones(2)


def turned(degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def one_group(size: int, mean: np.ndarray, covariance: np.ndarray) -> GroupStatistics:
    return GroupStatistics(np.array([size]), np.array([mean], dtype=float), size * covariance[None])


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.0, -5e3, 1e9]))
def test_statistics_of_rows_are_those_of_numpy(seed, groups, offset):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(groups), rng.integers(groups, size=20)])
    values = offset + rng.integers(-50, 50, size=(len(labels), 3)) / 4
    found = GroupStatistics.from_rows(values, labels, groups)
    for group in range(groups):
        members = values[labels == group]
        assert found.sizes[group] == len(members)
        np.testing.assert_allclose(found.means[group], members.mean(axis=0), rtol=1e-14)
        expected = np.cov((members - offset).T, bias=True) if len(members) > 1 else np.zeros((3, 3))
        np.testing.assert_allclose(found.covariances[group], expected, atol=1e-5 if offset == 1e9 else 1e-9)


def test_covariances_follow_the_printed_formula():
    rows = np.array([[1.0, 2.0], [3.0, 1.0], [5.0, 9.0], [2.0, 2.0]])
    sums, products = rows.sum(axis=0), rows.T @ rows
    held = GroupStatistics.from_sums(np.array([4]), sums[None], products[None])
    np.testing.assert_allclose(held.covariances[0], products / 4 - np.outer(sums, sums) / 16)
    np.testing.assert_allclose(held.sums[0], sums)
    np.testing.assert_allclose(held.products[0], products)
    np.testing.assert_allclose(held.scatter, GroupStatistics.from_rows(rows, np.zeros(4, dtype=int), 1).scatter)


def test_large_offsets_cost_no_digits():
    rows = np.array([[1e9], [1e9 + 1], [1e9 + 2]])
    held = GroupStatistics.from_rows(rows, np.zeros(3, dtype=int), 1)
    assert held.covariances[0, 0, 0] == 2 / 3


def test_a_group_splits_as_exercise_6_asks():
    # lambda = 12, so R = sqrt(12 * 12) = 12: the means move by R/4 = 3 along V, and 12 becomes 12/4 = 3.
    first, second = one_group(10, np.array([7.0, -2.0]), np.diag([12.0, 1.0])).split(ONES)
    np.testing.assert_allclose(first.means[0], [4.0, -2.0])
    np.testing.assert_allclose(second.means[0], [10.0, -2.0])
    for half in (first, second):
        assert half.sizes[0] == 5
        np.testing.assert_allclose(half.covariances[0], np.diag([3.0, 1.0]), atol=1e-12)


@pytest.mark.parametrize("degrees", [0, 30, 45, 100, 170])
def test_a_turned_group_splits_along_its_longest_axis(degrees):
    axes, mean = turned(degrees), np.array([100.0, 200.0])
    halves = one_group(6, mean, axes @ np.diag([5.0, 2.0]) @ axes.T).split(ONES)
    step = np.sqrt(3 * 5.0) / 2 * axes[:, 0]
    expected = {tuple(np.round(mean + sign * step, 9)) for sign in (1, -1)}
    assert {tuple(np.round(half.means[0], 9)) for half in halves} == expected
    for half in halves:
        np.testing.assert_allclose(half.covariances[0], axes @ np.diag([5 / 4, 2.0]) @ axes.T, atol=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 30))
def test_both_halves_together_are_the_whole(seed, size):
    rows = np.random.default_rng(seed).normal(size=(size, 3)) * [1, 1000, 0.01]
    whole = GroupStatistics.from_rows(rows, np.zeros(size, dtype=int), 1)
    halves = whole.split(standard_deviations(rows))
    sizes = [int(half.sizes[0]) for half in halves]
    assert sum(sizes) == size
    assert abs(sizes[0] - sizes[1]) <= 1
    if size % 2 == 0:
        np.testing.assert_allclose(sum(half.sums for half in halves), whole.sums, atol=1e-9)
        np.testing.assert_allclose(sum(half.products for half in halves), whole.products, atol=1e-6)


def test_the_unit_of_a_column_does_not_change_the_split():
    rows = np.random.default_rng(3).normal(size=(20, 2)) @ [[1.0, 0.7], [0.0, 0.3]]
    unit = np.array([1.0, 1e6])
    plain = GroupStatistics.from_rows(rows, np.zeros(20, dtype=int), 1).split(standard_deviations(rows))
    other = GroupStatistics.from_rows(rows * unit, np.zeros(20, dtype=int), 1).split(standard_deviations(rows * unit))
    for half, scaled in zip(plain, other, strict=True):
        np.testing.assert_allclose(half.means * unit, scaled.means, rtol=1e-9)
        np.testing.assert_allclose(half.covariances * np.outer(unit, unit), scaled.covariances, rtol=1e-7)


def test_no_variance_is_negative():
    along_a_line = np.outer(np.arange(7.0) / 3, [0.1, 0.7, 1.3])
    held = GroupStatistics.from_rows(along_a_line, np.zeros(7, dtype=int), 1)
    variances, directions = held.axes(np.ones(3))
    assert (variances >= 0).all()
    again = (directions * variances[:, None]) @ directions.swapaxes(1, 2)
    np.testing.assert_allclose(again, held.covariances, atol=1e-12)


def test_constant_columns_have_a_scale_and_deviate_by_nothing():
    rows = np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]])
    scales = standard_deviations(rows)
    assert scales[0] == 1.0
    assert (standardize(rows, scales)[:, 0] == 0).all()
