"""Networks: from and to other libraries and files, and what is refused in one sentence."""

from __future__ import annotations

import gzip

import igraph
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
from sfumato.errors import InvalidParameterError, ReadError, SchemaError

Network = sf.graphs.Graph


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
    network = Network.from_networkx(graph, kind="kind", weight="weight", schema=sf.Schema(quasi_identifiers=["age"]))
    assert network.vertices.to_pydict() == {"age": [30, 31]}
    assert nx.utils.graphs_equal(network.to_networkx(), graph)
    again = Network.from_igraph(network.to_igraph(), kind="kind", weight="weight")
    assert again.digest() == network.digest()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_name_the_persons_without_edges(make):
    edges = make({"weight": [1.0, 2.0], "a": ["x", "z"], "b": ["y", "y"]})
    persons = make({"age": [1, 2, 3, 4], "name": ["x", "y", "z", "w"]})
    network = Network.from_edges(
        edges,
        persons=persons,
        key="name",
        source="a",
        target="b",
        weight="weight",
        schema=sf.Schema(quasi_identifiers=["age"]),
    )
    assert network.degrees.tolist() == [1, 2, 1, 0]
    assert network.weights.tolist() == [1.0, 2.0]
    assert network.edges.tolist() == [[0, 1], [1, 2]]
    assert network.vertices.column_names == ["age"]


def test_the_order_of_edges_does_not_matter():
    forth = Network.from_edges([(3, 1), (1, 2)])
    assert forth.digest() == Network.from_edges(np.array([[2, 1], [1, 3]])).digest()
    assert forth.digest() != Network.from_edges([(3, 1), (3, 2)]).digest()


def test_lists_of_edges_are_read_as_snap_writes_them(tmp_path):
    text = "# Nodes: 3\n#source\ttarget\n0\t1\r\n 10   1 \n\n"
    (tmp_path / "net.txt").write_text(text)
    (tmp_path / "net.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "net.csv").write_text("from,to\n0,1\n10,1\n")
    read = [sf.graphs.read(tmp_path / name) for name in ("net.txt", "net.txt.gz", "net.csv")]
    assert len({each.digest() for each in read}) == 1
    assert read[0].keys.to_pylist() == [0, 1, 10]
    nx.write_graphml(read[0].to_networkx(), tmp_path / "net.graphml")
    assert sf.graphs.read(tmp_path / "net.graphml").edges.tolist() == read[0].edges.tolist()
    (tmp_path / "words.txt").write_text("Ann Bob\nBob 3\n")
    assert sf.graphs.read(tmp_path / "words.txt").keys.to_pylist() == ["3", "Ann", "Bob"]
    (tmp_path / "wide.txt").write_text("1 2\n1 2 3\n")
    with pytest.raises(ReadError, match="not the keys of two persons"):
        sf.graphs.read(tmp_path / "wide.txt")


@pytest.mark.parametrize(
    "text",
    [
        b"1 2\r\n2 3\r\n3 1\r\n",
        b"1 2\r2 3\r3 1",
        b"\xef\xbb\xbf1\t2\n2\t3\n3\t1\n",
        b"1,2\n2,3\n3,1\n",
        b"1, 2\n 2 , 3 \n3,1",
        b"1;2\n2;3\n3;1\n",
        b"% nodes 3\n// made by hand\n1 2\n  # more\n2 3\n\n3 1\n",
    ],
)
def test_lists_of_edges_are_read_however_they_are_separated(tmp_path, text):
    path = tmp_path / "NET.TXT"
    path.write_bytes(text)
    found = sf.graphs.read(path)
    assert (found.keys.to_pylist(), found.edges.tolist()) == ([1, 2, 3], [[0, 1], [0, 2], [1, 2]])


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (b"01 2\n1 3\n", ["01", "1", "2", "3"]),
        (b"1.5 2\n1.50 3\n", ["1.5", "1.50", "2", "3"]),
        (b"99999999999999999998 1\n99999999999999999999 1\n", ["1", "99999999999999999998", "99999999999999999999"]),
        (b"-0 0\n", ["-0", "0"]),
        (b"-1 0\n", [-1, 0]),
        (b"nan NA\nnull NA\n", ["NA", "nan", "null"]),
    ],
)
def test_keys_that_are_written_otherwise_are_other_persons(tmp_path, text, keys):
    (tmp_path / "net.edges").write_bytes(text)
    assert sf.graphs.read(tmp_path / "net.edges").keys.to_pylist() == keys


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("net.txt", b"secret\n", "not the keys of two persons"),
        ("net.txt", b"secret 2\n3\n", "not the keys of two persons"),
        ("net.txt", b"1 2 # secret\n", "not the keys of two persons"),
        ("net.txt", b"1,2\n3 4\n", "not the keys of two persons"),
        ("net.txt", b"Smith,Ann secret\n", "not the keys of two persons"),
        ("net.txt", b"1\x002 3\n4 5\n", "not the keys of two persons"),
        ("net.txt", b"1 " + b"9" * 20_000 + b"\n1 2\n", "not the keys of two persons"),
        ("net.txt", "Müller secret\n".encode("latin-1"), "UTF-8"),
        ("net.txt", b"source target\n1 2\n2 3\n", "names columns"),
        ("net.txt", b"# nobody\n", "no persons"),
        ("net.txt.gz", b"secret", "is not a complete gzip file"),
        ("net.edges.gz", gzip.compress(b"1 2\n" * 99, mtime=0)[:-9], "is not a complete gzip file"),
        ("net.csv", b"1,2\n2,3\n", "give it a header"),
        ("net.csv", b"a,b\n1,\n2,3\n", "1 edges have no target"),
        ("net.graphml", b"<secret/>", "no GraphML"),
    ],
)
def test_files_that_are_no_edges_are_refused_in_one_sentence(tmp_path, name, content, why):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ReadError, SchemaError), match=why) as refused:
        sf.graphs.read(tmp_path / name)
    said = str(refused.value)
    assert (said.endswith("."), said.count(". "), "secret" in said) == (True, 0, False)


