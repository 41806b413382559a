"""k-member clustering equals its definition, whatever short cuts its loop takes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering_oracle as oracle
from clustering_oracle import as_groups, coded_tables, numbers, task_for
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation._point_clusters import STEP
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_boxes
from sfumato.tables.algorithms.microaggregation._tree_clusters import cluster_by_k_member
from sfumato.tables.algorithms.microaggregation.k_member import KMember
from sfumato.tables.models.k_anonymity import KAnonymity


def silent(_done):
    """Show no progress."""


def cost_of(space, rows):
    """Give what sets of rows cost per record: ranges of positions, heights of common ancestors (Byun et al. 2007).

    Costs are rounded as the loop rounds them, so that ties are the same.
    """

    def rounded(number):
        return np.round(number / STEP) * STEP

    def cost(members):
        total = 0.0
        for axis in space.axes:
            codes = sorted({int(axis.column.codes[rows[member]]) for member in members})
            if axis.ordered:
                total += float(np.ptp(rounded(axis.weight * axis.positions[codes])))
            else:
                height = sum(len({int(level[c]) for c in codes}) > 1 for level in axis.levels)
                total += float(rounded(axis.weight * height / len(axis.levels)))
        return total

    return cost


@given(coded=coded_tables(most_rows=30), k=st.integers(2, 5), draw=st.integers(0, 10**6))
def test_clusters_are_those_of_the_definition(coded, k, draw):
    space = RecordSpace.of(coded)
    candidates, rows = to_boxes(space)
    first = draw % coded.rows
    named = int(np.searchsorted(np.cumsum(candidates.counts), first, side="right"))
    found = cluster_by_k_member(candidates, k, named, silent)
    if coded.rows < k:
        assert not found.any()
        return
    assert as_groups(found) == oracle.k_member(coded.rows, first, k, cost_of(space, rows))


def test_a_candidate_outside_the_pool_is_taken_where_the_cluster_has_grown_towards_it():
    sideways = [(0.0, 10 + step / 100) for step in range(70)]  # nearest to the start, and far from where it grows
    rows = [(100.0, 100.0), (0.0, 0.0), (9.0, 0.0), *sideways, (11.5, 0.0)]
    x, y = zip(*rows, strict=True)
    space = RecordSpace.of(encode_table(pa.table({"x": x, "y": y}), Schema(quasi_identifiers=["x", "y"])))
    candidates, order = to_boxes(space)
    found = as_groups(cluster_by_k_member(candidates, 3, 0, silent))
    assert found[0] == [1, 2, 73]
    assert found == oracle.k_member(len(rows), 0, 3, cost_of(space, order))


@pytest.mark.parametrize("k", [2, 20])
def test_large_tables_are_clustered_by_the_definition_too(k):
    rng = np.random.default_rng(k)
    table = pa.table({name: rng.integers(0, 6, 150) for name in "xyz"} | {"c": rng.choice(list("abc"), 150)})
    space = RecordSpace.of(encode_table(table, Schema(quasi_identifiers=["x", "y", "z", "c"])))
    candidates, rows = to_boxes(space)
    assert len(candidates) > 64
    assert as_groups(cluster_by_k_member(candidates, k, 0, silent)) == oracle.k_member(150, 0, k, cost_of(space, rows))


def test_equal_records_come_one_after_the_other():
    candidates, rows = to_boxes(RecordSpace.of(numbers(5, 1, 5, 2, 1)))
    assert candidates.counts.tolist() == [2, 2, 1]
    assert rows.tolist() == [0, 2, 1, 4, 3]


def test_two_crowds_are_two_clusters_whatever_record_is_drawn():
    coded = numbers(1, 2, 3, 50, 51, 52)
    for seed in range(5):
        publication = KMember(publish="ranges").search(task_for(coded, [KAnonymity(k=3)], seed=seed))
        assert sorted(label.text for label in publication.recoded["x"].labels) == ["[1, 3]", "[50, 52]"]


def test_weights_say_which_range_counts():
    table = pa.table({"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]})
    coded = encode_table(table, Schema(quasi_identifiers=["x", "y"]))
    for heavy, expected in (("x", [[0, 1], [2, 3]]), ("y", [[0, 2], [1, 3]])):
        labels = KMember(weights={heavy: 3}).cluster(RecordSpace.of(coded, {heavy: 3}), 2, task_for(coded))
        assert sorted(as_groups(labels)) == expected


@pytest.mark.parametrize("k", [2, 3, 7])
def test_every_cluster_has_at_least_k_records(k):
    rng = np.random.default_rng(2)
    coded = encode_table(
        pa.table({"x": rng.integers(0, 9, 50), "c": rng.choice(list("abcd"), 50)}), Schema(quasi_identifiers=["x", "c"])
    )
    sizes = np.bincount(KMember().cluster(RecordSpace.of(coded), k, task_for(coded)))
    assert sizes.min() >= k
    assert len(sizes) == 50 // k
