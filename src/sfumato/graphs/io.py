"""Read a network from files: edge lists as SNAP has them, tables of edges and persons, GraphML, GML, a release."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sfumato._optional import import_optional
from sfumato._validation import require
from sfumato.errors import ReadError, ReadWarning
from sfumato.graphs._input import PAIR, AsUndirected
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import EdgeNoise, Graph, SwitchedEdges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.io._reading import check_readable_file, read_with_findings
from sfumato.io._text_encoding import read_unpacked
from sfumato.io._writing import write
from sfumato.io.formats import resolve_release_format
from sfumato.schema.schema import Schema

LISTS = (".txt", ".edges", ".edgelist", ".txt.gz", ".edges.gz", ".edgelist.gz")
GRAPHML, GML = GRAPHS = (".graphml", ".gml")
OTHER_THAN_NUMBERS = re.compile(rb"[^0-9\n ,;-]")
OTHERWISE_WRITTEN = re.compile(rb"(?m)(?:^|[ ,;])-?0[0-9]|-0|-(?![0-9])|[0-9]-")  # 07 is not 7
NO_KEYS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|[^\n]{10000}")  # no list of edges has such characters, or such lines


def read(
    source: str | os.PathLike[str],
    *,
    persons: str | os.PathLike[str] | None = None,
    key: str | None = None,
    edge_columns: tuple[str, str] | None = None,
    kind: str | None = None,
    weight: str | None = None,
    schema: Schema | None = None,
    directed: bool = False,
    as_undirected: AsUndirected | None = None,
    simplify: bool = False,
) -> Graph:
    """Read a network from a file.

    Parameters
    ----------
    source : a file of edges. In `.txt`, `.edges` and `.edgelist`, each line has the keys of two persons, with blanks,
        a comma or a semicolon between them, and lines that begin with `#`, `%` or `//` are left out, as in the files of
        SNAP; these files may end in `.gz`. `.graphml` and `.gml` need the extra `networks`. Any
        other file is a table of edges, as `sf.read` reads it.
    persons : a file with a table of persons, as `sf.read` reads it.
    key : the column of persons that holds the keys, by default the first.
    edge_columns : the columns of a table of edges that hold the keys of the two persons, by default the first two.
    kind, weight : the columns of a table of edges, or the attributes in GraphML, that hold kinds and weights.
    schema, directed, as_undirected, simplify : as for `Network.from_edges`.
    """
    path = Path(source)
    check_readable_file(path)
    first, second = _two_columns(edge_columns)
    if path.suffix.lower() in GRAPHS:
        if persons is not None or edge_columns is not None:
            raise ReadError(
                "GraphML and GML hold persons and edges themselves; leave out the table of persons and columns."
            )
        how: dict[str, Any] = {"kind": kind, "weight": weight, "as_undirected": as_undirected, "simplify": simplify}
        return Graph.from_networkx(_graph(path), schema=schema, **how)
    edges = read_edge_list(path) if path.name.lower().endswith(LISTS) else _read_edge_table(path)
    return Graph.from_edges(
        edges,
        persons=None if persons is None else read_table_with_remarks(Path(persons)),
        key=key,
        source=first,
        target=second,
        kind=kind,
        weight=weight,
        schema=schema,
        directed=directed,
        as_undirected=as_undirected,
        simplify=simplify,
    )


def _two_columns(names: tuple[str, str] | None) -> tuple[str | None, str | None]:
    if names is None:
        return None, None
    require(len(names) == PAIR, "read", "edge_columns", "the names of two columns", names)
    return names


def _read_edge_table(path: Path) -> pa.Table:
    """Read a table of edges, or refuse one whose first edge would be taken for names of columns."""
    table = read_table_with_remarks(path)
    if all(name.strip().isdecimal() for name in table.column_names):
        raise ReadError(f"The columns of {path} are named by numbers; give it a header, such as source,target.")
    return table


def read_table_with_remarks(path: Path) -> pa.Table:
    """Read a table, and say what its owner should know of it."""
    loaded = read_with_findings(path, {})
    for remark in loaded.remarks:
        warnings.warn(remark, ReadWarning, stacklevel=3)
    return loaded.table


def read_edge_list(path: Path) -> pa.Table:
    """Read lines of two keys: whole numbers if all are, and texts otherwise."""
    try:
        raw = read_unpacked(path)
        raw.decode()
    except UnicodeDecodeError:
        raise ReadError(f"{path} is no text in UTF-8; give a file of edges, or save it as UTF-8.") from None
    text, separator = _plain_lines(raw)
    if not text:
        return pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    spaced = separator != b" " and b" " in text
    found = None if spaced or NO_KEYS.search(text) else _two_keys(text, separator.decode())
    if found is None:
        raise ReadError(
            f"{path} has lines that are not the keys of two persons; read other columns from a table with a header."
        )
    first, _, rest = text.partition(b"\n")
    if (
        re.search(rb"[A-Za-z]", first)
        and not re.search(rb"[0-9]", first)
        and _keys_are_integers(rest, separator.decode())
    ):
        raise ReadError(f"The first line of {path} names columns; begin it with #, or remove it.")
    return found


def _plain_lines(raw: bytes) -> tuple[bytes, bytes]:
    """Return lines without comments and blanks around keys, and what is between keys: a blank, comma or semicolon."""
    text = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\t", b" ")
    text = re.sub(rb"(?m)^ *(?:(?:#|%|//).*)?$\n?", b"", text)
    separator = next((each for each in (b",", b";") if each in text), b" ")
    text = re.sub(rb" *([,;]) *", rb"\1", text) if separator != b" " else text
    return re.sub(rb" {2,}", b" ", re.sub(rb"(?m)^ +| +$", b"", text)), separator


def _two_keys(text: bytes, separator: str) -> pa.Table | None:
    """Return the columns of lines of two keys; None if there are others."""
    numbers = not (OTHER_THAN_NUMBERS.search(text) or OTHERWISE_WRITTEN.search(text))
    for kind in (pa.int64(), pa.string()) if numbers else (pa.string(),):
        try:
            return pa.csv.read_csv(
                pa.BufferReader(text),
                read_options=pa.csv.ReadOptions(column_names=["source", "target"]),
                parse_options=pa.csv.ParseOptions(delimiter=separator, quote_char=False),
                convert_options=pa.csv.ConvertOptions(
                    column_types={"source": kind, "target": kind}, strings_can_be_null=True, null_values=[""]
                ),
            )
        except pa.ArrowInvalid:
            continue  # numbers are too large, or lines are no pairs
    return None


def _keys_are_integers(text: bytes, separator: str) -> bool:
    """Return whether all keys are whole numbers, and there are any."""
    found = _two_keys(text, separator) if text else None
    return found is not None and pa.types.is_integer(found["source"].type)


def _graph(path: Path) -> Any:
    """Read GraphML or GML; persons of GML are named by their labels if these differ, and by their numbers otherwise."""
    networkx = import_optional("networkx", extra="networks", error=ReadError)
    what = "GraphML" if path.suffix.lower() == GRAPHML else "GML"
    try:
        return networkx.read_graphml(path) if what == "GraphML" else _gml(networkx, path.read_bytes())
    except Exception as error:  # noqa: BLE001 - what a parser says of a failure may quote cells
        raise ReadError(f"{path} is no {what} ({type(error).__name__}); export it again.") from None


def _gml(networkx: Any, raw: bytes) -> Any:
    text = raw.decode("utf-8-sig")
    if not re.search(r"(?m)^\s*multigraph\s+1", text):  # double edges are counted and told with those of other files
        text = re.sub(r"(?m)^(\s*graph\s*\[)", r"\1\n multigraph 1", text, count=1)
    found = networkx.parse_gml(text, label=None)
    labels = networkx.get_node_attributes(found, "label")
    if len(labels) == len(found) == len(set(labels.values())):
        return networkx.relabel_nodes(found, labels)
    return found


# The files of a published network, written and read back.

VERTICES, EDGES, NODES, BETWEEN, NOISE = "persons", "edges", "super_nodes", "between", "noise"
EDGE_TYPES = "kinds"
VERTEX, NODE, DEGREE, EDGE_TYPE, SWITCHED = "person", "super_node", "original_degree", "kind", "switched"
DESCRIPTIONS = {
    VERTICES: "a row for each person: a new number, the super-node if there are any, and what is published of her",
    EDGES: "a row for each relation of two persons, with its kind if kinds are published",
    NODES: "a row for each super-node: how many persons it has, and how many relations there are inside",
    BETWEEN: "a row for each two super-nodes with relations between them, and how many",
    NOISE: "with which chance a relation was left out, and one was made up for two others; or how many were switched",
    EDGE_TYPES: "a row for each kind and each two super-nodes, or one, with relations of this kind, and how many",
}


def write_published(published: PublishedGraph, folder: Path, table_format: str) -> None:
    """Write a published network into a folder."""
    suffix = resolve_release_format(table_format).suffixes[0]
    for name, table in _tables(published).items():
        write(table, folder / f"{name}{suffix}")


def _tables(published: PublishedGraph) -> dict[str, pa.Table]:
    persons = {VERTEX: published.keys}
    if isinstance(published, Graph):
        if published.original_degrees is not None:
            persons[DEGREE] = pa.array(published.original_degrees)
        found = {VERTICES: pa.table(persons), EDGES: _edge_table(published)}
        return found if published.noise is None else found | {NOISE: _noise_row(published.noise)}
    persons[NODE] = pa.array(published.cluster)
    for name in () if published.vertices is None else published.vertices.column_names:
        persons[name] = published.vertices[name]  # type: ignore[index]  # there are persons here
    nodes = {NODE: np.arange(len(published.inner)), "persons": published.sizes, "inner": published.inner}
    found = {VERTICES: pa.table(persons), NODES: pa.table(nodes), BETWEEN: _count_table(published.between)}
    if published.edge_types is None:
        return found
    each = [(name, rows) for name, rows in sorted(published.edge_types.items()) if len(rows)]
    texts = pa.array([name for name, rows in each for _ in range(len(rows))], pa.string())
    counts = _count_table(np.concatenate([np.zeros((0, 3), dtype=np.int64), *(rows for _, rows in each)]))
    return found | {EDGE_TYPES: counts.append_column(EDGE_TYPE, texts)}


def _edge_table(published: Graph) -> pa.Table:
    edge = (
        np.arange(published.n_edges) if published.edge_types is None else pc.list_parent_indices(published.edge_types)
    )
    ends = [published.keys.take(pa.array(published.edges[np.asarray(edge), side])) for side in (0, 1)]
    table = pa.table({"source": ends[0], "target": ends[1]})
    return table if published.edge_types is None else table.append_column(EDGE_TYPE, published.edge_types.flatten())


def _noise_row(noise: EdgeNoise | SwitchedEdges) -> pa.Table:
    if isinstance(noise, SwitchedEdges):
        return pa.table({SWITCHED: [noise.count]})
    return pa.table({"removed": [noise.removed], "added": [noise.added]})


def _count_table(rows: npt.NDArray[np.int64]) -> pa.Table:
    return pa.table(dict(zip(("one", "other", "edges"), rows.T, strict=True)))


def read_published(folder: Path, schema: Schema | None = None) -> PublishedGraph:
    """Read a published network back from the folder that holds its files."""
    persons = _read(folder, VERTICES)
    if any(folder.glob(f"{NODES}.*")):
        return _read_super_nodes(folder, persons, schema or Schema())
    degrees = _int_column(persons, DEGREE) if DEGREE in persons.column_names else None
    persons = persons if degrees is None else persons.drop_columns([DEGREE])
    edges = _read(folder, EDGES)
    kind = EDGE_TYPE if EDGE_TYPE in edges.column_names else None
    network = Graph.from_edges(edges, persons=persons, key=VERTEX, kind=kind, schema=schema)
    noise = _read_noise(_read(folder, NOISE)) if any(folder.glob(f"{NOISE}.*")) else None
    return replace(network, original_degrees=degrees, noise=noise)


def _read_super_nodes(folder: Path, persons: pa.Table, schema: Schema) -> ClusteredGraph:
    nodes, columns = _read(folder, NODES), persons.drop_columns([VERTEX, NODE])
    found = ClusteredGraph(
        keys=persons[VERTEX].combine_chunks(),
        cluster=_int_column(persons, NODE),
        inner=_int_column(nodes, "inner"),
        between=_read_counts(_read(folder, BETWEEN)),
        edge_types=_read_edge_types(_read(folder, EDGE_TYPES)) if any(folder.glob(f"{EDGE_TYPES}.*")) else None,
        vertices=columns if columns.num_columns else None,
        schema=schema,
    )
    if not np.array_equal(found.sizes, _int_column(nodes, "persons")):
        raise ReadError("The sizes of super-nodes do not fit their persons; write the release again.")
    return found


def _read_edge_types(table: pa.Table) -> dict[str, npt.NDArray[np.int64]]:
    if EDGE_TYPE not in table.column_names or table[EDGE_TYPE].null_count:
        raise ReadError("The files count relations without a kind; write the release again.")
    rows, texts = _read_counts(table), table[EDGE_TYPE].cast(pa.string())
    masks = {name: pc.equal(texts, name).to_numpy() for name in sorted(pc.unique(texts).to_pylist())}
    return {name: rows[mask] for name, mask in masks.items()}


def _read_noise(table: pa.Table) -> EdgeNoise | SwitchedEdges:
    if SWITCHED in table.column_names:
        return SwitchedEdges(count=int(_int_column(table, SWITCHED)[0]))
    (chances,) = table.select(["removed", "added"]).to_pylist()
    return EdgeNoise(removed=float(chances["removed"]), added=float(chances["added"]))


def _read_counts(table: pa.Table) -> npt.NDArray[np.int64]:
    return np.stack([_int_column(table, name) for name in ("one", "other", "edges")], axis=1)


def _read(folder: Path, name: str) -> pa.Table:
    found = sorted(folder.glob(f"{name}.*"))
    if not found:
        raise ReadError(f"{folder} has no file {name}; give the folder `public` of a release of a network.")
    return read_with_findings(found[0], {}).table


def _int_column(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    if name not in table.column_names or (table.num_rows and not pa.types.is_integer(table[name].type)):
        raise ReadError(f"The files have no whole numbers in a column {name!r}; write the release again.")
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def equal_published(one: PublishedGraph, other: PublishedGraph) -> bool:
    """Return whether two published networks show the same."""
    mine, theirs = _tables(one), _tables(other)
    return list(mine) == list(theirs) and all(_same_cells(mine[name], theirs[name]) for name in mine)


def _same_cells(one: pa.Table, other: pa.Table) -> bool:
    """Compare tables cell by cell: what was read may have other types than what was written."""
    if one.column_names != other.column_names or one.num_rows != other.num_rows:
        return False
    for mine, theirs in zip(one.columns, other.columns, strict=True):
        if all(pa.types.is_integer(each.type) and not each.null_count for each in (mine, theirs)):
            if not np.array_equal(mine.to_numpy(), theirs.to_numpy()):
                return False
        elif mine.to_pylist() != theirs.to_pylist():
            return False
    return True
