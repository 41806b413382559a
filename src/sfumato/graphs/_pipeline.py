"""Publish a network that keeps a promise."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, open_progress
from sfumato._randomness import KeyedRandom, check_secret, draw_secret
from sfumato.core._toml import get_table
from sfumato.core.algorithm import Request, usual_search
from sfumato.core.recipe import InputOptions, TypedRecipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, InvalidParameterError, SchemaError
from sfumato.graphs._catalogue import ALGORITHMS, DATA_TYPE
from sfumato.graphs._edge_types import typed_edge_metrics
from sfumato.graphs._release import AnyGraphModel, GraphRelease, as_models, audit
from sfumato.graphs.algorithms._base import GraphAlgorithm, required_k
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.io import NODE, VERTEX
from sfumato.graphs.metrics import compute_metrics
from sfumato.graphs.models._base import PublishedGraph
from sfumato.schema._settings import attribute_to_dict, schema_from_dict
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema

# The roles of the columns of persons, as the `[input]` of a recipe keeps them.

ROLES = ("attributes", "missing")  # entries of the input


def schema_to_options(schema: Schema) -> dict[str, Any]:
    """Return what a schema says of its attributes, if it has any, as plain values.

    >>> schema_to_options(Schema(quasi_identifiers=["age"]))
    {'attributes': {'age': {'role': 'quasi'}}}
    """
    found = {name: attribute_to_dict(schema, name) for name in schema.attributes}
    rule = {} if schema.missing == MissingPolicy.OWN_VALUE else {"missing": str(schema.missing)}
    return {"attributes": found, **rule} if found else {}


def schema_from_options(source: InputOptions) -> Schema:
    """Return the schema that the `[input]` of a recipe describes."""
    return schema_from_dict(get_table(source, "attributes"), source.get("missing", MissingPolicy.OWN_VALUE), None)


def anonymize(
    network: Graph,
    *,
    models: Sequence[AnyGraphModel],
    algorithm: GraphAlgorithm | None = None,
    secret: str | None = None,
    source: InputOptions | None = None,
    progress: Progress | bool = False,
) -> GraphRelease:
    """Publish a network so that it keeps all models.

    Persons get new numbers, drawn at random, and rows of persons and edges are in the order of these. Weights of edges
    are not published, kinds only by `RemoveEdgeType`, and nothing known of persons, unless super-nodes are published:
    these show their quasi-identifiers generalized, and their sensitive attributes unchanged.

    Parameters
    ----------
    network : the original.
    models : what is promised, such as `[sf.graphs.KDegreeAnonymity(k=5)]`; models of tables, such as
        `sf.models.KAnonymity(k=5)`, are about the persons of each super-node.
    algorithm : how to search, such as `sf.graphs.DegreeSequence()`; by default the usual one for the models.
    secret : makes random choices repeatable: 64 hexadecimal digits, by default drawn from the operating system. It is
        kept in the recipe, which must stay private.
    source : how the network was read, which the recipe keeps.
    progress : True shows a bar; a function is told the share of the search that is done.

    Raises
    ------
    InfeasibleError
        If there are too few persons, or nothing was found.
    """
    if not isinstance(network, Graph):
        raise InvalidParameterError("network must be an sf.graphs.Graph; make one with its from_edges.")
    check_secret("anonymize", secret)
    asked = as_models(models)
    search = usual_search(asked, network, ALGORITHMS.values()) if algorithm is None else algorithm
    recipe = TypedRecipe(
        data_type=DATA_TYPE, models=asked, algorithm=search, secret=secret or draw_secret(), input=source or {}
    )
    return run_recipe(recipe, network, progress=progress)


def run_recipe(recipe: TypedRecipe, network: Graph, *, progress: Progress | bool = False) -> GraphRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.graphs.read_recipe`.
    network : the original. If its persons have no roles, the recipe says them.
    progress : as for `anonymize`.
    """
    if not network.schema.attributes:
        network = network.with_schema(schema_from_options(recipe.input))
    asked, algorithm, about = as_models(recipe.models), recipe.algorithm, network.digest()
    if not isinstance(algorithm, GraphAlgorithm):
        raise InvalidParameterError("algorithm must be a search of networks, such as sf.graphs.DegreeSequence().")
    algorithm.check(asked)
    taken = [name for name in (VERTEX, NODE) if name in network.schema.attributes]
    if taken:
        raise SchemaError(f"The published table of persons has a column {taken[0]!r} of its own; rename that of yours.")
    secret = recipe.secret or draw_secret()
    stream = KeyedRandom(secret, "network", about=lambda: about)
    with open_progress(progress, "Searching") as tell:
        request: Request[PublishedGraph] = Request(data=network, models=asked, stream=stream, progress=tell)
        if required_k(request) > len(network):
            raise InfeasibleError(
                f"k is {required_k(request):,}, and the network has {len(network):,} persons; choose a smaller k."
            )
        found = algorithm.search(request)
    if not algorithm.publishes_edge_types:
        found = replace(found, edge_types=None)
    measures = {
        **compute_metrics(network, found),
        **typed_edge_metrics(network, found),
        **algorithm.search_metrics(network, request),
    }
    published, number = relabel_vertices(found, stream)
    judged = audit(published, models=asked)
    if not judged.holds:
        raise GuaranteeViolatedError("The network that was found does not keep the models, so nothing is published.")
    roles, known = (
        schema_to_options(network.schema),
        {"persons": len(network), "edges": network.n_edges, "sha256": about},
    )
    source = {**{name: told for name, told in recipe.input.items() if name not in ROLES}, **known, **roles}
    return GraphRelease(
        published=published,
        audit=judged,
        metrics=measures,
        recipe=TypedRecipe(data_type=DATA_TYPE, models=asked, algorithm=algorithm, secret=secret, input=source),
        internal=_internal_files(network, published, number),
        original=network,
    )


