"""A network: persons, and who knows whom, as sorted arrays of neighbors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require
from sfumato.errors import SchemaError
from sfumato.graphs._convert import ForeignGraph, from_igraph, from_networkx, to_igraph, to_networkx
from sfumato.graphs._input import AsUndirected, EdgeRows, ParsedEdges, parse_edges
from sfumato.io._dataframes import Frame
from sfumato.io._values import compute_table_digest
from sfumato.schema.schema import Schema

Edges = npt.NDArray[np.int32]


class GraphReadOptions(TypedDict, total=False):
    """The options of `sf.graphs.read`."""

    persons: str | PathLike[str] | None
    key: str | None
    edge_columns: tuple[str, str] | None
    kind: str | None
    weight: str | None
    schema: Schema | None
    directed: bool
    as_undirected: AsUndirected | None
    simplify: bool


@dataclass(frozen=True, kw_only=True)
class EdgeNoise:
    """How edges were changed at random, which is published: the chance to be removed, and that to be added."""

    removed: float
    added: float


@dataclass(frozen=True, kw_only=True)
class SwitchedEdges:
    """How many of the shown edges were switched, which is published; none of these is an original one."""

    count: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Graph:
    """Persons and the undirected edges between them, at most one for each pair.

    Persons are numbered from 0 in the order of `keys`. An edge may be of several kinds. Most promises look at the
    structure only; kinds and weights of edges are kept for the promises, algorithms and measures that use them.

    Parameters
    ----------
    keys : the key of every person, whole numbers or texts.
    edges : the two persons of every edge, the lower number first, in ascending order.
    edge_types : a list of the kinds of every edge, if edges have kinds.
    weights : the weight of every edge, if edges have weights; the sum of those of its kinds.
    vertices : what is known of every person, a row each, if anything is.
    schema : the roles of the columns of `vertices`.
    dropped : how many self-loops, double edges and edges in one direction only were left out because the caller
        asked for it.
    noise : how edges were changed at random, if they were.
    original_degrees : of a published network, how many neighbors everybody had in the original, if that is published.
    alignment : for the owner of a published network only: rows of persons that can take each other's place.

    Examples
    --------
    >>> network = Graph.from_edges([("Ann", "Bob"), ("Bob", "Cem")])
    >>> network
    Network of 3 persons and 2 edges
    >>> network.degrees.tolist()
    [1, 2, 1]
    """

    keys: pa.Array
    edges: Edges
    edge_types: pa.Array | None = None
    weights: npt.NDArray[np.float64] | None = None
    vertices: pa.Table | None = None
    schema: Schema = field(default_factory=Schema)
    dropped: Mapping[str, int] = field(default_factory=dict)
    noise: EdgeNoise | SwitchedEdges | None = None
    original_degrees: npt.NDArray[np.int64] | None = None
    alignment: npt.NDArray[np.int64] | None = None

    @classmethod
    def from_edges(
        cls,
        edges: EdgeRows,
        *,
        persons: Frame | None = None,
        key: str | None = None,
        source: str | None = None,
        target: str | None = None,
        kind: str | None = None,
        weight: str | None = None,
        schema: Schema | None = None,
        directed: bool = False,
        as_undirected: AsUndirected | None = None,
        simplify: bool = False,
    ) -> Self:
        """Make a network of a table or list of edges, and a table of persons if there is one.

        Parameters
        ----------
        edges : a pandas, Polars or Arrow table with a row for each edge, or pairs of keys.
        persons : a table with a row for each person; somebody without edges is known only by it.
        key : the column of `persons` that holds the keys, by default the first.
        source, target : the columns of `edges` that hold the keys of the two persons, by default the first two of those
            that hold nothing else.
        kind, weight : the columns of `edges` that hold the kind and the weight, if they have any; two persons who are
            related in several kinds have a row for each.
        schema : the roles of the other columns of `persons`; columns without a role are never published.
        directed : whether an edge from Ann to Bob says nothing about one from Bob to Ann.
        as_undirected : for directed edges, whether two persons are related if `"either"` names the other, or only if
            `"both"` do; edges for which it is said are directed.
        simplify : whether to leave out self-loops and all but the first of double edges, and count them in `dropped`,
            rather than to refuse them.
        """
        names = {"source": source, "target": target, "kind": kind, "weight": weight}
        found = parse_edges(
            edges,
            names,
            persons=persons,
            key=key,
            directed=directed,
            as_undirected=as_undirected,
            simplify=simplify,
        )
        return cls._from_arrays(found, schema)

    @classmethod
    def from_networkx(
        cls,
        graph: ForeignGraph,
        *,
        kind: str | None = None,
        weight: str | None = None,
        schema: Schema | None = None,
        as_undirected: AsUndirected | None = None,
        simplify: bool = False,
    ) -> Self:
        """Make a network of a NetworkX graph; `kind` and `weight` name attributes of its edges.

        Attributes of its nodes become columns of `persons`; edges of several kinds come from a `MultiGraph`. The other
        parameters are those of `from_edges`.
        """
        found = from_networkx(graph, kind=kind, weight=weight, as_undirected=as_undirected, simplify=simplify)
        return cls._from_arrays(found, schema)

    @classmethod
    def from_igraph(
        cls,
        graph: ForeignGraph,
        *,
        kind: str | None = None,
        weight: str | None = None,
        schema: Schema | None = None,
        as_undirected: AsUndirected | None = None,
        simplify: bool = False,
    ) -> Self:
        """Make a network of an igraph graph, as `from_networkx` does; persons have its names, or else its numbers."""
        found = from_igraph(graph, kind=kind, weight=weight, as_undirected=as_undirected, simplify=simplify)
        return cls._from_arrays(found, schema)

    @staticmethod
    def read(source: str | PathLike[str], **options: Unpack[GraphReadOptions]) -> Graph:
        """Read a network from a file, with the options of `sf.graphs.read`."""
        from sfumato.graphs.io import read

        return read(source, **options)

    @classmethod
    def _from_arrays(cls, found: ParsedEdges, schema: Schema | None) -> Self:
        bare = cls(
            keys=found.keys,
            edges=found.edges,
            edge_types=found.edge_types,
            weights=found.weights,
            vertices=found.vertices,
            dropped=found.dropped,
        )
        return bare.with_schema(Schema() if schema is None else schema)

    def to_networkx(self) -> ForeignGraph:
        """Return the network as a NetworkX graph; needs the extra `networks`. Several kinds are joined by `+`."""
        return to_networkx(self.keys, self.edges, self.vertices, self._edge_columns())

    def to_igraph(self) -> ForeignGraph:
        """Return the network as an igraph graph, whose library you must have installed."""
        return to_igraph(self.keys, self.edges, self.vertices, self._edge_columns())

    @cached_property
    def _adjacency(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        offsets = np.append(0, np.cumsum(np.bincount(ends[:, 0], minlength=len(self))))
        return offsets.astype(np.int64), np.ascontiguousarray(ends[order, 1], dtype=np.int32)

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where the neighbors of each person begin in `neighbors`, and where the last ones end."""
        return self._adjacency[0]

    @property
    def neighbors(self) -> npt.NDArray[np.int32]:
        """The neighbors of all persons, one person after the other, each ascending."""
        return self._adjacency[1]

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """The number of neighbors of every person."""
        return np.diff(self.offsets)

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.edges)

    def __len__(self) -> int:
        return len(self.keys)

    def with_edges(self, edges: npt.NDArray[np.integer]) -> Self:
        """Return the same persons with other edges, which have no kinds or weights."""
        return replace(
            self,
            edges=sort_edges(edges),
            edge_types=None,
            weights=None,
            dropped={},
            noise=None,
            original_degrees=None,
            alignment=None,
        )

    def with_schema(self, schema: Schema) -> Self:
        """Return the same network with these roles of the columns of its persons."""
        require(isinstance(schema, Schema), "Network", "schema", "an sf.Schema", schema)
        if self.vertices is None and schema.attributes:
            raise SchemaError("The schema has roles for columns of persons, and there is no table of persons; give it.")
        schema.check_columns([] if self.vertices is None else self.vertices.column_names)
        return replace(self, schema=schema)

    def digest(self) -> str:
        """Return a digest of keys, edges and persons, by which a recipe knows its original."""
        table = pa.table({"source": self.keys.take(self.edges[:, 0]), "target": self.keys.take(self.edges[:, 1])})
        parts = [compute_table_digest(pa.table({"key": self.keys})), compute_table_digest(table)]
        if self.edge_types is not None:
            listed = {"edge": pc.list_parent_indices(self.edge_types), "kind": self.edge_types.flatten()}
            parts.append(compute_table_digest(pa.table(listed)))
        parts += [] if self.weights is None else [compute_table_digest(pa.table({"weight": self.weights}))]
        parts += [] if self.vertices is None else [compute_table_digest(self.vertices)]
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def _edge_columns(self) -> dict[str, Any]:
        kinds = None if self.edge_types is None else pc.binary_join(self.edge_types, "+")
        columns = {"kind": kinds, "weight": None if self.weights is None else pa.array(self.weights)}
        return {name: column for name, column in columns.items() if column is not None}

    def __repr__(self) -> str:
        return f"Network of {len(self):,} persons and {self.n_edges:,} edges"


def sort_edges(edges: npt.NDArray[np.integer]) -> Edges:
    """Put the lower number first and edges in ascending order.

    >>> sort_edges(np.array([[2, 1], [1, 0]])).tolist()
    [[0, 1], [1, 2]]
    """
    pairs = np.sort(np.asarray(edges, dtype=np.int32).reshape(-1, 2), axis=1)
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
