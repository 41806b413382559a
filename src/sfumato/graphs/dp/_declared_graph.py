"""GraphML and GML that are counted with differential privacy: the file declares its persons, and no edge is refused."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa

from sfumato.errors import ReadError
from sfumato.graphs.io import GRAPHML
from sfumato.io._reading import check_readable_file

WORD = re.compile(r'"[^"\n]*"|\[|\]|[^\s\[\]"]+')
COMMENT = re.compile(r"(?m)^[ \t]*#.*$")
Cells = Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredGraph:
    """The persons that a file declares, and the keys of both ends of its edges, whether it declares them or not.

    Parameters
    ----------
    persons : a table with a row for every node, whose first column holds the keys.
    pairs : a table with a row for every edge.
    directed : whether the file says that edges have a direction; what a single edge says of it counts for nothing.
    """

    persons: pa.Table
    pairs: pa.Table
    directed: bool


def read_declared_graph(source: Path) -> DeclaredGraph:
    """Read the nodes and edges of a file, and of an edge nothing but its ends."""
    check_readable_file(source)
    return _from_graphml(source) if source.name.lower().endswith(GRAPHML) else _from_gml(source)


def _from_graphml(source: Path) -> DeclaredGraph:
    try:
        root = ET.fromstring(source.read_bytes())  # noqa: S314 - expat limits how far entities expand
    except (ET.ParseError, ValueError, LookupError):
        raise ReadError(f"{source} is no GraphML; export it again.") from None
    found: dict[str, list[ET.Element]] = {"graph": [], "key": [], "node": [], "edge": []}
    for each in root.iter():
        found.get(_element_type(each), []).append(each)
    names = {each.get("id"): each.get("attr.name") for each in found["key"] if each.get("for") in {"node", "all"}}
    usual: dict[str, str | None] = {}
    for each in found["key"]:
        name, given = names.get(each.get("id")), next((part for part in each if _element_type(part) == "default"), None)
        if name and given is not None:
            usual[name] = given.text
    about = []
    for node in found["node"]:
        said = {names.get(part.get("key")): part.text for part in node if _element_type(part) == "data"}
        about.append({**usual, **{name: value for name, value in said.items() if name}})
    return DeclaredGraph(
        persons=_to_table([node.get("id") for node in found["node"]], about),
        pairs=_to_edges((edge.get("source"), edge.get("target")) for edge in found["edge"]),
        directed=any(graph.get("edgedefault") == "directed" for graph in found["graph"]),
    )


def _element_type(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _from_gml(source: Path) -> DeclaredGraph:
    """Read GML; persons are named by their labels if these differ, and by their numbers otherwise."""
    text = COMMENT.sub("", source.read_bytes().decode("utf-8-sig", errors="replace"))
    nodes, edges, directed = [], [], False
    for kind, cells in _records(text):
        if kind == "node":
            nodes.append(cells)
        elif kind == "edge":
            edges.append(cells)
        directed |= kind == "graph" and cells.get("directed") == "1"
    numbers, labels = ([node.get(name) for node in nodes] for name in ("id", "label"))
    labelled = None not in labels and len(set(labels)) == len(labels) == len(set(numbers))
    key = dict(zip(numbers, labels if labelled else numbers, strict=True))
    about = [{name: cell for name, cell in node.items() if name != "id"} for node in nodes]
    return DeclaredGraph(
        persons=_to_table(labels if labelled else numbers, about),
        pairs=_to_edges((key.get(edge.get("source")), key.get(edge.get("target"))) for edge in edges),
        directed=directed,
    )


def _records(text: str) -> Iterator[tuple[str, Cells]]:
    """Return what stands between brackets, and the word before these; nothing in them changes how others are read."""
    opened: list[tuple[str, dict[str, str | None]]] = []
    name = ""
    for word in WORD.findall(text):
        if word == "[":
            opened.append((name, {}))
            name = ""
        elif word == "]":
            yield from [opened.pop()] if opened else []
            name = ""
        elif not name:
            name = word.lower()
        else:
            if opened:
                opened[-1][1].setdefault(name, html.unescape(word.strip('"')))
            name = ""
    yield from opened


def _to_table(keys: Sequence[str | None], about: Sequence[Cells]) -> pa.Table:
    """Return a table of persons, whose column of keys has a name that no other one has."""
    if None in keys:
        raise ReadError("Some nodes of the graph have no id; export it again.")
    names = list(dict.fromkeys(name for each in about for name in each))
    name = "key"
    while name in names:
        name += "_"
    columns = {each: pa.array([cells.get(each) for cells in about], pa.string()) for each in names}
    return pa.table({name: pa.array(keys, pa.string()), **columns})


def _to_edges(ends: Iterator[tuple[str | None, str | None]]) -> pa.Table:
    listed = list(ends)
    return pa.table({name: pa.array([pair[at] for pair in listed], pa.string()) for at, name in enumerate(("a", "b"))})
