"""The waist: counting, adding and merging groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding._counts import DENSE_CELLS, sparse_counts
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.published.groups import Groups, Histogram
from strategies import group_counts, hierarchies


def dense(histogram: Histogram) -> list[list[int]]:
    counts = np.zeros((len(histogram.offsets) - 1, histogram.width), dtype=int)
    counts[histogram.rows, histogram.codes] = histogram.counts
    return counts.tolist()


def column(codes: list[int], values: int) -> CodedColumn:
    domain = Domain("s", Scale.NOMINAL, pa.array([f"v{i}" for i in range(values)]))
    return CodedColumn(domain, np.array(codes, dtype=np.uint8))


def rows_of(matrix: list[list[int]]) -> tuple[np.ndarray, list[int]]:
    """Spell out the records of a count matrix, last group first."""
    cells = [(g, v) for g, counts in enumerate(matrix) for v, count in enumerate(counts) for _ in range(count)]
    cells.reverse()
    return np.array([g for g, _ in cells]), [v for _, v in cells]


@given(group_counts())
def test_counts_come_back_as_given(matrix):
    groups = Groups.from_counts(s=matrix)
    assert dense(groups.histograms["s"]) == matrix
    assert groups.sizes.tolist() == [sum(row) for row in matrix]
    assert groups.totals["s"].tolist() == np.sum(matrix, axis=0).tolist()


@given(group_counts())
def test_rows_are_counted(matrix):
    group, codes = rows_of(matrix)
    groups = Groups.from_rows(group, len(matrix), [column(codes, len(matrix[0]))])
    assert dense(groups.histograms["s"]) == [[*row, 0] for row in matrix]
    assert groups.sizes.tolist() == [sum(row) for row in matrix]


@given(group_counts())
def test_weights_count_records_several_times_or_never(matrix):
    group, codes = np.divmod(np.arange(np.size(matrix)), len(matrix[0]))
    columns = [column(codes.tolist(), len(matrix[0]))]
    groups = Groups.from_rows(group, len(matrix), columns, weights=np.ravel(matrix))
    assert dense(groups.histograms["s"]) == [[*row, 0] for row in matrix]
    assert groups.sizes.tolist() == [sum(row) for row in matrix]


@given(group_counts(), st.booleans())
def test_wide_domains_are_counted_like_narrow_ones(matrix, weighted):
    group, codes = rows_of(matrix)
    weights = np.arange(len(group)) % 3 if weighted else None
    narrow = sparse_counts(group, len(matrix), np.array(codes), 10, weights)
    wide = sparse_counts(group, len(matrix), np.array(codes), DENSE_CELLS + 1, weights)
    for left, right in zip(narrow, wide, strict=True):
        assert left.tolist() == right.tolist()


def test_records_of_negative_groups_are_left_out():
    groups = Groups.from_rows(np.array([0, -1, 1, 0]), 2, [column([0, 1, 1, 0], 2)])
    assert groups.sizes.tolist() == [2, 1]
    assert groups.totals["s"].tolist() == [2, 1, 0]


def test_missing_values_are_the_last_value_or_stand_apart():
    group, codes = np.array([0, 0, 1, 1, 1]), column([0, 2, 2, 1, 2], 2)
    own = Groups.from_rows(group, 2, [codes], MissingPolicy.OWN_VALUE).histograms["s"]
    assert dense(own) == [[1, 0, 1], [0, 1, 2]]
    assert own.missing.tolist() == [0, 0]
    apart = Groups.from_rows(group, 2, [codes], MissingPolicy.MATCHES_ALL)
    assert dense(apart.histograms["s"]) == [[1, 0, 0], [0, 1, 0]]
    assert apart.histograms["s"].missing.tolist() == [1, 2]
    assert apart.sizes.tolist() == [2, 3]
    assert apart.totals["s"].tolist() == [1, 1, 0]


def test_folding_puts_missing_cells_onto_the_most_frequent_value():
    matrix, missing = [[1, 3, 0], [2, 2, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]], [2, 1, 4, 0, 0]
    histogram = Groups.from_counts(s=matrix, missing={"s": missing}).histograms["s"]
    assert dense(histogram.worst_case) == [[1, 5, 0], [3, 2, 0], [0, 0, 4], [0, 0, 1], [0, 0, 0]]
    assert np.diff(histogram.worst_case.offsets).tolist() == [2, 2, 1, 1, 0]
    assert not histogram.worst_case.missing.any()
    assert dense(histogram) == matrix
    complete = Groups.from_counts(s=[[1, 3]]).histograms["s"]
    assert complete.worst_case is complete


@given(group_counts(), st.data())
def test_merging_adds_the_counts_of_united_groups(matrix, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(matrix), max_size=len(matrix))))
    lost = data.draw(st.lists(st.integers(0, 3), min_size=len(matrix), max_size=len(matrix)))
    groups = Groups.from_counts(s=matrix, missing={"s": lost})
    merged = groups.merge_groups(labels)
    union = np.eye(labels.max() + 1, dtype=int)[:, labels]
    assert dense(merged.histograms["s"]) == (union @ matrix).tolist()
    assert merged.histograms["s"].missing.tolist() == (union @ lost).tolist()
    assert merged.sizes.tolist() == (union @ groups.sizes).tolist()
    assert merged.totals["s"].tolist() == groups.totals["s"].tolist()


@given(group_counts(), st.data())
def test_pieces_add_up(matrix, data):
    part = [[data.draw(st.integers(0, count)) for count in row] for row in matrix]
    rest = (np.array(matrix) - part).tolist()
    ones, twos = [1] * len(matrix), [2] * len(matrix)
    whole = Groups.from_counts(s=part, missing={"s": ones}) + Groups.from_counts(s=rest, missing={"s": twos})
    assert dense(whole.histograms["s"]) == matrix
    assert whole.histograms["s"].missing.tolist() == [3] * len(matrix)
    assert whole.sizes.tolist() == [sum(row) + 3 for row in matrix]
    assert whole.totals["s"].tolist() == np.sum(matrix, axis=0).tolist()


@given(group_counts(), st.data())
def test_some_groups_can_be_taken(matrix, data):
    some = data.draw(st.lists(st.integers(0, len(matrix) - 1), min_size=1))
    groups = Groups.from_counts(s=matrix, missing={"s": list(range(len(matrix)))})
    taken = groups.take(np.array(some))
    assert dense(taken.histograms["s"]) == [matrix[g] for g in some]
    assert taken.histograms["s"].missing.tolist() == some
    assert taken.sizes.tolist() == [sum(matrix[g]) + g for g in some]
    assert taken.totals["s"].tolist() == groups.totals["s"].tolist()


@given(group_counts(), st.data())
def test_coarser_values_add_up(matrix, data):
    levels = data.draw(hierarchies([f"v{i}" for i in range(len(matrix[0]))])).levels
    nodes = data.draw(st.sampled_from(levels))
    coarse = Groups.from_counts(s=matrix).histograms["s"].merge_values(nodes)
    onto = np.eye(nodes.max() + 1, dtype=int)[nodes]
    assert dense(coarse) == (np.array(matrix) @ onto).tolist()


@given(group_counts(), st.sampled_from([np.int64, np.float64, object]))
def test_reducing_keeps_the_kind_of_number(matrix, kind):
    histogram = Groups.from_counts(s=[*matrix, [0] * len(matrix[0])]).histograms["s"]
    reduced = histogram.reduce(np.add, histogram.counts.astype(kind))
    assert reduced.dtype == kind
    assert reduced.tolist() == [*(sum(row) for row in matrix), 0]


def test_totals_can_be_given():
    groups = Groups.from_counts(s=[[1, 1]], totals={"s": np.array([5, 9])})
    assert groups.merge_groups(np.array([0])).totals["s"].tolist() == [5, 9]
    group = np.array([0, 0])
    given_totals = {"s": np.array([5, 9, 0])}
    assert Groups.from_rows(group, 1, [column([0, 1], 2)], totals=given_totals).totals["s"].tolist() == [
        5,
        9,
        0,
    ]


def test_attributes_of_different_records_are_refused():
    with pytest.raises(InvalidParameterError, match="'b' must have the same group sizes"):
        Groups.from_counts(a=[[1, 1]], b=[[1, 2]])


def test_no_groups_can_be_counted_and_merged():
    nobody = Groups.from_counts(s=np.zeros((0, 3)))
    assert len(nobody.merge_groups(np.zeros(0, dtype=np.intp))) == 0
    assert len(nobody + nobody) == 0
    assert len(Groups.from_rows(np.zeros(0, dtype=np.intp), 0, [column([], 2)])) == 0


@given(group_counts(), st.data())
def test_values_get_the_numbers_of_another_domain(matrix, data):
    values = [f"v{value}" for value in range(len(matrix[0]) - 1)]
    others = data.draw(st.permutations([*values, "more"]))
    mine, theirs = (Domain("x", Scale.NOMINAL, pa.array(texts, pa.string())) for texts in (values, others))
    groups = Groups.from_counts(x=matrix, domains={"x": mine})
    renumbered = groups.align_domains({"x": theirs, "y": theirs})
    places = [*(others.index(value) for value in values), len(others)]
    wanted = np.zeros((len(matrix), len(others) + 1), dtype=int)
    wanted[:, places] = matrix
    histogram = renumbered.histograms["x"]
    assert dense(histogram) == wanted.tolist()
    assert (np.diff(histogram.rows * histogram.width + histogram.codes) > 0).all()
    assert renumbered.totals["x"].tolist() == wanted.sum(axis=0).tolist()
    assert renumbered.domains == {"x": theirs}
    assert (renumbered.sizes == groups.sizes).all()
