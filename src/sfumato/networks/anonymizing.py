"""Publish a network that keeps a promise."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.progress import Progress, followed
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, InvalidParameterError, SchemaError
from sfumato.kinds.recipe import KindRecipe, Source
from sfumato.kinds.search import KindRequest, usual_search
from sfumato.networks.auditing import Promised, audit, promises
from sfumato.networks.catalogue import ALGORITHMS, KIND
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.files import NODE, PERSON
from sfumato.networks.measures import measured
from sfumato.networks.network import Network, sorted_edges
from sfumato.networks.promise import Published
from sfumato.networks.relations import relations_lost
from sfumato.networks.release import NetworkRelease
from sfumato.networks.roles import ROLES, roles_in, written_roles
from sfumato.networks.search import NetworkSearch, asked_k
from sfumato.randomness import Stream, check_secret, draw_secret


def anonymize(
    network: Network,
    *,
    models: Sequence[Promised],
    algorithm: NetworkSearch | None = None,
    secret: str | None = None,
    source: Source | None = None,
    progress: Progress | bool = False,
) -> NetworkRelease:
    """Publish a network so that it keeps all models.

    Persons get new numbers, drawn at random, and rows of persons and edges are in the order of these. Weights of edges
    are not published, kinds only by `KindRemoval`, and nothing known of persons, unless super-nodes are published:
    these show their quasi-identifiers generalized, and their sensitive attributes unchanged.

    Parameters
    ----------
    network : the original.
    models : what is promised, such as `[sf.networks.KDegree(k=5)]`; models of tables, such as `sf.KAnonymity(k=5)`, are
        about the persons of each super-node.
    algorithm : how to search, such as `sf.networks.DegreeSequence()`; by default the usual one for the models.
    secret : makes random choices repeatable: 64 hexadecimal digits, by default drawn from the operating system. It is
        kept in the recipe, which must stay private.
    source : how the network was read, which the recipe keeps.
    progress : True shows a bar; a function is told the share of the search that is done.

    Raises
    ------
    InfeasibleError
        If there are too few persons, or nothing was found.
    """
    if not isinstance(network, Network):
        raise InvalidParameterError("network must be an sf.networks.Network; make one with its from_edges.")
    check_secret("anonymize", secret)
    asked = promises(models)
    search = usual_search(asked, network, ALGORITHMS.values()) if algorithm is None else algorithm
    recipe = KindRecipe(kind=KIND, models=asked, algorithm=search, secret=secret or draw_secret(), source=source or {})
    return carry_out(recipe, network, progress=progress)


def carry_out(recipe: KindRecipe, network: Network, *, progress: Progress | bool = False) -> NetworkRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.networks.read_recipe`.
    network : the original. If its persons have no roles, the recipe says them.
    progress : as for `anonymize`.
    """
    if not network.schema.attributes:
        network = network.with_roles(roles_in(recipe.source))
    asked, algorithm, about = promises(recipe.models), recipe.algorithm, network.fingerprint()
    if not isinstance(algorithm, NetworkSearch):
        raise InvalidParameterError("algorithm must be a search of networks, such as sf.networks.DegreeSequence().")
    algorithm.check(asked)
    taken = [name for name in (PERSON, NODE) if name in network.schema.attributes]
    if taken:
        raise SchemaError(f"The published table of persons has a column {taken[0]!r} of its own; rename that of yours.")
    secret = recipe.secret or draw_secret()
    stream = Stream(secret, "network", about=lambda: about)
    with followed(progress, "Searching") as tell:
        request: KindRequest[Published] = KindRequest(data=network, models=asked, stream=stream, progress=tell)
        if asked_k(request) > len(network):
            raise InfeasibleError(
                f"k is {asked_k(request):,}, and the network has {len(network):,} persons; choose a smaller k."
            )
        found = algorithm.find(request)
    if not algorithm.shows_kinds:
        found = replace(found, kinds=None)
    measures = {**measured(network, found), **relations_lost(network, found), **algorithm.told(network, request)}
    published, number = renumbered(found, stream)
    judged = audit(published, models=asked)
    if not judged.holds:
        raise BrokenPromiseError("The network that was found does not keep the models, so nothing is published.")
    roles, known = written_roles(network.schema), {"persons": len(network), "edges": network.size, "sha256": about}
    source = {**{name: told for name, told in recipe.source.items() if name not in ROLES}, **known, **roles}
    return NetworkRelease(
        published=published,
        audit=judged,
        measures=measures,
        recipe=KindRecipe(kind=KIND, models=asked, algorithm=algorithm, secret=secret, source=source),
        internal=_kept_inside(network, published, number),
        original=network,
    )


def renumbered(found: Published, stream: Stream) -> tuple[Published, npt.NDArray[np.int64]]:
    """Give everybody a new number at random; also return the new number of everybody."""
    order = stream.permutation(len(found))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    keys = pa.array(np.arange(len(found)))
    if isinstance(found, Network):
        return _renumbered_graph(found, number), number
    cluster = found.cluster[order]
    _, place = np.unique(cluster, return_index=True)  # super-nodes are numbered by their first persons
    rank = np.empty(len(place), dtype=np.int64)
    rank[np.argsort(place)] = np.arange(len(place))
    inner = np.empty_like(found.inner)
    inner[rank] = found.inner
    shown = ClusteredNetwork(
        keys=keys,
        cluster=rank[cluster],
        inner=inner,
        between=_moved(found.between, rank),
        kinds=None if found.kinds is None else {name: _moved(rows, rank) for name, rows in found.kinds.items()},
        persons=None if found.persons is None else found.persons.take(pa.array(order)),
        schema=found.schema,
    )
    return shown, number


def _renumbered_graph(found: Network, number: npt.NDArray[np.int64]) -> Network:
    ends = np.sort(number[found.edges], axis=1).reshape(-1, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    degrees = found.original_degrees
    return Network(
        keys=pa.array(np.arange(len(found))),
        edges=sorted_edges(ends),
        kinds=None if found.kinds is None else found.kinds.take(pa.array(order)),
        noise=found.noise,
        original_degrees=None if degrees is None else degrees[np.argsort(number)],
        alignment=None if found.alignment is None else number[found.alignment],
    )


def _moved(rows: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give super-nodes of counted rows their new numbers."""
    moved = np.concatenate([np.sort(rank[rows[:, :2]], axis=1), rows[:, 2:]], axis=1)
    return np.asarray(moved[np.lexsort((moved[:, 1], moved[:, 0]))])


def _kept_inside(network: Network, published: Published, number: npt.NDArray[np.int64]) -> dict[str, str]:
    """Return who is who, and the rows of persons who can take each other's place."""
    rows = zip(network.keys.to_pylist(), number.tolist(), strict=False)  # added persons have no original key
    kept = {"correspondence.csv": _written([("original", "published"), *rows])}
    if isinstance(published, Network) and published.alignment is not None:
        kept["alignment.csv"] = _written(published.alignment.tolist())
    return kept


def _written(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
