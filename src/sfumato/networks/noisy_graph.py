"""A made-up network with the noisy degrees of an original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.coding.kernels.wiring import havel_hakimi, switch_edges
from sfumato.networks.bounded_degrees import Integers
from sfumato.networks.network import Graph, sort_edges
from sfumato.networks.noisy_degrees import private_degrees
from sfumato.networks.paying import PrivacyUnit
from sfumato.queries.private.accountant import Accountant
from sfumato.randomness import KeyedRandom

ROUNDS = 10  # in each, as many pairs of edges try to switch as there are edges


def private_graph(
    network: Graph,
    *,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    unit: PrivacyUnit = "edge",
    bound: int | None = None,
) -> Graph:
    """Make up a network that has about the degrees of an original, with pure differential privacy.

    Its degrees are those of `private_degrees`; everything else is random, and nobody in it stands for anybody. Degrees
    that no network has lose what nobody is left for. Edges come from the rule of Havel and Hakimi and are then switched
    at random, which keeps degrees.

    Parameters
    ----------
    network, epsilon, accountant, analyst, unit, bound : as for `private_degrees`.
    """
    found = private_degrees(network, epsilon=epsilon, accountant=accountant, analyst=analyst, unit=unit, bound=bound)
    edges = realize_degrees(found.degrees[::-1])
    stream = KeyedRandom()
    for _ in range(ROUNDS if len(edges) else 0):
        switch_edges(edges, len(network), stream.random_uint64(len(edges)))
    number = stream.permutation(len(network))
    return Graph(keys=pa.array(np.arange(len(network))), edges=sort_edges(number[edges]))


def realize_degrees(degrees: Integers) -> Integers:
    """Return edges that give persons these descending degrees, or less if no network has them.

    >>> realize_degrees(np.array([2, 1, 1])).tolist()
    [[0, 1], [0, 2]]
    """
    needs = np.ascontiguousarray(degrees, dtype=np.int64).copy()
    edges = np.empty((int(needs.sum()) // 2, 2), dtype=np.int64)
    return edges[: havel_hakimi(needs, edges)].copy()
