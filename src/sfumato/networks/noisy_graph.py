"""A made-up network with the noisy degrees of an original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.coding.kernels.wiring import switch, wire
from sfumato.networks.bounded_degrees import Integers
from sfumato.networks.network import Network, sorted_edges
from sfumato.networks.noisy_degrees import private_degrees
from sfumato.networks.paying import HiddenUnit
from sfumato.queries.private.accountant import Accountant
from sfumato.randomness import Stream

ROUNDS = 10  # in each, as many pairs of edges try to switch as there are edges


def private_graph(
    network: Network,
    *,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    unit: HiddenUnit = "edge",
    bound: int | None = None,
) -> Network:
    """Make up a network that has about the degrees of an original, with pure differential privacy.

    Its degrees are those of `private_degrees`; everything else is random, and nobody in it stands for anybody. Degrees
    that no network has lose what nobody is left for. Edges come from the rule of Havel and Hakimi and are then switched
    at random, which keeps degrees.

    Parameters
    ----------
    network, epsilon, accountant, analyst, unit, bound : as for `private_degrees`.
    """
    found = private_degrees(network, epsilon=epsilon, accountant=accountant, analyst=analyst, unit=unit, bound=bound)
    edges = wired(found.degrees[::-1])
    stream = Stream()
    for _ in range(ROUNDS if len(edges) else 0):
        switch(edges, len(network), stream.words(len(edges)))
    number = stream.permutation(len(network))
    return Network(keys=pa.array(np.arange(len(network))), edges=sorted_edges(number[edges]))


def wired(degrees: Integers) -> Integers:
    """Return edges that give persons these descending degrees, or less if no network has them.

    >>> wired(np.array([2, 1, 1])).tolist()
    [[0, 1], [0, 2]]
    """
    needs = np.ascontiguousarray(degrees, dtype=np.int64).copy()
    edges = np.empty((int(needs.sum()) // 2, 2), dtype=np.int64)
    return edges[: wire(needs, edges)].copy()
