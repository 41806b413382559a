"""Networks: from and to other libraries and files, and what is refused in one sentence."""

from __future__ import annotations

import gzip

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.exceptions import ReadError, SchemaError

Network = sf.networks.Network


@examples(20)
@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1])))
def test_networkx_and_back_is_the_same_graph(pairs):
    graph = nx.Graph()
    graph.add_nodes_from(range(9))
    graph.add_edges_from(pairs)
    network = Network.from_networkx(graph)
    assert network.edges.tolist() == [list(pair) for pair in sorted(pairs)]
    assert network.degrees.tolist() == [graph.degree(node) for node in range(9)]
    rows = np.split(network.neighbors, network.offsets[1:-1])
    assert [row.tolist() for row in rows] == [sorted(graph[node]) for node in range(9)]
    assert nx.utils.graphs_equal(network.to_networkx(), graph)
    assert Network.from_igraph(network.to_igraph()).edges.tolist() == network.edges.tolist()


def test_attributes_of_nodes_and_edges_are_kept():
    graph = nx.Graph()
    graph.add_node("Ann", age=30)
    graph.add_node("Bob", age=31)
    graph.add_edge("Ann", "Bob", kind="friend", weight=2.5)
    network = Network.from_networkx(graph, kind="kind", weight="weight", schema=sf.Schema(quasi=["age"]))
    assert network.persons.to_pydict() == {"age": [30, 31]}
    assert nx.utils.graphs_equal(network.to_networkx(), graph)
    again = Network.from_igraph(network.to_igraph(), kind="kind", weight="weight")
    assert again.fingerprint() == network.fingerprint()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_name_the_persons_without_edges(make):
    edges = make({"weight": [1.0, 2.0], "a": ["x", "z"], "b": ["y", "y"]})
    persons = make({"age": [1, 2, 3, 4], "name": ["x", "y", "z", "w"]})
    network = Network.from_edges(
        edges, persons=persons, key="name", source="a", target="b", weight="weight", schema=sf.Schema(quasi=["age"])
    )
    assert network.degrees.tolist() == [1, 2, 1, 0]
    assert network.weights.tolist() == [1.0, 2.0]
    assert network.edges.tolist() == [[0, 1], [1, 2]]
    assert network.persons.column_names == ["age"]


def test_the_order_of_edges_does_not_matter():
    forth = Network.from_edges([(3, 1), (1, 2)])
    assert forth.fingerprint() == Network.from_edges(np.array([[2, 1], [1, 3]])).fingerprint()
    assert forth.fingerprint() != Network.from_edges([(3, 1), (3, 2)]).fingerprint()


def test_lists_of_edges_are_read_as_snap_writes_them(tmp_path):
    text = "# Nodes: 3\n#source\ttarget\n0\t1\r\n 10   1 \n\n"
    (tmp_path / "net.txt").write_text(text)
    (tmp_path / "net.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "net.csv").write_text("from,to\n0,1\n10,1\n")
    read = [sf.networks.read(tmp_path / name) for name in ("net.txt", "net.txt.gz", "net.csv")]
    assert len({each.fingerprint() for each in read}) == 1
    assert read[0].keys.to_pylist() == [0, 1, 10]
    nx.write_graphml(read[0].to_networkx(), tmp_path / "net.graphml")
    assert sf.networks.read(tmp_path / "net.graphml").edges.tolist() == read[0].edges.tolist()
    (tmp_path / "words.txt").write_text("Ann Bob\nBob 3\n")
    assert sf.networks.read(tmp_path / "words.txt").keys.to_pylist() == ["3", "Ann", "Bob"]
    (tmp_path / "wide.txt").write_text("1 2\n1 2 3\n")
    with pytest.raises(ReadError, match="not the keys of two persons"):
        sf.networks.read(tmp_path / "wide.txt")


def test_directed_networks_say_how_they_become_undirected():
    ways = [(1, 2), (2, 1), (2, 3)]
    assert Network.from_edges(ways, directed=True, as_undirected="either").size == 2
    both = Network.from_edges(ways, directed=True, as_undirected="both")
    assert both.edges.tolist() == [[0, 1]]
    assert both.dropped == {"edges in one direction": 1}
    assert Network.from_networkx(nx.DiGraph(ways), as_undirected="both").edges.tolist() == [[0, 1]]


def test_what_is_left_out_on_request_is_counted():
    network = Network.from_edges([(1, 1), (1, 2), (2, 1), (1, 2)], simplify=True)
    assert (network.size, dict(network.dropped)) == (1, {"self-loops": 1, "double edges": 2})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"edges": [(1, 1), (2, 2)]}, "2 self-loops"),
        ({"edges": [(1, 2), (2, 1)]}, "1 double edges"),
        ({"edges": []}, "no persons"),
        ({"edges": [(1, 2)], "directed": True}, "is directed"),
        ({"edges": [(1, 2)], "persons": pa.table({"k": [1]})}, "1 edges name persons who are not"),
        ({"edges": [(1, 2)], "persons": pa.table({"k": [1, 1, 2]})}, "1 persons have the key of another"),
        ({"edges": [(1, 2)], "persons": pa.table({"k": [1, None]})}, "1 persons have no key"),
        ({"edges": [(1, 2), ("secret", 3)]}, "all whole numbers or all texts"),
        ({"edges": [(1, 2, 3)]}, "pair of keys"),
        ({"edges": pa.table({"a": [1], "b": [2], "w": ["secret"]}), "weight": "w"}, "must be numbers"),
        ({"edges": pa.table({"a": [1], "b": [2], "w": [float("nan")]}), "weight": "w"}, "must be numbers"),
        ({"edges": pa.table({"a": [1], "b": [None]})}, "1 edges have no target"),
        ({"edges": pa.table({"a": [1], "b": [2]}), "kind": "knd"}, "no column 'knd'"),
        ({"edges": pa.table({"a": [1.5], "b": [2.5]})}, "whole numbers or texts"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(given, why):
    with pytest.raises(SchemaError, match=why) as refused:
        Network.from_edges(**given)
    said = str(refused.value)
    assert said.endswith(".")
    assert said.count(". ") == 0
    assert "secret" not in said
