"""Axes: positions of ordered values and nodes of trees in flat arrays."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from sfumato.encoding.coded_table import encode_table
from sfumato.encoding.domain import infer_domain
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._segments.cuts import make_axes
from strategies import described_tables

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "field": {"land": ["farmer"], "sea": ["sailor", "diver"]}})


def domain(values, **about):
    return infer_domain(
        "q", pa.chunked_array([values]), Schema(quasi_identifiers=["q"], **{k: {"q": v} for k, v in about.items()})
    )


@given(described_tables())
def test_every_axis_is_laid_out_where_it_says(drawn):
    domains = [column.domain for column in encode_table(*drawn).quasi]
    axes = make_axes(domains)
    assert len(axes) == len(domains)
    for j, each in enumerate(domains):
        assert axes.leaves[j] == len(each)
        positions = axes.positions[axes.places[j] : axes.places[j] + axes.leaves[j]]
        assert (np.diff(positions) > 0).all()
        assert positions.tolist()[:1] in ([], [0.0])
        assert len(positions) < 2 or positions[-1] == 1.0
        for level in range(axes.heights[j] + 1 if axes.heights[j] else 0):
            start = axes.trees[j] + level * axes.leaves[j]
            nodes = axes.nodes[start : start + axes.leaves[j]]
            assert nodes.tolist() == each.hierarchy.levels[level].tolist()
            for leaf, node in enumerate(nodes.tolist()):
                share = nodes.tolist().count(node) / len(each)
                assert axes.shares[start + leaf] == share


def test_positions_are_spread_over_the_range_of_values():
    axes = make_axes([domain([10, 20, 15]), domain([date(2000, 1, 1), date(2000, 1, 11), date(2000, 1, 2)])])
    assert axes.positions.tolist() == [0.0, 0.5, 1.0, 0.0, 0.1, 1.0]


def test_only_taxonomies_are_trees():
    axes = make_axes([domain(["clerk"], hierarchies=JOBS), domain(["clerk"], hierarchies=JOBS, scales="nominal")])
    assert axes.heights.tolist() == [3, 0]


@pytest.mark.parametrize("values", [[5], [5, 5], [None]])
def test_a_single_value_has_no_extent(values):
    axes = make_axes([domain(pa.array(values, pa.int64()))])
    assert set(axes.positions.tolist()) <= {0.0}


def test_numbers_at_the_ends_of_their_type_are_placed():
    floats = make_axes([domain([-1.5e308, 0.0, 1.5e308])])
    assert floats.positions.tolist() == [0.0, 0.5, 1.0]
    whole = make_axes([domain([-(2**63), 0, 2**63 - 1])])
    assert whole.positions.tolist() == [0.0, 0.5, 1.0]


def test_neighbors_beyond_the_precision_of_floats_lie_apart():
    axes = make_axes([domain([2**60, 2**60 + 1, 2**60 + 2])])
    assert axes.positions.tolist() == [0.0, 0.5, 1.0]
