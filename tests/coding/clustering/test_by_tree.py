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
from sfumato.algorithms.microaggregation.points import candidates_of, points_of
from sfumato.algorithms.microaggregation.space import Space
from sfumato.coding.clustering import by_tree
from sfumato.coding.codes import code
from sfumato.hierarchies import Taxonomy
from sfumato.schema.schema import Schema

SIZES = st.integers(2, 12)
GAMMAS = st.sampled_from([0.0, 0.2, 1.1, 3.0])
SCALINGS = st.sampled_from(["deviation", "range"])
JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer", "hunter"], "sea": ["sailor"]}})


def silent(_done):
    """Show no progress."""


@pytest.fixture(scope="module")
def trees():
    """Ask trees, however few records there are and however many nodes are visited."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_tree, "TREE_ROWS", 0)
        patch.setattr(by_tree, "GROWTH_TREE_ROWS", 0)
        patch.setattr(by_tree, "NODES_PER_RECORD", np.inf)
        yield


def looked_at_one_by_one(clustered, *arguments):
    """Cluster without any tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_tree, "TREE_ROWS", 10**9)
        patch.setattr(by_tree, "GROWTH_TREE_ROWS", 10**9)
        return clustered(*arguments, silent)


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
    return Space.of(code(table, Schema(quasi=quasi, hierarchies=hierarchies, orders=orders)), weights)


@pytest.mark.usefixtures("trees")
@given(coded=coded_tables(most_rows=40), k=SIZES, gamma=GAMMAS, scaling=SCALINGS)
def test_groups_are_those_of_the_definitions(coded, k, gamma, scaling):
    points = points_of(Space.of(coded), scaling)
    assert as_groups(by_tree.mdav_labels(points, k, silent)) == oracle.mdav(points, k)
    found = by_tree.v_mdav_labels(points, k, gamma, silent)
    assert (as_groups(found) if found.max() >= 0 else []) == oracle.v_mdav(points, k, gamma)


@pytest.mark.usefixtures("trees")
@given(space=spaces(), k=SIZES, gamma=GAMMAS, scaling=SCALINGS, draw=st.integers(0, 10**6))
@examples(200)
def test_groups_are_those_of_looks_at_every_record(space, k, gamma, scaling, draw):
    points, (candidates, _) = points_of(space, scaling), candidates_of(space)
    for clustered, *arguments in (
        (by_tree.mdav_labels, points, k),
        (by_tree.v_mdav_labels, points, k, gamma),
        (by_tree.k_member_labels, candidates, k, draw % len(candidates)),
    ):
        expected = looked_at_one_by_one(clustered, *arguments)
        assert np.array_equal(clustered(*arguments, silent), expected)
