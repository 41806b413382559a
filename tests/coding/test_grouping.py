"""Rows are grouped alike by a table of places, by sorting and by the compiled hash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core._kernels import grouping
from sfumato.core._kernels.grouping import LARGEST_KEY, group_columns, group_keys, representative_rows

PATHS = ("dense", "sorted", "hashed")


@pytest.fixture(params=PATHS)
def path(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "DENSE_RANGE", LARGEST_KEY if request.param == "dense" else -1)
        patch.setattr(grouping, "COMPILED_ROWS", 0 if request.param == "hashed" else LARGEST_KEY)
        yield request.param


def expected_groups(rows):
    groups = {}
    for number, row in enumerate(rows):
        groups.setdefault(row, []).append(number)
    return groups


def assert_groups(grouped, rows, keys=None):
    """Compare labels, counts and keys with a dictionary of the rows."""
    expected = expected_groups(rows)
    assert len(grouped) == len(expected)
    found = {}
    for number, label in enumerate(grouped.labels.tolist()):
        found.setdefault(label, []).append(number)
    assert sorted(found.values()) == sorted(expected.values())
    assert set(found) == set(range(len(expected)))
    assert grouped.counts.tolist() == [len(found[label]) for label in range(len(found))]
    if keys is not None:
        assert grouped.keys.tolist() == [keys[found[label][0]] for label in range(len(found))]
    assert representative_rows(grouped).tolist() == [found[label][0] for label in range(len(found))]


@pytest.mark.usefixtures("path")
def test_keys_of_a_small_range_are_grouped_as_by_a_dictionary():
    rng = np.random.default_rng(1)
    for rows, span in ((1, 1), (1, 700), (7, 3), (500, 40), (3000, 1500)):
        keys = rng.integers(0, span, rows)
        assert_groups(group_keys(keys, span), keys.tolist(), keys.tolist())


@pytest.mark.parametrize("path", ["sorted", "hashed"], indirect=True)
@pytest.mark.usefixtures("path")
def test_keys_near_the_largest_are_grouped_as_by_a_dictionary():
    rng = np.random.default_rng(2)
    keys = LARGEST_KEY - rng.integers(1, 300, 2000)
    assert_groups(group_keys(keys), keys.tolist(), keys.tolist())
    mixed = np.concatenate([keys, rng.integers(0, 300, 2000), [0, LARGEST_KEY - 1]])
    assert_groups(group_keys(mixed), mixed.tolist(), mixed.tolist())


@pytest.mark.parametrize("path", ["sorted", "hashed"], indirect=True)
@pytest.mark.parametrize("step", [1, 2, 1 << 16, 1 << 24, 1 << 40, 1 << 52])
@pytest.mark.usefixtures("path")
def test_keys_in_equal_steps_are_grouped_as_by_a_dictionary(step):
    keys = np.random.default_rng(3).integers(0, min(2000, LARGEST_KEY // step), 3000) * step
    assert_groups(group_keys(keys), keys.tolist(), keys.tolist())


@pytest.mark.parametrize("path", ["dense", "sorted"], indirect=True)
@pytest.mark.usefixtures("path")
def test_no_rows_have_no_groups():
    grouped = group_keys(np.zeros(0, dtype=np.int64), 5)
    assert len(grouped) == 0
    assert len(grouped.labels) == 0


def test_dense_and_sorted_groups_come_in_ascending_order():
    keys = np.random.default_rng(4).integers(0, 1 << 40, 500)
    assert (np.diff(group_keys(keys).keys) > 0).all()
    assert (np.diff(group_keys(keys % 100, 100).keys) > 0).all()


@given(st.data())
@pytest.mark.parametrize("path", PATHS)
def test_columns_are_grouped_as_by_a_dictionary_of_tuples(path, data):
    widths = data.draw(st.lists(st.sampled_from([1, 2, 3, 250, 70_000, 1 << 31]), min_size=1, max_size=8))
    rows = data.draw(st.integers(1, 30))
    columns = [
        np.array(data.draw(st.lists(st.sampled_from([0, width // 2, width - 1]), min_size=rows, max_size=rows)))
        for width in widths
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "DENSE_RANGE", 1 << 20 if path == "dense" else -1)
        patch.setattr(grouping, "COMPILED_ROWS", 0 if path == "hashed" else LARGEST_KEY)
        grouped = group_columns(columns, widths)
    assert_groups(grouped, list(zip(*(column.tolist() for column in columns), strict=True)))


def test_thirty_wide_columns_are_grouped_although_no_key_could_hold_them(path):
    rng = np.random.default_rng(5)
    base = rng.integers(0, 60_000, (40, 30))
    table = base[rng.integers(0, 40, 400)].astype(np.uint16)
    table[::7, 29] += 1
    widths = [65_536] * 30
    rows = [tuple(row) for row in table.tolist()]
    if path == "dense":
        widths = [int(column.max()) + 1 for column in table.T]
    assert_groups(group_columns(list(table.T), widths), rows)


def test_a_span_that_just_fits_is_not_compressed_and_one_more_is():
    columns = [np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1])]
    half = LARGEST_KEY // 2
    for widths in ([half, 2], [half + 1, 2], [LARGEST_KEY, 2], [2, LARGEST_KEY]):
        assert_groups(group_columns(columns, widths), [(0, 0), (1, 1), (1, 1), (0, 1)])


def test_large_codes_of_two_columns_do_not_run_into_each_other():
    wide = 1 << 32
    columns = [np.array([wide - 1, wide - 1, 0, 1]), np.array([0, wide - 2, wide - 1, 0])]
    assert len(group_columns(columns, [wide, wide - 1 + 1])) == 4
