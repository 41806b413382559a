"""Communities of a network, and how many of them a published network keeps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.community_moving import louvain_pass
from sfumato.networks.network import Graph
from sfumato.randomness import seeded_generator

Labels = npt.NDArray[np.int64]


def louvain_communities(network: Graph, *, seed: int = 0) -> Labels:
    """Give every person the number of her community, by the method of Louvain [1]_.

    Persons, in an order drawn by the seed, move to the neighbors among whom they have most relations beyond chance;
    then whole communities do, until nothing gains. The same seed finds the same communities.

    References
    ----------
    .. [1] Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks", 2008.
       https://doi.org/10.1088/1742-5468/2008/10/P10008

    Examples
    --------
    >>> friends = Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])
    >>> found = louvain_communities(friends)
    >>> found[0] == found[1] == found[2] != found[3] == found[4] == found[5]
    np.True_
    """
    found = np.empty(len(network), dtype=np.int64)
    found[seeded_generator(seed).permutation(len(network))] = np.arange(len(network))
    ends = np.concatenate([network.edges, network.edges[:, ::-1]]).astype(np.int64)
    weights, inner = np.ones(len(ends), dtype=np.int64), np.zeros(len(network), dtype=np.int64)
    ends = found[ends]
    while True:
        ends, weights, inner = _merge_parallel_edges(ends, weights, inner)
        offsets = np.append(0, np.cumsum(np.bincount(ends[:, 0], minlength=len(inner))))
        label = np.arange(len(inner))
        if not louvain_pass(offsets, np.ascontiguousarray(ends[:, 1]), weights, inner, label):
            return found
        kept, label = np.unique(label, return_inverse=True)
        inner = np.bincount(label, weights=inner, minlength=len(kept)).astype(np.int64)
        found, ends = label[found], label[ends]


def _merge_parallel_edges(ends: Labels, weights: Labels, inner: Labels) -> tuple[Labels, Labels, Labels]:
    """Add up the weights of equal pairs, in ascending order; pairs of a node and itself become inner weight."""
    count = len(inner)
    keys, place = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
    sums = np.bincount(place, weights=weights, minlength=len(keys)).astype(np.int64)
    pairs = np.stack([keys // count, keys % count], axis=1)
    own = pairs[:, 0] == pairs[:, 1]
    more = np.bincount(pairs[own, 0], weights=sums[own], minlength=count).astype(np.int64)
    return pairs[~own], sums[~own], inner + more


def adjusted_rand_index(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index of two partitions: 1 if they are the same, about 0 if one says nothing [1]_.

    References
    ----------
    .. [1] Hubert, Arabie, "Comparing partitions", 1985. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    """
    both = _count_pairs(np.unique(one * (int(other.max(initial=0)) + 1) + other, return_counts=True)[1])
    mine, theirs = (_count_pairs(np.unique(each, return_counts=True)[1]) for each in (one, other))
    chance = mine * theirs / max(_count_pairs(np.array([len(one)])), 1)
    most = (mine + theirs) / 2
    return float((both - chance) / (most - chance)) if most != chance else 1.0


def _count_pairs(sizes: Labels) -> float:
    return float((sizes * (sizes - 1) / 2).sum())
