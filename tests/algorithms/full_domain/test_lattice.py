"""The lattice of recodings, and the ladders that it is made of."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lattice_tasks import quasi_columns
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain._lattice import (
    Lattice,
    LevelMap,
    Separable,
    is_specialization,
    nodes_above,
    nodes_below,
)
from sfumato.tables.published.solution import Exact, MissingCell, Node, Suppressed


def nominal(values):
    return Domain("a", Scale.NOMINAL, pa.array([f"v{i}" for i in range(values)], pa.string()))


def of_heights(*heights):
    """Make a lattice whose attributes have some heights."""
    ladders = []
    for height in heights:
        leaves = [f"v{i}" for i in range(height + 1)]
        above = [[f"{level} {max(i, level)}" for i in range(height + 1)] for level in range(1, height)]
        tree = Hierarchy.from_levels(leaves, [leaves, *above], ordered=True)
        ladders.append(LevelMap.of(Domain("a", Scale.CATEGORICAL, pa.array(leaves), tree)))
    return Lattice(tuple(ladders))


HEIGHTS = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@given(HEIGHTS)
def test_nodes_are_all_combinations_of_levels(heights):
    lattice = of_heights(*heights)
    assert lattice.shape == tuple(height + 1 for height in heights)
    assert lattice.top == tuple(heights)
    assert list(lattice.nodes()) == list(product(*(range(height + 1) for height in heights)))
    assert lattice.size == len(list(lattice.nodes()))


@given(HEIGHTS)
def test_every_node_has_one_height(heights):
    lattice = of_heights(*heights)
    by_height = [set(lattice.at_height(height)) for height in range(-1, sum(heights) + 2)]
    assert all(sum(node) == height for height, nodes in enumerate(by_height, start=-1) for node in nodes)
    assert set().union(*by_height) == set(lattice.nodes())
    assert by_height[0] == by_height[-1] == set()


@given(HEIGHTS)
def test_neighbors_differ_by_one_level_in_one_attribute(heights):
    lattice = of_heights(*heights)
    nodes = list(lattice.nodes())
    for node in nodes:
        above = {other for other in nodes if is_specialization(node, other) and sum(other) == sum(node) + 1}
        assert set(lattice.above(node)) == above
        assert all(node in set(lattice.below(other)) for other in above)
        assert len(list(lattice.below(node))) == sum(level > 0 for level in node)


@given(HEIGHTS, st.data())
def test_boxes_hold_what_is_below_and_above(heights, data):
    lattice = of_heights(*heights)
    node = data.draw(st.sampled_from(list(lattice.nodes())))
    below, above = np.zeros(lattice.shape, dtype=bool), np.zeros(lattice.shape, dtype=bool)
    below[nodes_below(node)], above[nodes_above(node)] = True, True
    for other in lattice.nodes():
        assert below[other] == is_specialization(other, node) == all(a <= b for a, b in zip(other, node, strict=True))
        assert above[other] == is_specialization(node, other)


@given(HEIGHTS)
def test_cells_count_what_a_node_can_tell_apart(heights):
    lattice = of_heights(*heights)
    dense = lattice.cells().dense()
    assert dense.shape == lattice.shape
    for node in lattice.nodes():
        expected = sum(log(ladder.widths[level]) for ladder, level in zip(lattice.ladders, node, strict=True))
        assert dense[node] == pytest.approx(expected)
        assert lattice.cells().at(node) == pytest.approx(expected)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=3), min_size=1, max_size=3), st.integers(-9, 9))
def test_separable_numbers_are_the_same_one_by_one_and_all_at_once(parts, constant):
    numbers = Separable(float(constant), tuple(np.array(part, dtype=np.float64) for part in parts))
    dense = numbers.dense()
    for node in product(*(range(len(part)) for part in parts)):
        expected = constant + sum(part[level] for part, level in zip(parts, node, strict=True))
        assert numbers.at(node) == dense[node] == expected


@given(quasi_columns(rows=1))
def test_ladders_go_from_values_to_one_node(column):
    domain, ladder = column.domain, LevelMap.of(column.domain)
    leaves = range(len(domain) + 1)
    assert ladder.height == (1 if domain.hierarchy is None else domain.hierarchy.height) >= 1
    assert ladder.levels[0].tolist() == list(leaves)
    assert ladder.levels[-1].tolist() == [0] * len(leaves)
    for level, nodes in enumerate(ladder.levels):
        assert len(nodes) == len(leaves)
        assert set(nodes.tolist()) == set(range(ladder.widths[level]))
        alone = [leaf for leaf in leaves if nodes[leaf] == nodes[domain.missing]]
        assert alone == ([domain.missing] if level < ladder.height else list(leaves))
        if domain.hierarchy is not None and level < ladder.height:
            assert nodes[:-1].tolist() == domain.hierarchy.levels[level].tolist()


@given(quasi_columns(rows=1))
def test_steps_lead_from_level_to_level(column):
    ladder = LevelMap.of(column.domain)
    for lower in range(ladder.height + 1):
        for upper in range(lower, ladder.height + 1):
            assert ladder.step(lower, upper)[ladder.levels[lower]].tolist() == ladder.levels[upper].tolist()


@given(quasi_columns(rows=1))
def test_shares_and_labels_are_those_of_the_leaves_under_a_node(column):
    domain, ladder = column.domain, LevelMap.of(column.domain)
    for level, nodes in enumerate(ladder.levels):
        labels, shares = list(ladder.labels(level)), ladder.shares[level]
        assert len(labels) == len(shares) == ladder.widths[level]
        if level == ladder.height:
            assert (labels, shares.tolist()) == ([Suppressed()], [1.0])
            continue
        assert labels[-1] == MissingCell()
        for leaf, text in enumerate(domain.texts):
            under = [other for other in range(len(domain)) if nodes[other] == nodes[leaf]]
            assert shares[nodes[leaf]] == pytest.approx(len(under) / len(domain))
            expected = Exact(text) if level == 0 else Node(domain.hierarchy.labels[level][nodes[leaf]])
            assert labels[nodes[leaf]] == expected


def test_without_a_hierarchy_there_are_values_and_anything():
    ladder = LevelMap.of(nominal(2))
    assert list(ladder.labels(0)) == [Exact("v0"), Exact("v1"), MissingCell()]
    assert list(ladder.labels(1)) == [Suppressed()]


@pytest.mark.parametrize("values", [0, 1])
def test_columns_without_values_or_with_one_have_two_levels(values):
    ladder = LevelMap.of(nominal(values))
    assert ladder.height == 1
    assert ladder.widths == (values + 1, 1)


def test_a_hierarchy_of_one_level_gets_a_root():
    tree = Hierarchy.from_levels(["a", "b"], [["a", "b"]])
    ladder = LevelMap.of(Domain("x", Scale.CATEGORICAL, pa.array(["a", "b"]), tree))
    assert ladder.widths == (3, 1)


def test_an_inner_node_of_all_leaves_that_is_named_as_the_root_is_published_as_anything():
    tree = Hierarchy.from_levels(["a", "b"], [["a", "b"], ["*", "*"], ["top", "top"]])
    ladder = LevelMap.of(Domain("x", Scale.CATEGORICAL, pa.array(["a", "b"]), tree))
    assert list(ladder.labels(1)) == [Suppressed(), MissingCell()]
