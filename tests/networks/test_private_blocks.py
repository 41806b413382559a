"""Edges between public blocks with differential privacy for edges, and networks made up from them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato.exceptions import InfeasibleError, InvalidParameterError
from sfumato.networks.noisy_blocks import MOST_BLOCKS
from sfumato.queries.private.accountant import Accountant

S = sf.networks
CLUB = nx.karate_club_graph()
SIDES = ["hi" if CLUB.nodes[person]["club"] == "Mr. Hi" else "officer" for person in CLUB]


@pytest.fixture
def paying(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget", total=2000), "analyst": "Ann"}


def counted(graph: nx.Graph, blocks: list[str]) -> list[int]:
    names = sorted(set(blocks))
    found = {(one, other): 0 for place, one in enumerate(names) for other in names[place:]}
    for one, other in graph.edges:
        found[tuple(sorted((blocks[one], blocks[other])))] += 1
    return list(found.values())


@examples(20)
@given(graphs(6), st.lists(st.sampled_from("abc"), min_size=6, max_size=6))
def test_counts_are_those_of_the_blocks_and_an_edge_is_in_one_of_them(tmp_path_factory, graph, letters):
    blocks = letters[: len(graph)]
    accountant = Accountant(tmp_path_factory.mktemp("paid") / "budget", total=200)
    found = S.private_blocks(network_of(graph), blocks=blocks, epsilon=100, accountant=accountant, analyst="Ann")
    slow = counted(graph, blocks)
    assert found.to_frame()["edges"].to_pylist() == slow
    for edge in graph.edges:
        less = graph.copy()
        less.remove_edge(*edge)
        assert np.abs(np.subtract(slow, counted(less, blocks))).sum() == 1


def test_made_up_networks_have_the_counts_and_show_blocks(paying):
    found = S.private_blocks(network_of(CLUB), blocks=SIDES, epsilon=100, **paying)
    assert repr(found) == "PrivateBlocks(2 blocks, 34 persons, epsilon 100 for edges, who is in which block is public)"
    assert found.blocks == ("hi", "officer")
    assert found.scale == pytest.approx(0.01)
    assert found.to_frame().to_pylist() == [
        {"block": "hi", "other": "hi", "edges": 35},
        {"block": "hi", "other": "officer", "edges": 11},
        {"block": "officer", "other": "officer", "edges": 32},
    ]
    made = found.sample(seed=1)
    assert made.edges.tolist() == found.sample(seed=1).edges.tolist() != found.sample().edges.tolist()
    sides = made.persons["block"].to_pylist()
    assert sorted(sides) == sorted(SIDES)
    assert counted(made.to_networkx(), sides) == [35, 11, 32]
    assert made.keys.to_pylist() == list(range(34))


def test_noise_is_there_and_counts_stay_in_their_range(paying):
    network = network_of(nx.complete_graph(6))
    blocks = list("aabbcc")
    found = [S.private_blocks(network, blocks=blocks, epsilon="0.5", **paying).to_frame() for _ in range(20)]
    edges = np.array([each["edges"].to_pylist() for each in found])
    assert (edges >= 0).all()
    assert (edges <= [1, 4, 4, 1, 4, 1]).all()
    assert len(np.unique(edges, axis=0)) > 5


def test_a_column_of_persons_names_blocks(paying):
    persons = pa.table({"key": range(34), "side": SIDES, "odd": [None, *range(33)]})
    network = S.Network.from_edges(list(CLUB.edges), persons=persons, key="key")
    assert S.private_blocks(network, blocks="side", epsilon=1, **paying).blocks == ("hi", "officer")
    with pytest.raises(InvalidParameterError, match="no column 'sides'; did you mean 'side'"):
        S.private_blocks(network, blocks="sides", epsilon=1, **paying)
    for missing in ("odd", SIDES[:-1]):
        with pytest.raises(InvalidParameterError, match="Everybody needs a block"):
            S.private_blocks(network, blocks=missing, epsilon=1, **paying)
    assert paying["accountant"].balance().answers == 1


def test_too_many_blocks_and_too_little_budget_are_refused(paying):
    network = network_of(nx.empty_graph(MOST_BLOCKS + 1))
    with pytest.raises(InvalidParameterError, match="at most 1,000 coarser ones"):
        S.private_blocks(network, blocks=range(len(network)), epsilon=1, **paying)
    with pytest.raises(InfeasibleError, match="left"):
        S.private_blocks(network_of(CLUB), blocks=SIDES, epsilon=2001, **paying)
    assert paying["accountant"].balance().answers == 0
