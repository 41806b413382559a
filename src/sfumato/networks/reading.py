"""Read a network from files: edge lists as SNAP has them, tables of edges and persons, GraphML, a released folder."""

from __future__ import annotations

import gzip
import os
import re
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.exceptions import ReadError, ReadWarning
from sfumato.networks.edge_tables import PAIR, AsUndirected
from sfumato.networks.network import Network
from sfumato.schema.schema import Schema
from sfumato.table.extras import optional_library
from sfumato.table.read import load, refuse_unreadable
from sfumato.validation import require

LISTS = (".txt", ".edges", ".edgelist", ".txt.gz")
GRAPHML = ".graphml"


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
) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    source : a file of edges. In `.txt`, `.edges` and `.edgelist`, each line has the keys of two persons, with blanks
        between them, and lines that begin with `#` are left out, as in the files of SNAP. `.graphml` needs the extra
        `networks`. Any other file is a table of edges, as `sf.read` reads it.
    persons : a file with a table of persons, as `sf.read` reads it.
    key : the column of persons that holds the keys, by default the first.
    edge_columns : the columns of a table of edges that hold the keys of the two persons, by default the first two.
    kind, weight : the columns of a table of edges, or the attributes in GraphML, that hold kinds and weights.
    schema, directed, as_undirected, simplify : as for `Network.from_edges`.
    """
    path = Path(source)
    refuse_unreadable(path)
    first, second = _two_columns(edge_columns)
    if path.name.endswith(GRAPHML):
        if persons is not None or edge_columns is not None:
            raise ReadError("GraphML holds persons and edges itself; leave out the table of persons and columns.")
        graph = _graphml(path)
        return Network.from_networkx(
            graph, kind=kind, weight=weight, schema=schema, as_undirected=as_undirected, simplify=simplify
        )
    edges = edge_list(path) if path.name.endswith(LISTS) else told_table(path)
    return Network.from_edges(
        edges,
        persons=None if persons is None else told_table(Path(persons)),
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
    good = isinstance(names, tuple | list) and len(names) == PAIR and all(isinstance(name, str) for name in names)
    require(good, "read", "edge_columns", "the names of two columns", names)
    return names


def told_table(path: Path) -> pa.Table:
    """Read a table, and say what its owner should know of it."""
    loaded = load(path, {})
    for remark in loaded.remarks:
        warnings.warn(remark, ReadWarning, stacklevel=3)
    return loaded.table


def edge_list(path: Path) -> pa.Table:
    """Read lines of two keys."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    except (OSError, EOFError) as error:
        raise ReadError(f"{path} cannot be read ({type(error).__name__}); give a file of edges.") from None
    text = re.sub(rb"(?m)^[ \t]*(#.*)?\r?$\n?", b"", raw.removeprefix(b"\xef\xbb\xbf"))
    text = re.sub(rb"(?m)^[ \t]+|[ \t\r]+$", b"", text)
    text = re.sub(rb"[ \t]+", b" ", text)
    if not text.strip():
        return pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    try:
        found = pa.csv.read_csv(
            pa.BufferReader(text),
            read_options=pa.csv.ReadOptions(column_names=["source", "target"]),
            parse_options=pa.csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=pa.csv.ConvertOptions(strings_can_be_null=False, null_values=[]),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise ReadError(
            f"{path} has lines that are not the keys of two persons; read other columns from a table with a header."
        ) from None
    if not all(pa.types.is_integer(column.type) for column in found.columns):
        texts = [column.cast(pa.string()) for column in found.columns]
        found = pa.table(dict(zip(found.column_names, texts, strict=True)))
    return found


def _graphml(path: Path) -> Any:
    networkx = optional_library("networkx", extra="networks", error=ReadError)
    try:
        return networkx.read_graphml(path)
    except Exception as error:  # noqa: BLE001 - what a parser says of a failure may quote cells
        raise ReadError(f"{path} is no GraphML ({type(error).__name__}); export it again.") from None
