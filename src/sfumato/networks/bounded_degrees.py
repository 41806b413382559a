"""Degrees that one person with all her edges changes little: nobody has more than some neighbors."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.bounding import project_degrees
from sfumato.networks.network import Graph
from sfumato.queries.private.noise import add_discrete_laplace

Integers = npt.NDArray[np.int64]
WORTH = 25  # edges per neighbor and epsilon that a higher bound must let in; found on real and made-up networks


def projected_degree_counts(network: Graph, order: Integers, bound: int) -> Integers:
    """Return how many persons have at least 1, 2 ... `bound` neighbors, if edges are added in an order while they may.

    A person with all her edges changes these counts by at most 2 `bound` in total, whatever the order is. Each of her
    edges that is added takes a place at her neighbor, who may lack it later for somebody else, who has a place more for
    the next one, and so on: a chain of edges that come and go, which moves only the degree of the person at its end,
    and by 1. There are at most `bound` chains, and she has at most `bound` neighbors herself.
    """
    degrees = np.empty(len(network), dtype=np.int64)
    project_degrees(network.edges, order, bound, degrees)
    counts = np.bincount(degrees, minlength=bound + 1)
    return np.ascontiguousarray(np.cumsum(counts[::-1])[::-1][1:])


def bound_gains(network: Graph, order: Integers) -> tuple[Integers, Integers]:
    """Return bounds 1, 2, 4 ..., and for all but the last what doubling it lets in: edges for every neighbor allowed.

    A person with all her edges changes the edges of a bound by at most the bound, and so each gain by at most 1.
    """
    most = max(len(network) - 1, 1)
    bounds = np.minimum(2 ** np.arange((most - 1).bit_length() + 1), most)
    degrees = np.empty(len(network), dtype=np.int64)
    edges = np.array([project_degrees(network.edges, order, bound, degrees) for bound in bounds.tolist()])
    return bounds, np.diff(edges) // bounds[1:]


def private_degree_bound(network: Graph, order: Integers, epsilon: Fraction) -> int:
    """Return the first bound that is not worth doubling, with pure differential privacy for persons.

    This is the sparse vector technique: one noisy threshold, noisy gains, and nothing told but the first one below. A
    gain is worth it if it is more than 25 edges by the whole epsilon, of which this is half.
    """
    bounds, gained = bound_gains(network, order)
    half = epsilon / 2
    limit = add_discrete_laplace(np.array([ceil(WORTH / (2 * epsilon))]), sensitivity=1, epsilon=half).numbers[0]
    heard = add_discrete_laplace(gained, sensitivity=2, epsilon=half).numbers
    below = np.flatnonzero(heard < limit)
    return int(bounds[below[0]] if len(below) else bounds[-1])
