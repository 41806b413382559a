"""From tables and lists of edges to numbered persons, with what is refused in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require, suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow

AsUndirected: TypeAlias = Literal["either", "both"]
EdgeRows: TypeAlias = Any  # a table of any library with a row for each edge, or pairs of keys
MAX_VERTICES = 2**31 - 1
PAIR = 2
ROW = (tuple, list, np.ndarray)


@dataclass(frozen=True, kw_only=True, eq=False)
class ParsedEdges:
    """What a network is made of: keys, numbered edges with a list of kinds each, and what was left out."""

    keys: pa.Array
    edges: npt.NDArray[np.int32]
    edge_types: pa.Array | None = None
    weights: npt.NDArray[np.float64] | None = None
    vertices: pa.Table | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


def parse_edges(
    edges: EdgeRows,
    names: Mapping[str, str | None],
    *,
    persons: Frame | None = None,
    key: str | None = None,
    directed: bool = False,
    as_undirected: AsUndirected | None = None,
    simplify: bool = False,
) -> ParsedEdges:
    """Read edges and persons; the parameters are those of `Network.from_edges`."""
    for what, name in (*names.items(), ("key", key)):
        require(name is None or isinstance(name, str), "from_edges", what, "the name of a column", name)
    if key is not None and persons is None:
        raise SchemaError("The column of keys is one of a table of persons, and there is none; give it, or no key.")
    table = _edge_table(edges)
    columns = _edge_columns(table, names)
    ends = [columns["source"], columns["target"]]
    for which, column in zip(("source", "target"), ends, strict=True):
        if column.null_count:
            raise SchemaError(f"{column.null_count:,} edges have no {which}; remove them, or name the persons.")
    about = None if persons is None else to_arrow(persons)[0]
    keys, rest = _vertex_keys(about, key, ends)
    numbers = _encode_ends(keys, ends)
    return encode_edges(
        keys,
        numbers,
        kinds=columns.get("kind"),
        weights=columns.get("weight"),
        persons=rest,
        directed=directed or as_undirected is not None,
        as_undirected=as_undirected,
        simplify=simplify,
    )


def encode_edges(
    keys: pa.Array,
    numbers: npt.NDArray[np.int64],
    *,
    kinds: pa.Array | None = None,
    weights: pa.Array | None = None,
    persons: pa.Table | None = None,
    directed: bool = False,
    as_undirected: AsUndirected | None = None,
    simplify: bool = False,
) -> ParsedEdges:
    """Make edges of pairs of numbers simple and undirected, or refuse them."""
    good = as_undirected in {None, "either", "both"}
    require(good, "from_edges", "as_undirected", '"either" or "both"', as_undirected)
    if not len(keys):
        raise SchemaError("The network has no persons; there is nothing to publish.")
    repeated = len(keys) - len(pc.unique(keys))
    if repeated:
        raise SchemaError(f"{repeated:,} persons have the key of another one; give every person her own.")
    if directed and as_undirected is None:
        raise SchemaError(
            'The network is directed; say as_undirected="either" to relate two persons if one names the other, and '
            '"both" if both must.'
        )
    texts = None if kinds is None else _edge_types(kinds)
    rows, dropped = _simplify(numbers, texts, len(keys), as_undirected if directed else None, simplify=simplify)
    pairs = np.sort(numbers[rows], axis=1).astype(np.int32)
    starts = np.flatnonzero(np.append(True, (pairs[1:] != pairs[:-1]).any(axis=1))[: len(pairs)])
    return ParsedEdges(
        keys=keys,
        edges=pairs[starts],
        edge_types=None if texts is None else group_edge_types(starts, texts.take(pa.array(rows))),
        weights=None if weights is None else _sums(_weights(weights)[rows], starts),
        vertices=persons,
        dropped=dropped,
    )


def group_edge_types(starts: npt.NDArray[np.integer], kinds: pa.Array) -> pa.Array:
    """Make a list of the kinds of every edge; each begins where the one before ends."""
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(kinds)), pa.int32()), kinds)


def _edge_table(edges: EdgeRows) -> pa.Table:
    if isinstance(edges, np.ndarray | list | tuple):
        return _pairs_table(edges)
    table = to_arrow(edges)[0]
    if table.num_columns < PAIR:
        raise SchemaError("A table of edges must have two columns with the keys of the two persons.")
    return table


def _pairs_table(edges: Any) -> pa.Table:
    """Make a table of pairs of keys."""
    if isinstance(edges, np.ndarray) and edges.ndim == PAIR and edges.shape[1] == PAIR and len(edges):
        sides: list[Any] = [edges[:, side] for side in range(PAIR)]
    elif np.ndim(edges) == 0 or any(not isinstance(pair, ROW) or len(pair) != PAIR for pair in edges):
        raise SchemaError("Every edge must be a pair of keys; name kinds and weights in a table of edges.")
    else:
        sides = [[pair[side] for pair in edges] for side in range(PAIR)]
    try:
        columns = [pa.array(side, pa.int64() if not len(edges) else None) for side in sides]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise SchemaError("Keys must be all whole numbers or all texts; make texts of all of them.") from None
    return pa.table(dict(zip(("source", "target"), columns, strict=True)))


def _edge_columns(table: pa.Table, names: Mapping[str, str | None]) -> dict[str, pa.Array]:
    """Return the columns of the edges by what they hold."""
    wanted = {what: name for what, name in names.items() if name is not None}
    for name in wanted.values():
        if name not in table.column_names:
            hint = suggest_closest(name, table.column_names) or "; name one of its columns."
            raise SchemaError(f"The edges have no column {name!r}{hint}")
    rest = [name for name in table.column_names if name not in wanted.values()]
    lacking = [what for what in ("source", "target") if what not in wanted]
    if len(rest) < len(lacking) or len(set(wanted.values())) < len(wanted):
        raise SchemaError("The keys of both persons, the kind and the weight of an edge must be in different columns.")
    return {
        what: _plain_array(table[name]) for what, name in {**wanted, **dict(zip(lacking, rest, strict=False))}.items()
    }


def _plain_array(column: pa.ChunkedArray) -> pa.Array:
    cells = column.combine_chunks()
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _vertex_keys(persons: pa.Table | None, key: str | None, ends: list[pa.Array]) -> tuple[pa.Array, pa.Table | None]:
    """Return the keys of all persons and the rest of their table."""
    for end in ends:
        _check_keys(end)
    if persons is None:
        kinds = {pa.types.is_integer(end.type) for end in ends}
        joined = pa.concat_arrays([end.cast(pa.string() if len(kinds) > 1 else ends[0].type) for end in ends])
        unique = pc.unique(joined)
        return _check_keys(unique.take(pc.array_sort_indices(unique))), None
    if not persons.num_columns:
        raise SchemaError("The table of persons has no columns; give it one with their keys.")
    name = persons.column_names[0] if key is None else key
    if name not in persons.column_names:
        hint = suggest_closest(name, persons.column_names) or "; name the column of the keys."
        raise SchemaError(f"The table of persons has no column {name!r}{hint}")
    keys = _plain_array(persons[name])
    if keys.null_count:
        raise SchemaError(f"{keys.null_count:,} persons have no key; give every person one.")
    rest = persons.drop_columns([name])
    return _check_keys(keys), rest if rest.num_columns else None


def _check_keys(keys: pa.Array) -> pa.Array:
    if pa.types.is_integer(keys.type):
        try:
            return keys.cast(pa.int64())
        except pa.ArrowInvalid:
            raise SchemaError("Keys of persons are whole numbers of more than 63 bits; make texts of them.") from None
    if pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type):
        return keys.cast(pa.string())
    if len(keys) == 0:
        return keys.cast(pa.int64())
    raise SchemaError("Keys of persons must be whole numbers or texts; make texts of them.")


def _encode_ends(keys: pa.Array, ends: list[pa.Array]) -> npt.NDArray[np.int64]:
    """Return the numbers of both ends of all edges, or refuse persons who are not known."""
    found = []
    for end in ends:
        try:
            found.append(pc.index_in(end.cast(keys.type), keys))
        except pa.ArrowInvalid:
            raise SchemaError("Edges and persons have keys of different types; make texts of all of them.") from None
    unknown = pc.or_(pc.is_null(found[0]), pc.is_null(found[1]))
    count = pc.sum(unknown.cast(pa.int64())).as_py() or 0
    if count:
        raise SchemaError(f"{count:,} edges name persons who are not in the table of persons; add or remove them.")
    return np.stack([each.to_numpy(zero_copy_only=False).astype(np.int64) for each in found], axis=1)


def _simplify(
    numbers: npt.NDArray[np.int64],
    kinds: pa.Array | None,
    persons: int,
    directed: AsUndirected | None,
    *,
    simplify: bool,
) -> tuple[npt.NDArray[np.int64], dict[str, int]]:
    """Return which rows stay, ascending by their persons and kinds, and what was left out."""
    loops = numbers[:, 0] == numbers[:, 1]
    count = int(loops.sum())
    if count and not simplify:
        raise SchemaError(f"The network has {count:,} self-loops; say simplify=True or --simplify to leave them out.")
    rows = np.flatnonzero(~loops)
    low, high = numbers[rows].min(axis=1, initial=persons), numbers[rows].max(axis=1, initial=-1)
    _, pair = np.unique(low * persons + high, return_inverse=True)
    rank = np.zeros(len(numbers), dtype=np.int64) if kinds is None else _rank_edge_types(kinds)
    relation = pair.reshape(-1) * (int(rank.max(initial=0)) + 1) + rank[rows]  # of one kind
    ways = 2 * relation + (numbers[rows, 0] == low) if directed else relation
    _, first = np.unique(ways, return_index=True)
    doubled = len(rows) - len(first)
    if doubled and not simplify:
        raise SchemaError(
            f"The network has {doubled:,} double edges; say simplify=True or --simplify to leave them out."
        )
    _, starts, ends = np.unique(relation[first], return_index=True, return_counts=True)
    keep = starts if directed != "both" else starts[ends == PAIR]
    dropped = {"self-loops": count, "double edges": doubled}
    if directed == "both":
        dropped["edges in one direction"] = int((ends == 1).sum())
    return rows[first[keep]], {name: number for name, number in dropped.items() if number}


def _edge_types(kinds: pa.Array) -> pa.Array:
    try:
        return kinds.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError("Kinds of edges must be texts; leave the column out, or mend it.") from None


def _rank_edge_types(kinds: pa.Array) -> npt.NDArray[np.int64]:
    """Return the places of kinds in the order of their texts, a missing one last."""
    ranks = pc.rank(kinds, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(zero_copy_only=False), dtype=np.int64)


def _sums(numbers: npt.NDArray[np.float64], starts: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    return np.add.reduceat(numbers, starts) if len(starts) else numbers


def _weights(weights: pa.Array) -> npt.NDArray[np.float64]:
    try:
        numbers = weights.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        numbers = np.array([np.nan])
    wrong = int((~np.isfinite(numbers)).sum())
    if wrong:
        raise SchemaError("Weights of edges must be numbers; leave the column out, or mend it.")
    return np.asarray(numbers, dtype=np.float64)