def relabel_vertices(found: PublishedGraph, stream: KeyedRandom) -> tuple[PublishedGraph, npt.NDArray[np.int64]]:
    """Give everybody a new number at random; also return the new number of everybody."""
    order = stream.permutation(len(found))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    keys = pa.array(np.arange(len(found)))
    if isinstance(found, Graph):
        return _relabel_graph(found, number), number
    cluster = found.cluster[order]
    _, place = np.unique(cluster, return_index=True)  # super-nodes are numbered by their first persons
    rank = np.empty(len(place), dtype=np.int64)
    rank[np.argsort(place)] = np.arange(len(place))
    inner = np.empty_like(found.inner)
    inner[rank] = found.inner
    shown = ClusteredGraph(
        keys=keys,
        cluster=rank[cluster],
        inner=inner,
        between=_relabel_super_nodes(found.between, rank),
        edge_types=None
        if found.edge_types is None
        else {name: _relabel_super_nodes(rows, rank) for name, rows in found.edge_types.items()},
        vertices=None if found.vertices is None else found.vertices.take(pa.array(order)),
        schema=found.schema,
    )
    return shown, number


def _relabel_graph(found: Graph, number: npt.NDArray[np.int64]) -> Graph:
    ends = np.sort(number[found.edges], axis=1).reshape(-1, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    degrees = found.original_degrees
    return Graph(
        keys=pa.array(np.arange(len(found))),
        edges=sort_edges(ends),
        edge_types=None if found.edge_types is None else found.edge_types.take(pa.array(order)),
        noise=found.noise,
        original_degrees=None if degrees is None else degrees[np.argsort(number)],
        alignment=None if found.alignment is None else number[found.alignment],
    )


def _relabel_super_nodes(rows: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give super-nodes of counted rows their new numbers."""
    moved = np.concatenate([np.sort(rank[rows[:, :2]], axis=1), rows[:, 2:]], axis=1)
    return np.asarray(moved[np.lexsort((moved[:, 1], moved[:, 0]))])


def _internal_files(network: Graph, published: PublishedGraph, number: npt.NDArray[np.int64]) -> dict[str, str]:
    """Return who is who, and the rows of persons who can take each other's place."""
    rows = zip(network.keys.to_pylist(), number.tolist(), strict=False)  # added persons have no original key
    kept = {"correspondence.csv": _to_csv([("original", "published"), *rows])}
    if isinstance(published, Graph) and published.alignment is not None:
        kept["alignment.csv"] = _to_csv(published.alignment.tolist())
    return kept


def _to_csv(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
