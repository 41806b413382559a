"""Read a network from files: edge lists as SNAP has them, tables of edges and persons, GraphML, GML, a release."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.exceptions import ReadError, ReadWarning
from sfumato.networks.edge_tables import PAIR, AsUndirected
from sfumato.networks.network import Graph
from sfumato.schema.schema import Schema
from sfumato.table.extras import import_optional
from sfumato.table.formats.encoding import read_unpacked
from sfumato.table.read import check_readable_file, read_with_findings
from sfumato.validation import require

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
