"""The files of a published network, written and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.exceptions import ReadError
from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.network import EdgeNoise, Graph, SwitchedEdges
from sfumato.networks.promise import PublishedGraph
from sfumato.schema.schema import Schema
from sfumato.table.formats.known import resolve_release_format
from sfumato.table.read import read_with_findings
from sfumato.table.write import write

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
