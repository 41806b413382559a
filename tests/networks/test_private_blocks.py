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
from sfumato._neighbors import EDGE
from sfumato.dp.accountant import Accountant
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.graphs.dp.block_counts import MAX_BLOCKS

S = sf.graphs
CLUB = nx.karate_club_graph()
SIDES = ["hi" if CLUB.nodes[person]["club"] == "Mr. Hi" else "officer" for person in CLUB]


@pytest.fixture
def paying(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget", total=2000), "analyst": "Ann"}


def counted(graph: nx.Graph, blocks: list[str], names: list[str | None]) -> list[int]:
    found = {(one, other): 0 for place, one in enumerate(names) for other in names[place:]}
    for one, other in graph.edges:
        found[tuple(sorted((blocks[one], blocks[other]), key=names.index))] += 1
    return list(found.values())


@examples(20)
@given(graphs(6), st.lists(st.sampled_from(["b", "a", None]), min_size=6, max_size=6))
def test_counts_are_those_of_the_blocks_and_an_edge_is_in_one_of_them(tmp_path_factory, graph, letters):
    blocks = letters[: len(graph)]
    accountant = Accountant(tmp_path_factory.mktemp("paid") / "budget", total=200, another_budget=True)
    asked = {"epsilon": 100, "accountant": accountant, "analyst": "Ann"}
    found = S.private_blocks(network_of(graph), blocks=blocks, names=["b", "a"], **asked)
    slow = counted(graph, blocks, ["b", "a", None])
    assert found.to_frame()["edges"].to_pylist() == slow
    for edge in graph.edges:
        less = graph.copy()
        less.remove_edge(*edge)
        assert np.abs(np.subtract(slow, counted(less, blocks, ["b", "a", None]))).sum() == 1


def test_made_up_networks_have_the_counts_and_show_blocks(paying):
    found = S.private_blocks(network_of(CLUB), blocks=SIDES, names=["hi", "officer"], epsilon=100, **paying)
    told = f"epsilon 100 for {EDGE}, who is in which block is public"
    assert repr(found) == f"PrivateBlocks(2 blocks, 34 persons, {told})"
    assert found.blocks == ("hi", "officer", None)
    assert found.scale == pytest.approx(0.01)
    assert found.to_frame().to_pylist() == [
        {"block": "hi", "other": "hi", "edges": 35},
        {"block": "hi", "other": "officer", "edges": 11},
        {"block": "hi", "other": None, "edges": 0},
        {"block": "officer", "other": "officer", "edges": 32},
        {"block": "officer", "other": None, "edges": 0},
        {"block": None, "other": None, "edges": 0},
    ]
    made = found.sample(seed=1)
    assert made.edges.tolist() == found.sample(seed=1).edges.tolist() != found.sample().edges.tolist()
    sides = made.vertices["block"].to_pylist()
    assert sorted(sides) == sorted(SIDES)
    assert counted(made.to_networkx(), sides, ["hi", "officer"]) == [35, 11, 32]
    assert made.keys.to_pylist() == list(range(34))


def test_noise_is_there_and_counts_stay_in_their_range(paying):
    network = network_of(nx.complete_graph(6))
    blocks = list("aabbcc")
    found = [
        S.private_blocks(network, blocks=blocks, names=["a", "b"], epsilon="0.5", **paying).to_frame()
        for _ in range(20)
    ]
    edges = np.array([each["edges"].to_pylist() for each in found])
    assert (edges >= 0).all()
    assert (edges <= [1, 4, 4, 1, 4, 1]).all()
    assert len(np.unique(edges, axis=0)) > 5


def test_a_column_of_persons_tells_blocks(paying):
    persons = pa.table({"key": range(34), "side": SIDES})
    network = S.Graph.from_edges(list(CLUB.edges), persons=persons, key="key")
    asked = {"names": ["hi", "officer"], "epsilon": 1, **paying}
    assert S.private_blocks(network, blocks="side", **asked).blocks == ("hi", "officer", None)
    with pytest.raises(InvalidParameterError, match="no column 'sides'; did you mean 'side'"):
        S.private_blocks(network, blocks="sides", **asked)
    with pytest.raises(InvalidParameterError, match="one block for each of the 34 persons"):
        S.private_blocks(network, blocks=SIDES[:-1], **asked)
    assert paying["accountant"].balance().answers == 1


@pytest.mark.parametrize("names", [[], "ab", ["a", "a"], [1, "1"], [None], range(MAX_BLOCKS + 1)])
def test_blocks_that_are_not_declared_well_are_refused(paying, names):
    with pytest.raises(InvalidParameterError, match="names must be a list of 1 to 1,000 distinct names"):
        S.private_blocks(network_of(CLUB), blocks=SIDES, names=names, epsilon=1, **paying)
    assert paying["accountant"].balance().answers == 0


def test_blocks_are_never_taken_from_the_network(paying):
    persons = pa.table({"key": range(34), "side": ["hi", None, "", "Mr. Secret", "1e999", *SIDES[5:]]})
    network = S.Graph.from_edges(list(CLUB.edges), persons=persons, key="key")
    found = S.private_blocks(network, blocks="side", names=["officer", "hi", "none"], epsilon=100, **paying)
    assert found.blocks == ("officer", "hi", "none", None)
    assert found.sizes.tolist() == [SIDES[5:].count("officer"), SIDES[5:].count("hi") + 1, 0, 4]
    sides = [name if name in {"hi", "officer"} else None for name in persons["side"].to_pylist()]
    assert found.to_frame()["edges"].to_pylist() == counted(CLUB, sides, [*found.blocks])
    assert found.sample().vertices["block"].null_count == 4


def test_too_little_budget_is_refused(paying):
    with pytest.raises(InfeasibleError, match="left"):
        S.private_blocks(network_of(CLUB), blocks=SIDES, names=["hi", "officer"], epsilon=2001, **paying)
    assert paying["accountant"].balance().answers == 0
