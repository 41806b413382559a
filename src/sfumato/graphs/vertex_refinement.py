"""Who looks alike in a network to somebody who knows the structure around a person."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from sfumato.encoding.coded_table import encode_column
from sfumato.errors import InvalidParameterError
from sfumato.graphs._kernels.isomorphism import SAME, are_isomorphic, neighborhood_degrees, neighborhood_graph
from sfumato.graphs._kernels.vertex_refinement import (
    PATTERNS,
    bfs_distances,
    gather_neighbor_colors,
    hash_rows,
    label_equal_rows,
    match_subgraph_patterns,
)
from sfumato.graphs.graph import Graph

Labels = npt.NDArray[np.int64]
KNOWN = "H1 to H5, stable, neighborhood, hubs-1 to hubs-99, or subgraph-1 to subgraph-3"
ALL_BITS = (1 << 64) - 1
STEPS = 100_000  # of the search for a map of two neighborhoods


def candidate_set_sizes(network: Graph, *, knowledge: str = "H1") -> Labels:
    """Count for every person how many persons, herself included, look like her to an adversary.

    Parameters
    ----------
    network : the network that the adversary sees.
    knowledge : what she knows of a target in it. `"H1"` is the number of her neighbors, `"H2"` the numbers of
        neighbors of all of them, and so on to `"H5"` [1]_; `"stable"` is refined until no class splits any more.
        `"hubs-3"` are the distances to the 3 persons with the most neighbors, and all who tie with the last.
        `"neighborhood"` is the graph of her neighbors [2]_, with the quasi-identifiers of these if they are published.
        `"subgraph-3"` are any three edges or fewer that hang together around her: candidates are all around whom such
        edges are found, too, and those of the subgraph that fewest persons have count.

    References
    ----------
    .. [1] Hay, Miklau, Jensen, Towsley, Weis, "Resisting structural re-identification in anonymized social networks",
       VLDB 2008. https://doi.org/10.14778/1453856.1453873
    .. [2] Zhou, Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497459

    Examples
    --------
    >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
    >>> candidate_set_sizes(star, knowledge="H1").tolist()
    [1, 3, 3, 3]
    """
    found = check_knowledge(knowledge)
    if found[7]:
        return _subgraph_candidates(network, int(found[8]))
    labels = structural_equivalence_classes(network, knowledge)
    return np.bincount(labels)[labels]


def _subgraph_candidates(network: Graph, edges: int) -> Labels:
    """Count for every person who has the rarest of her subgraphs of at most so many edges."""
    around = _subgraph_patterns(network, edges)
    fewest: Labels = np.where(around, around.sum(axis=0), len(network)).min(axis=1).astype(np.int64)
    return fewest


def _subgraph_patterns(network: Graph, edges: int) -> npt.NDArray[np.bool_]:
    """Return for everybody which subgraphs of at most so many edges are around her."""
    around = np.zeros((len(network), len(PATTERNS)), dtype=np.bool_)
    match_subgraph_patterns(network.offsets, network.neighbors, around)
    return around[:, edges >= PATTERNS]


def structural_equivalence_classes(network: Graph, knowledge: str) -> Labels:
    """Give classes of persons who look alike by this knowledge a number."""
    found = check_knowledge(knowledge)
    if found[7]:
        return np.unique(_subgraph_patterns(network, int(found[8])), axis=0, return_inverse=True)[1].reshape(-1)
    if found[4]:
        return _neighborhood_classes(network)
    if found[5]:
        return _hub_distance_classes(network, int(found[6]))
    return refine_vertices(network, int(found[2]) if found[1] else len(network))


def check_knowledge(knowledge: str) -> re.Match[str]:
    """Refuse what is no knowledge of a network."""
    found = re.fullmatch(r"(H)([1-5])|(stable)|(neighborhood)|(hubs)-([1-9]\d?)|(subgraph)-([1-3])", str(knowledge))
    if found is None:
        raise InvalidParameterError(f"knowledge must be one of {KNOWN}.")
    return found


def refine_vertices(network: Graph, rounds: int, *, mask: int = ALL_BITS) -> Labels:
    """Refine classes by the classes of neighbors, at most so many times; `mask` makes hashes collide in tests."""
    labels, count = np.zeros(len(network), dtype=np.int64), 1
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    for _ in range(rounds):
        gather_neighbor_colors(network.offsets, network.neighbors, labels, rows)
        before, (labels, count) = count, _classes_of_rows(network.offsets, rows, mask)
        if count == before:
            break
    return labels


def _classes_of_rows(offsets: npt.NDArray[np.int64], rows: Labels, mask: int = ALL_BITS) -> tuple[Labels, int]:
    hashes = hash_rows(offsets, rows, np.uint64(mask))
    labels = np.empty(len(hashes), dtype=np.int64)
    return labels, label_equal_rows(offsets, rows, hashes, np.argsort(hashes, kind="stable"), labels)


def _hub_distance_classes(network: Graph, hubs: int) -> Labels:
    degrees = network.degrees
    least = np.sort(degrees)[-min(hubs, len(degrees))]
    found = np.empty((len(np.flatnonzero(degrees >= least)), len(network)), dtype=np.int64)
    for row, hub in zip(found, np.flatnonzero(degrees >= least).tolist(), strict=True):
        bfs_distances(network.offsets, network.neighbors, hub, row)
    return np.unique(found, axis=1, return_inverse=True)[1].reshape(-1)


def encode_labels(network: Graph) -> npt.NDArray[np.int64]:
    """Give combinations of published quasi-identifiers a number; all have the same where there are none."""
    columns = [] if network.vertices is None else list(network.schema.quasi_identifiers)
    codes = [encode_column(name, network.vertices[name], network.schema).codes for name in columns]  # type: ignore[index]  # there are columns
    if not codes:
        return np.zeros(len(network), dtype=np.int64)
    stacked = np.stack([each.astype(np.int64) for each in codes])
    return np.unique(stacked, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _neighborhood_classes(network: Graph) -> Labels:
    """Group by the degrees inside neighborhoods, then compare those that agree in full with one of each kind."""
    offsets, neighbors, shown = network.offsets, network.neighbors, encode_labels(network)
    rows = np.empty(len(neighbors), dtype=np.int64)
    neighborhood_degrees(offsets, neighbors, shown, int(shown.max()) + 1, rows)
    labels, count = _classes_of_rows(offsets, rows)
    places = np.full(len(network), -1, dtype=np.int32)
    order = np.argsort(labels, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        kinds: list[tuple[int, tuple[npt.NDArray[np.int64], ...], Labels]] = []
        for person in members.tolist() if len(members) > 1 else ():
            graph = neighborhood_graph(offsets, neighbors, person, places)
            mine = shown[neighbors[offsets[person] : offsets[person + 1]]]
            like = next((each for each in kinds if are_isomorphic(each[1], graph, each[2], mine, STEPS) == SAME), None)
            if like is None:
                kinds.append((labels[person] if not kinds else count, graph, mine))
                count += bool(len(kinds) > 1)
                like = kinds[-1]
            labels[person] = like[0]
    return labels
