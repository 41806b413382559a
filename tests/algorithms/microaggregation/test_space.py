"""Distances and centers on every scale, against the table of Shi et al. 2024 in plain Python."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microaggregation_oracle as oracle
from drawn_examples import examples
from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.errors import SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation._space import MOST_LEAVES, RecordSpace, SpaceAxis
from strategies import JOBS

ORDER = ["none", "school", "degree", "doctor"]
ROW = st.tuples(
    st.sampled_from([1.5, 2.25, 7.0, 30.0]),
    st.sampled_from(ORDER),
    st.sampled_from(JOBS.hierarchy.leaves),
    st.sampled_from(["red", "green", "blue"]),
)


def coded(rows: list[tuple[object, ...]]) -> CodedTable:
    names = ("income", "grade", "job", "color")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    return encode_table(
        table, Schema(quasi_identifiers=list(names), hierarchies={"job": JOBS}, orders={"grade": ORDER})
    )


def axis_of(values: list[object], schema: Schema) -> SpaceAxis:
    return RecordSpace.of(encode_table(pa.table({"a": values}), schema)).axes[0]


@given(st.lists(st.tuples(ROW, st.integers(0, 3)), min_size=1, max_size=25))
def test_centers_and_losses_of_groups_are_those_of_the_paper(rows: list[tuple[tuple[object, ...], int]]) -> None:
    space = RecordSpace.of(coded([row for row, _ in rows]), {"job": 0.5, "income": 2.0})
    labels = np.array([label for _, label in rows])
    centers, losses = space.centers(labels, 5), space.losses(labels, 5)
    for group in set(labels.tolist()):
        total = Fraction(0)
        for axis, found in zip(space.axes, centers, strict=True):
            codes = axis.column.codes[labels == group].tolist()
            middle = oracle.center(axis, codes)
            if axis.kind == "numeric":
                values = axis.column.domain.positions[codes]
                assert found[group] == pytest.approx(values.mean(), abs=1e-12)
                assert values.min() <= found[group] <= values.max()
            else:
                assert found[group] == middle
            total += Fraction(axis.weight) * oracle.axis_loss(axis, codes)
        assert losses[group] == pytest.approx(float(total), abs=1e-12)
    assert losses[4] == 0


@examples(30)
@given(st.lists(ROW, min_size=1, max_size=12))
def test_distances_of_codes_are_those_of_the_paper(rows: list[tuple[object, ...]]) -> None:
    for axis in RecordSpace.of(coded(rows)).axes:
        if not axis.ordered:
            for a, line in enumerate(axis.distances().tolist()):
                assert line == [float(oracle.distance(axis, a, b)) for b in range(len(line))]


def test_a_center_of_counts_is_the_center_of_one_group() -> None:
    income, grade, job, color = RecordSpace.of(
        coded([(1.5, "none", "clerk", "red"), (7.0, "doctor", "diver", "blue")])
    ).axes
    assert income.center([3, 1]) == pytest.approx(2.875)
    assert grade.center([2, 0, 0, 3]) == 2
    assert grade.center([3, 0, 0, 2]) == 1
    assert grade.center([2, 0, 0, 2]) == 2
    assert job.column.domain.texts[int(job.center([1, 0, 0, 1, 1]))] == "sailor"
    assert color.center([2, 2]) == 0


def test_a_constant_column_loses_nothing_and_equal_numbers_are_their_own_mean() -> None:
    table = encode_table(pa.table({"a": [0.1] * 7, "b": [5] * 7}), Schema(quasi_identifiers=["a", "b"]))
    space = RecordSpace.of(table)
    assert space.losses(np.zeros(7, dtype=np.int64), 1).tolist() == [0.0]
    assert space.centers(np.zeros(7, dtype=np.int64), 1)[0].tolist() == [0.1]


def test_numbers_near_the_end_of_the_range_have_finite_means() -> None:
    axis = axis_of([-1.5e308, 1.5e308, 1.5e308], Schema(quasi_identifiers=["a"]))
    assert axis.center([1, 2]) == pytest.approx(0.5e308)
    assert axis.positions.tolist() == [0.0, 1.0]


def test_the_mean_of_dates_is_a_number_of_days() -> None:
    axis = axis_of([date(1970, 1, 2), date(1970, 1, 4)], Schema(quasi_identifiers=["a"]))
    assert axis.center([1, 1]) == 2


def test_records_without_a_group_are_left_out() -> None:
    axis = RecordSpace.of(encode_table(pa.table({"a": [1, 2, 9]}), Schema(quasi_identifiers=["a"])))
    assert axis.losses(np.array([0, 0, -1]), 1).tolist() == [pytest.approx(1 / 8)]


def test_a_weight_of_an_unknown_column_is_refused() -> None:
    with pytest.raises(SchemaError, match="'b', which are not quasi-identifiers"):
        RecordSpace.of(encode_table(pa.table({"a": [1]}), Schema(quasi_identifiers=["a"])), {"b": 1.0})


def test_distances_of_very_many_values_are_refused() -> None:
    values = [f"v{number}" for number in range(MOST_LEAVES + 1)]
    with pytest.raises(SchemaError, match="generalize it first"):
        axis_of(list(values), Schema(quasi_identifiers=["a"])).distances()
