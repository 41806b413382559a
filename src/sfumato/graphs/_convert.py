"""Graphs of other libraries: read by what their objects offer, and made where somebody asks for them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._optional import import_optional
from sfumato.errors import SchemaError, WriteError
from sfumato.graphs._input import AsUndirected, ParsedEdges, encode_edges
from sfumato.io._dataframes import to_arrow

ForeignGraph: TypeAlias = Any  # a graph of NetworkX or igraph, of which neither needs to be installed


def from_networkx(
    graph: ForeignGraph, *, kind: str | None, weight: str | None, as_undirected: AsUndirected | None, simplify: bool
) -> ParsedEdges:
    """Read a NetworkX graph."""
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise SchemaError("This is no NetworkX graph; make the network with from_edges.")
    nodes = list(graph.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    found = list(graph.edges(data=True))
    pairs = [(places[a], places[b]) for a, b, _ in found]
    about = [graph.nodes[node] for node in nodes]
    columns = {name: _column([each.get(name) for each in about]) for name in dict.fromkeys(_names(about))}
    return encode_edges(
        _keys(nodes),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        kinds=_attribute([each for _, _, each in found], kind),
        weights=_attribute([each for _, _, each in found], weight),
        persons=to_arrow(pa.table(columns))[0] if columns else None,
        directed=graph.is_directed(),
        as_undirected=as_undirected,
        simplify=simplify,
    )


def from_igraph(
    graph: ForeignGraph, *, kind: str | None, weight: str | None, as_undirected: AsUndirected | None, simplify: bool
) -> ParsedEdges:
    """Read an igraph graph."""
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("vcount", "get_edgelist", "is_directed")):
        raise SchemaError("This is no igraph graph; make the network with from_edges.")
    names = list(graph.vs.attributes())
    keys = list(graph.vs["name"]) if "name" in names else list(range(graph.vcount()))
    columns = {name: _column(list(graph.vs[name])) for name in names if name != "name"}
    given = {name: list(graph.es[name]) for name in graph.es.attributes()}
    for name in (kind, weight):
        if name is not None and name not in given:
            raise SchemaError(f"No edge has the attribute {name!r}; leave it out.")
    return encode_edges(
        _keys(keys),
        np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2),
        kinds=None if kind is None else _column(given[kind]),
        weights=None if weight is None else _column(given[weight]),
        persons=to_arrow(pa.table(columns))[0] if columns else None,
        directed=graph.is_directed(),
        as_undirected=as_undirected,
        simplify=simplify,
    )


def to_networkx(
    keys: pa.Array, edges: npt.NDArray[np.int32], persons: pa.Table | None, columns: Mapping[str, pa.Array]
) -> ForeignGraph:
    """Make a NetworkX graph."""
    networkx = import_optional("networkx", extra="networks", error=WriteError)
    graph = networkx.Graph()
    names = keys.to_pylist()
    graph.add_nodes_from(zip(names, _rows(persons, len(names)), strict=True))
    ends = zip(edges[:, 0].tolist(), edges[:, 1].tolist(), _rows(pa.table(dict(columns)), len(edges)), strict=True)
    graph.add_edges_from((names[low], names[high], about) for low, high, about in ends)
    return graph


def to_igraph(
    keys: pa.Array, edges: npt.NDArray[np.int32], persons: pa.Table | None, columns: Mapping[str, pa.Array]
) -> ForeignGraph:
    """Make an igraph graph."""
    try:
        igraph = importlib.import_module("igraph")
    except ImportError:
        raise WriteError("The library igraph is needed, which Sfumato does not bring; install it yourself.") from None
    graph = igraph.Graph(n=len(keys), edges=edges.tolist())
    graph.vs["name"] = keys.to_pylist()
    for name in () if persons is None else persons.column_names:
        graph.vs[name] = persons[name].to_pylist()  # type: ignore[index]  # there are persons here
    for name, column in columns.items():
        graph.es[name] = column.to_pylist()
    return graph


def _rows(table: pa.Table | None, count: int) -> list[dict[str, Any]]:
    return [{} for _ in range(count)] if table is None or not table.num_columns else table.to_pylist()


def _names(about: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(name) for each in about for name in each]


def _keys(nodes: Sequence[Any]) -> pa.Array:
    if all(isinstance(node, int | np.integer) and not isinstance(node, bool) for node in nodes):
        try:
            return pa.array(nodes, pa.int64())
        except OverflowError:
            raise SchemaError("Keys of persons are whole numbers of more than 63 bits; make texts of them.") from None
    if all(isinstance(node, str) for node in nodes):
        return pa.array(nodes, pa.string())
    raise SchemaError("Keys of persons must be all whole numbers or all texts; rename the nodes.")


def _attribute(about: Sequence[Mapping[str, Any]], name: str | None) -> pa.Array | None:
    if name is None:
        return None
    if not any(name in each for each in about):
        raise SchemaError(f"No edge has the attribute {name!r}; leave it out.")
    return _column([each.get(name) for each in about])


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise SchemaError(
            "An attribute has values of several types, or too large ones; make texts of all of them."
        ) from None