def test_columns_of_edges_are_the_first_that_hold_nothing_else(tmp_path):
    (tmp_path / "net.csv").write_text("weight,a,b\n2.5,1,2\n")
    found = sf.graphs.read(tmp_path / "net.csv", weight="weight")
    assert (found.keys.to_pylist(), found.weights.tolist()) == ([1, 2], [2.5])
    with pytest.raises(InvalidParameterError, match="two columns"):
        sf.graphs.read(tmp_path / "net.csv", edge_columns=("a",))
    nx.write_graphml(nx.path_graph(3), tmp_path / "net.graphml")
    with pytest.raises(ReadError, match="hold persons and edges themselves"):
        sf.graphs.read(tmp_path / "net.graphml", persons=tmp_path / "net.csv")


def test_directed_networks_say_how_they_become_undirected():
    ways = [(1, 2), (2, 1), (2, 3)]
    assert Network.from_edges(ways, directed=True, as_undirected="either").n_edges == 2
    both = Network.from_edges(ways, directed=True, as_undirected="both")
    assert both.edges.tolist() == [[0, 1]]
    assert both.dropped == {"edges in one direction": 1}
    assert Network.from_networkx(nx.DiGraph(ways), as_undirected="both").edges.tolist() == [[0, 1]]
    assert Network.from_edges(ways, as_undirected="both").edges.tolist() == [[0, 1]]
    with pytest.raises(SchemaError, match="is directed"):
        Network.from_networkx(nx.DiGraph(ways))


