"""Networks that are counted with differential privacy: no edge of a file changes how another is read, or is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.graphs._input import PAIR, AsUndirected
from sfumato.graphs.dp._declared_graph import read_declared_graph
from sfumato.graphs.graph import Graph
from sfumato.graphs.io import GRAPHS, LISTS, read_table_with_remarks
from sfumato.io._reading import check_readable_file
from sfumato.io._text_encoding import read_unpacked
from sfumato.io._values import format_values

BETWEEN_KEYS = re.compile(r"[ \t]*[,;][ \t]*|[ \t]+")
Integers = npt.NDArray[np.int64]
COMMENTS = ("#", "%", "//")


def read_graph_for_counts(
    source: Path, *, edges: pa.Table | None, persons: Path | None, key: str | None, as_undirected: AsUndirected | None
) -> Graph:
    """Read a network whose persons everybody knows.

    What is no edge between two different of them is left out, as is one that is there already: who has only such edges
    is not found by a refusal, and the number of persons does not tell that somebody has one.

    Parameters
    ----------
    source : a file of edges, as `sf.graphs.read` takes them. GraphML and GML declare persons, too: who is no node in
        them is none.
    edges : its rows as texts, if it is a table; the first two columns hold the keys.
    persons, key : a file with a table of all persons, and its column of keys, by default the first.
    as_undirected : whether an edge is there if one of both directions is, which is the default, or both.
    """
    kinds = get_args(AsUndirected)
    require(as_undirected in {None, *kinds}, "count", "as_undirected", " or ".join(kinds), as_undirected)
    graph = read_declared_graph(source) if source.name.lower().endswith(GRAPHS) else None
    if persons is None and (graph is None or key is not None):
        raise InvalidParameterError(
            "The number of persons is told, so it must not come from edges; name a table of all persons by --persons."
        )
    known = graph.persons if graph is not None and persons is None else read_table_with_remarks(persons or source)
    name = known.column_names[0] if key is None else key
    if name not in known.column_names:
        raise ReadError(f"There is no column {name!r} in {persons}; it has {', '.join(known.column_names[:8])}.")
    listed = _read_edge_list(source) if edges is None and graph is None else edges
    ends = _vertex_numbers(listed if graph is None else graph.pairs, format_values(known[name]))
    if as_undirected == "both" and (graph is None or graph.directed):
        codes, turned = (ends @ [known.num_rows, 1], ends[:, ::-1] @ [known.num_rows, 1])
        ends = ends[np.isin(codes, turned)]
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    found = {side: known[name].take(pa.array(ends[:, at])) for at, side in enumerate(("source", "target"))}
    return Graph.from_edges(pa.table(found), persons=known, key=name)


def is_edge_list(source: Path) -> bool:
    """Return whether a file is a list of edges or a graph, and no table."""
    return source.name.lower().endswith((*LISTS, *GRAPHS))


def _read_edge_list(source: Path) -> pa.Table:
    """Read lines of two keys; all others are left out."""
    check_readable_file(source)
    lines = (line.decode(errors="replace").strip(" \t") for line in read_unpacked(source).splitlines())
    split = [BETWEEN_KEYS.split(line) for line in lines if line and not line.startswith(COMMENTS)]
    pairs = [keys for keys in split if len(keys) == PAIR]
    return pa.table([pa.array([keys[at] for keys in pairs], pa.string()) for at in range(PAIR)], names=["one", "other"])


def _vertex_numbers(pairs: pa.Table, keys: pa.ChunkedArray) -> Integers:
    """Return the numbers of the persons of each edge, without those of strangers, and of persons with themselves."""
    if pairs.num_columns < PAIR:
        raise ReadError("A table of edges needs two columns of keys; give it both.")
    known = pa.array(keys.to_pylist(), pa.string())
    found = [pc.index_in(pairs.column(at).cast(pa.string()), value_set=known).fill_null(-1) for at in range(PAIR)]
    ends: Integers = np.stack([np.asarray(each.to_numpy(), dtype=np.int64) for each in found], axis=1)
    known_ends: Integers = ends[(ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])]
    return known_ends
