"""SUDA against brute force, its golden values, and missing cells that make nobody unique."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.risk._record_groups import RecordGroups
from sfumato.tables.risk._suda import data_intrusion_probability, dis_suda, special_uniques

GOLDEN = ["M30Ax", "M30Ay", "F30Ax", "F40Bx", "M40Bx", "M40Bx"]


def golden():
    rows = [(row[0], row[1:3], row[3], row[4]) for row in GOLDEN]
    return groups_of(rows)


def groups_of(rows):
    names = [f"v{j}" for j in range(len(rows[0]))]
    table = pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(names)})
    return RecordGroups.read(table, Schema(quasi_identifiers=names))


def minimal_sample_uniques(rows, record, largest):
    """Elliot: sets of attributes that single a record out, and no part of which does; missing cells take no part."""
    filled = [j for j, cell in enumerate(rows[record]) if cell is not None]

    def unique(columns):
        return sum(all(row[j] == rows[record][j] for j in columns) for row in rows) == 1

    return [
        columns
        for size in range(1, largest + 1)
        for columns in combinations(filled, size)
        if unique(columns) and not any(part and unique(part) for part in combinations(columns, size - 1))
    ]


def test_golden_scores_and_chances():
    found = special_uniques(golden(), 4, 0.1)
    assert found.scores.tolist() == [2, 6, 4, 4, 0, 0]
    assert found.dis == pytest.approx(0.181818, abs=5e-7)
    assert found.dis_scores == pytest.approx([0.1062, 0.3074, 0.2144, 0.2144, 0, 0], abs=5e-5)
    assert found.highest_dis == pytest.approx(0.3074, abs=5e-5)
    assert found.records == 4


CELLS = st.sampled_from("ab") | st.sampled_from(["a", "b", "c", None])


@given(
    st.integers(1, 5).flatmap(lambda v: st.lists(st.tuples(*[CELLS] * v), min_size=1, max_size=12)), st.integers(1, 5)
)
def test_scores_equal_brute_force(rows, largest):
    columns = len(rows[0])
    size = min(columns, largest)
    found = special_uniques(groups_of(rows), largest, 0.2)
    every = [minimal_sample_uniques(rows, record, size) for record in range(len(rows))]
    weights = {s: prod(columns - i for i in range(s, size)) for s in range(1, size + 1)}
    assert found.scores.tolist() == [sum(weights[len(each)] for each in sets) for sets in every]
    assert found.by_size == {s: sum(len(each) == s for sets in every for each in sets) for s in range(1, size + 1)}
    total = sum(found.scores)
    for j in range(columns):
        part = sum(weights[len(each)] for sets in every for each in sets if j in each)
        assert found.shares[f"v{j}"] == pytest.approx(part / total if total else 0)
    assert ((found.dis_scores >= 0) & (found.dis_scores <= 1)).all()
    assert ((found.dis_scores > 0) == (found.scores > 0)).all()


def test_a_missing_cell_makes_nobody_unique():
    rows = [("a", "x"), ("a", None), ("b", "x"), ("b", "x")]
    found = special_uniques(groups_of(rows), 2, 0.1)
    assert found.scores.tolist() == [1, 0, 0, 0]


def test_a_record_of_missing_cells_alone_is_not_unique():
    found = special_uniques(groups_of([(None, None), ("a", "a")]), 2, 0.1)
    assert found.scores.tolist() == [0, 2]
    assert found.dis == 1


def test_without_a_sampling_fraction_there_is_no_chance():
    found = special_uniques(golden(), 4)
    assert found.dis is None
    assert found.dis_scores is None
    assert found.scores.tolist() == [2, 6, 4, 4, 0, 0]


def test_nobody_unique_means_no_chance():
    found = special_uniques(groups_of([("a",), ("a",)]), 1, 0.5)
    assert (found.dis, found.highest_dis, found.records) == (0, 0, 0)


def test_a_sample_of_everybody_is_matched_for_certain():
    found = special_uniques(golden(), 4, 1.0)
    assert found.dis == 1
    assert found.dis_scores.tolist() == [1, 1, 1, 1, 0, 0]


def test_the_order_of_chances_is_that_of_scores():
    scores = np.array([0.0, 1.0, 5.0, 2.0])
    chances = dis_suda(scores, 3, data_intrusion_probability(3, 2, 0.05), 6)
    assert np.argsort(chances).tolist() == np.argsort(scores).tolist()


@pytest.mark.parametrize("largest", [0, -1, 2.0, True])
def test_a_size_that_is_none_is_refused(largest):
    with pytest.raises(InvalidParameterError, match="max_subset must be a whole number of at least 1"):
        special_uniques(golden(), largest)


@pytest.mark.parametrize("fraction", [0.0, 1.5, -0.1])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(InvalidParameterError, match="sampling fraction"):
        special_uniques(golden(), 2, fraction)
