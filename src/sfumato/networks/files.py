"""The files of a published network, written and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import ReadError
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import EdgeNoise, Network
from sfumato.networks.promise import Published
from sfumato.schema.schema import Schema
from sfumato.table.formats.known import release_format
from sfumato.table.read import load
from sfumato.table.write import write

PERSONS, EDGES, NODES, BETWEEN, NOISE = "persons", "edges", "super_nodes", "between", "noise"
PERSON, NODE = "person", "super_node"
TOLD = {
    PERSONS: "a row for each person: a new number, the super-node if there are any, and what is published of her",
    EDGES: "a row for each relation of two persons",
    NODES: "a row for each super-node: how many persons it has, and how many relations there are inside",
    BETWEEN: "a row for each two super-nodes with relations between them, and how many",
    NOISE: "with which chance a relation was left out, and with which one was made up for two others",
}


def write_published(published: Published, folder: Path, table_format: str) -> None:
    """Write a published network into a folder."""
    suffix = release_format(table_format).suffixes[0]
    for name, table in _tables(published).items():
        write(table, folder / f"{name}{suffix}")


def _tables(published: Published) -> dict[str, pa.Table]:
    persons = {PERSON: published.keys}
    if isinstance(published, Network):
        ends = [published.keys.take(pa.array(published.edges[:, side])) for side in (0, 1)]
        found = {PERSONS: pa.table(persons), EDGES: pa.table({"source": ends[0], "target": ends[1]})}
        noise = published.noise
        told = {} if noise is None else {NOISE: pa.table({"removed": [noise.removed], "added": [noise.added]})}
        return found | told
    persons[NODE] = pa.array(published.cluster)
    for name in () if published.persons is None else published.persons.column_names:
        persons[name] = published.persons[name]  # type: ignore[index]  # there are persons here
    nodes = {NODE: np.arange(len(published.inner)), "persons": published.sizes, "inner": published.inner}
    one, other, edges = published.between.T
    return {
        PERSONS: pa.table(persons),
        NODES: pa.table(nodes),
        BETWEEN: pa.table({"one": one, "other": other, "edges": edges}),
    }


def read_published(folder: Path, schema: Schema | None = None) -> Published:
    """Read a published network back from the folder that holds its files."""
    persons = _read(folder, PERSONS)
    if any(folder.glob(f"{NODES}.*")):
        nodes, between = _read(folder, NODES), _read(folder, BETWEEN)
        columns = persons.drop_columns([PERSON, NODE])
        found = ClusteredNetwork(
            keys=persons[PERSON].combine_chunks(),
            cluster=_ints(persons, NODE),
            inner=_ints(nodes, "inner"),
            between=np.stack([_ints(between, name) for name in ("one", "other", "edges")], axis=1),
            persons=columns if columns.num_columns else None,
            schema=schema or Schema(),
        )
        if not np.array_equal(found.sizes, _ints(nodes, "persons")):
            raise ReadError("The sizes of super-nodes do not fit their persons; write the release again.")
        return found
    network = Network.from_edges(_read(folder, EDGES), persons=persons, key=PERSON, schema=schema)
    if not any(folder.glob(f"{NOISE}.*")):
        return network
    (chances,) = _read(folder, NOISE).select(["removed", "added"]).to_pylist()
    return replace(network, noise=EdgeNoise(removed=float(chances["removed"]), added=float(chances["added"])))


def _read(folder: Path, name: str) -> pa.Table:
    found = sorted(folder.glob(f"{name}.*"))
    if not found:
        raise ReadError(f"{folder} has no file {name}; give the folder `public` of a release of a network.")
    return load(found[0], {}).table


def _ints(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    if name not in table.column_names or (table.num_rows and not pa.types.is_integer(table[name].type)):
        raise ReadError(f"The files have no whole numbers in a column {name!r}; write the release again.")
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def same(one: Published, other: Published) -> bool:
    """Return whether two published networks show the same."""
    if isinstance(one, Network) or isinstance(other, Network):
        both = isinstance(one, Network) and isinstance(other, Network)
        return (
            both
            and one.keys.equals(other.keys)
            and np.array_equal(one.edges, other.edges)  # type: ignore[union-attr]  # both are networks
            and one.noise == other.noise  # type: ignore[union-attr]  # the same
        )
    cells = [{} if each.persons is None else each.persons.to_pydict() for each in (one, other)]
    arrays = [(each.cluster, each.inner, each.between) for each in (one, other)]
    return (
        one.keys.equals(other.keys)
        and all(np.array_equal(mine, theirs) for mine, theirs in zip(*arrays, strict=True))
        and cells[0] == cells[1]
    )