def test_what_is_left_out_on_request_is_counted():
    network = Network.from_edges([(1, 1), (1, 2), (2, 1), (1, 2)], simplify=True)
    assert (network.n_edges, dict(network.dropped)) == (1, {"self-loops": 1, "double edges": 2})


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
        ({"edges": [1, 2]}, "pair of keys"),
        ({"edges": ["secret"]}, "pair of keys"),
        ({"edges": np.array([1, 2])}, "pair of keys"),
        ({"edges": np.array(3)}, "pair of keys"),
        ({"edges": [(2**70, 1)]}, "all whole numbers or all texts"),
        ({"edges": np.array([[2**63 + 5, 1]], dtype=np.uint64)}, "more than 63 bits"),
        ({"edges": [((1, 2), (3, 4))]}, "whole numbers or texts"),
        ({"edges": pa.table({"a": [1], "b": [2]}), "source": "b", "target": "b"}, "in different columns"),
        ({"edges": [(1, 2)], "persons": pa.table({})}, "has no columns"),
        ({"edges": [(1, 2)], "key": "name"}, "there is none"),
        ({"edges": [(1, 2)], "schema": sf.Schema(quasi_identifiers=["age"])}, "no table of persons"),
        ({"edges": pa.table({"a": [1], "b": [2], "w": [float("inf")]}), "weight": "w"}, "infinite"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(given, why):
    with pytest.raises(SchemaError, match=why) as refused:
        Network.from_edges(**given)
    said = str(refused.value)
    assert said.endswith(".")
    assert said.count(". ") == 0
    assert "secret" not in said


def named(*names):
    graph = igraph.Graph(n=2, edges=[(0, 1)])
    graph.vs["name"] = list(names)
    return graph


def numbered_node():
    graph = nx.Graph()
    graph.add_node(1, number=2**70)
    return graph


@pytest.mark.parametrize(
    ("read", "graph", "why"),
    [
        (Network.from_networkx, nx.Graph, "no NetworkX graph"),
        (Network.from_networkx, nx.Graph([(2**70, 1)]), "more than 63 bits"),
        (Network.from_networkx, nx.Graph([(1, "secret")]), "all whole numbers or all texts"),
        (Network.from_networkx, nx.MultiGraph([(1, 2), (1, 2)]), "1 double edges"),
        (Network.from_networkx, numbered_node(), "too large"),
        (Network.from_igraph, nx.Graph(), "no igraph graph"),
        (Network.from_igraph, igraph.Graph(n=2, edges=[(0, 1)], directed=True), "is directed"),
        (Network.from_igraph, named("secret", "secret"), "1 persons have the key of another"),
        (Network.from_igraph, named("secret", None), "all whole numbers or all texts"),
    ],
)
def test_bad_graphs_of_others_are_refused_in_one_sentence(read, graph, why):
    with pytest.raises(SchemaError, match=why) as refused:
        read(graph)
    assert "secret" not in str(refused.value)


def test_nodes_may_be_numbers_of_numpy_and_kinds_must_be_texts():
    graph = nx.Graph([(np.int64(3), np.int64(5))])
    assert Network.from_networkx(graph).keys.to_pylist() == [3, 5]
    graph[3][5]["kind"] = [1]
    with pytest.raises(SchemaError, match="Kinds of edges must be texts"):
        Network.from_networkx(graph, kind="kind")
    with pytest.raises(InvalidParameterError, match=r"sf\.Schema"):
        Network.from_networkx(graph, schema={"quasi": ["age"]})


GML = """Creator "somebody"
graph
[
  directed 0
  node [ id 0 label "Beak" ]
  node [ id 1 label "{}" ]
  node [ id 2 label "Bumper" ]
  edge [ source 1 target 0 ]
  edge [ source 2 target 1 ]
{}]
"""


def test_gml_names_persons_by_labels_that_differ(tmp_path):
    path = tmp_path / "dolphins.gml"
    path.write_text(GML.format("Fin", ""))
    read = Network.read(path)
    assert (sorted(read.keys.to_pylist()), read.n_edges) == (["Beak", "Bumper", "Fin"], 2)
    path.write_text(GML.format("Beak", ""))
    assert sorted(Network.read(path).keys.to_pylist()) == [0, 1, 2]
    path.write_text(GML.format("Fin", "  edge [ source 1 target 0 ]\n"))
    assert Network.read(path, simplify=True).n_edges == 2
    path.write_text("graph [ node [ id 0 label secret = 1 ] ]")
    with pytest.raises(ReadError, match="is no GML") as error:
        Network.read(path)
    assert "secret" not in str(error.value)


def test_a_network_reads_itself(tmp_path):
    (tmp_path / "net.txt").write_text("1 2\n2 3\n3 3\n")
    one, other = (read(tmp_path / "net.txt", simplify=True) for read in (sf.graphs.read, sf.graphs.Graph.read))
    assert one.digest() == other.digest()
    assert one.dropped == {"self-loops": 1}
