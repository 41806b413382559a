"""What a published network has lost: changed edges, and how far its structure is from the original's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.neighborhoods import inner_degrees
from sfumato.coding.kernels.refining import distances_from
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network
from sfumato.networks.promise import Published
from sfumato.randomness import generator

SOURCES = 200  # persons from whom paths are measured
SAMPLES = 5  # graphs that stand for super-nodes
EIGENVALUES = 10


def measured(original: Network, published: Published) -> dict[str, float]:
    """Measure what was lost; persons have the same numbers in both, and those of the original come first."""
    if isinstance(published, ClusteredNetwork):
        inner, between = published.beliefs()
        drawn = [structure(published.sample(seed=seed)) for seed in range(SAMPLES)]
        after = {name: float(np.mean([each[name] for each in drawn])) for name in drawn[0]}
        degrees = np.mean([_degree_distance(original, published.sample(seed=seed)) for seed in range(SAMPLES)])
        told: dict[str, float] = {
            "edges-generalized": published.size,
            "super-nodes": len(published.inner),
            "cliques": int((inner[published.sizes > 1] == 1).sum()),
            "largest-belief": max(float(inner.max(initial=0)), float(between.max(initial=0))),
            "structural-loss": published.structural_loss(),
            "log-graphs": published.log_graphs(),
            "degree-distance": float(degrees),
        }
    else:
        after = structure(published)
        told = {**_changed(original, published), "degree-distance": _degree_distance(original, published)}
    return told | _beside(structure(original), after)


def _changed(original: Network, published: Network) -> dict[str, float]:
    persons = max(len(original), len(published))
    before, after = (each.edges[:, 0].astype(np.int64) * persons + each.edges[:, 1] for each in (original, published))
    kept = len(np.intersect1d(before, after, assume_unique=True))
    added = len(published) - len(original)
    return {
        "edges-added": len(after) - kept,
        "edges-removed": len(before) - kept,
        "edges-kept": kept,
        **({"persons-added": added} if added else {}),
    }


def _degree_distance(original: Network, published: Network) -> float:
    """Return the earth mover's distance of the two distributions of degrees, in neighbors per person."""
    most = int(max(original.degrees.max(), published.degrees.max()))
    shares = [np.bincount(each.degrees, minlength=most + 1) / len(each) for each in (original, published)]
    return float(np.abs(np.cumsum(shares[0] - shares[1])).sum())


def structure(network: Network) -> dict[str, float]:
    """Return figures of the structure: clustering, paths, and the largest eigenvalue.

    Paths are measured from 200 persons, or from all if there are fewer; somebody out of reach does not count.
    """
    return {
        "clustering": clustering(network),
        "path-length": _path_length(network),
        "largest-eigenvalue": float(eigenvalues(network)[0]),
    }


def _beside(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}-{when}": each[name] for name in before for when, each in (("before", before), ("after", after))}


def clustering(network: Network) -> float:
    """Return the mean share of a person's pairs of neighbors who know each other; 0 for fewer than two neighbors."""
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    inner_degrees(network.offsets, network.neighbors, np.zeros(len(network), dtype=np.int64), 1, rows)
    sums = np.append(0, np.cumsum(rows))
    degrees = network.degrees
    pairs = degrees * (degrees - 1)
    closed = sums[network.offsets[1:]] - sums[network.offsets[:-1]]
    return float((closed / np.maximum(pairs, 1)).mean())


def _path_length(network: Network) -> float:
    rng, found = generator(0), np.empty(len(network), dtype=np.int64)
    sources = rng.choice(len(network), min(SOURCES, len(network)), replace=False)
    total = count = 0
    for source in sources.tolist():
        distances_from(network.offsets, network.neighbors, source, found)
        total += int(found[found > 0].sum())
        count += int((found > 0).sum())
    return total / max(count, 1)


def eigenvalues(network: Network) -> npt.NDArray[np.float64]:
    """Return the largest eigenvalues of the adjacency matrix, at most 10, descending."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    size = len(network)
    ones = np.ones(len(network.neighbors))
    matrix = csr_array((ones, network.neighbors, network.offsets), shape=(size, size))
    if size <= 2 * EIGENVALUES or not network.size:
        return np.asarray(np.linalg.eigvalsh(matrix.toarray())[::-1][:EIGENVALUES], dtype=np.float64)
    found = eigsh(matrix, EIGENVALUES, which="LA", v0=np.ones(size), return_eigenvectors=False)
    return np.sort(np.asarray(found, dtype=np.float64))[::-1]
