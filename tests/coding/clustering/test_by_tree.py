"""Questions to a tree of boxes give the same groups as looks at every record, however many of them are equal."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering_oracle as oracle
from clustering_oracle import as_groups, coded_tables
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation import _tree_clusters as module
from sfumato.tables.algorithms.microaggregation._kernels.box_trees import take_row
from sfumato.tables.algorithms.microaggregation._point_clusters import TreeAxes
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_boxes, to_points
from sfumato.tables.algorithms.microaggregation._tree_clusters import (
    BoxTree,
    cluster_by_k_member,
    cluster_by_mdav,
    cluster_by_v_mdav,
)

ALWAYS = 10**9  # so many records that no tree is built
SIZES = st.integers(2, 12)
GAMMAS = st.sampled_from([0.0, 0.2, 1.1, 3.0])
SCALINGS = st.sampled_from(["deviation", "range"])
JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer", "hunter"], "sea": ["sailor"]}})


def silent(_done):
    """Show no progress."""


@st.composite
def spaces(draw, most_rows=300):
    """Draw the space of many records of few values on every scale; some columns are constant."""
    rows, rng = draw(st.integers(1, most_rows)), np.random.default_rng(draw(st.integers(0, 2**32)))
    values = {name: draw(st.integers(1, 30)) for name in ("x", "y", "z")}
    columns = {name: rng.integers(0, most, rows) for name, most in values.items()}
    columns["w"] = rng.normal(size=rows).round(draw(st.integers(0, 6)))
    columns["grade"] = rng.choice(["low", "middle", "high"], rows)
    columns["job"] = rng.choice(["clerk", "lawyer", "farmer", "hunter", "sailor"], rows)
    columns["town"] = rng.choice(list("abcdefgh"[: draw(st.integers(1, 8))]), rows)
    quasi = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=7, unique=True))
    hierarchies = {"job": JOBS} if "job" in quasi else {}
    orders = {"grade": ["low", "middle", "high"]} if "grade" in quasi else {}
    table = pa.table({name: columns[name] for name in quasi})
    weights = {name: draw(st.sampled_from([0.0, 0.3, 1.0, 7.0])) for name in quasi[:2]}
    return RecordSpace.of(
        encode_table(table, Schema(quasi_identifiers=quasi, hierarchies=hierarchies, orders=orders)), weights
    )


@given(coded=coded_tables(most_rows=40), k=SIZES, gamma=GAMMAS, scaling=SCALINGS)
def test_groups_are_those_of_the_definitions(coded, k, gamma, scaling):
    points = to_points(RecordSpace.of(coded), scaling)
    assert as_groups(cluster_by_mdav(points, k, silent, trees_from=0)) == oracle.mdav(points, k)
    found = cluster_by_v_mdav(points, k, gamma, silent, trees_from=0)
    assert (as_groups(found) if found.max() >= 0 else []) == oracle.v_mdav(points, k, gamma)


@given(space=spaces(), k=SIZES, gamma=GAMMAS, scaling=SCALINGS, draw=st.integers(0, 10**6))
@examples(200)
def test_groups_are_those_of_looks_at_every_record(space, k, gamma, scaling, draw):
    points, (candidates, _) = to_points(space, scaling), to_boxes(space)
    for clustered, *arguments in (
        (cluster_by_mdav, points, k),
        (cluster_by_v_mdav, points, k, gamma),
        (cluster_by_k_member, candidates, k, draw % len(candidates)),
    ):
        by_tree, by_loop = (clustered(*arguments, silent, trees_from=least) for least in (0, ALWAYS))
        assert np.array_equal(by_tree, by_loop)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_outliers_and_crowds_are_grouped_alike_too(scale):
    rng = np.random.default_rng(3)
    crowd = rng.normal(size=(2_000, 3)) * scale
    crowd[:5] *= 1_000
    crowd[5:400] = crowd[5]
    table = pa.table({name: crowd[:, at] for at, name in enumerate("xyz")})
    points = to_points(RecordSpace.of(encode_table(table, Schema(quasi_identifiers=list("xyz")))), "deviation")
    by_tree, by_loop = (cluster_by_mdav(points, 7, silent, trees_from=least) for least in (0, ALWAYS))
    assert np.array_equal(by_tree, by_loop)


def test_where_questions_are_dear_records_are_looked_at_one_by_one_from_then_on(monkeypatch):
    monkeypatch.setattr(module, "NODES_PER_CALL", 50)
    monkeypatch.setattr(module, "NODES_PER_RECORD", 0)
    rng = np.random.default_rng(4)
    space = RecordSpace.of(
        encode_table(pa.table({name: rng.normal(size=500) for name in "xyz"}), Schema(quasi_identifiers=list("xyz")))
    )
    points, (candidates, _) = to_points(space, "deviation"), to_boxes(space)
    for clustered, *arguments in (
        (cluster_by_mdav, points, 4),
        (cluster_by_v_mdav, points, 4, 1.1),
        (cluster_by_k_member, candidates, 4, 9),
    ):
        told, expected = [], clustered(*arguments, silent, trees_from=ALWAYS)
        assert np.array_equal(clustered(*arguments, told.append, trees_from=0), expected)
        assert 0 < told[0] < 1 / 2
        assert told == sorted(told)


def test_equal_records_are_one_spot_whose_lowest_row_is_taken_first():
    places = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    none = np.zeros(0, dtype=np.int64)
    tree = BoxTree.from_points(
        places,
        np.full(2, -1),
        TreeAxes(none, none, none, none, none, np.zeros(0, dtype=np.int32), np.zeros(0)),
        squared=True,
    )
    spots = tree.point_spots
    assert len(tree.places) == 2
    assert tree.places[spots].tolist() == places.tolist()
    assert [take_row(spots[0], tree.spots, tree.nodes) for _ in range(3)] == [0, 2, 3]
    assert (tree.nodes[4][0, :2].tolist(), tree.nodes[5][0, :2].tolist()) == ([0, 0], [0, 0])
    assert tree.last_row(int(spots[0])) == 3
