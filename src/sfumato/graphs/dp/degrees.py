"""The degrees of a network with differential privacy for edges, or for persons with all their edges."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._neighbors import describe_epsilon
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_integer, require
from sfumato.dp.accountant import Accountant, recording_refusals
from sfumato.dp.mechanisms import NoisyIntegers, add_discrete_laplace
from sfumato.errors import InvalidParameterError
from sfumato.graphs._kernels.dp import project_degrees
from sfumato.graphs._kernels.random_graphs import havel_hakimi, switch_edges
from sfumato.graphs.dp._accounting import HIDDEN, PrivacyUnit, check_graph, spend_budget
from sfumato.graphs.graph import Graph, sort_edges

Integers = npt.NDArray[np.int64]


# Degrees that one person with all her edges changes little: nobody has more than some neighbors.


# Degrees that one person with all her edges changes little: nobody has more than some neighbors.
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


DEGREES_CALLER = "private_degrees"
SENSITIVITY = 2  # an edge more raises two of the ascending degrees by 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateDegrees:
    """Noisy degrees of all persons, ascending; they belong to nobody.

    Parameters
    ----------
    degrees : the degrees after the noise was smoothed; their number, that of the persons, is public.
    scale : of the discrete Laplace noise.
    epsilon : what was paid, as an exact decimal number.
    unit : what it hides: an edge, or a person with all her edges.
    bound : how many neighbors of a person count at most, if persons are hidden.
    """

    degrees: Integers
    scale: float
    epsilon: str
    unit: PrivacyUnit = "edge"
    bound: int | None = None

    def to_frame(self) -> pa.Table:
        """Return a table of how many persons have each number of neighbors; this is all that may be published."""
        degrees, persons = np.unique(self.degrees, return_counts=True)
        return pa.table({"degree": degrees, "persons": persons})

    def __repr__(self) -> str:
        told = f"{describe_epsilon(self.epsilon, HIDDEN[self.unit])}, the number of persons is public"
        return f"PrivateDegrees({len(self.degrees):,} persons, {told})"


@recording_refusals
def private_degrees(
    network: Graph,
    *,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    unit: PrivacyUnit = "edge",
    bound: int | None = None,
) -> PrivateDegrees:
    """Tell how many neighbors persons have, with pure differential privacy for edges [1]_ or persons [2]_.

    For edges, two networks that differ by one are hard to tell apart. Two of the ascending degrees differ between them
    by 1, so little noise hides it, and since the true ones ascend, the closest ascending sequence is much closer to
    them than the noisy one. Somebody with all her edges is not hidden.

    For persons, networks with and without all edges of one person are hard to tell apart; for edges that are replaced
    by others, apply it twice. One person can change the degrees of all others, so edges are added one by one, in an
    order drawn at random, unless somebody has `bound` neighbors already. How many persons have at least 1, 2, 3 ...
    neighbors then gets noise and is made descending again.

    Parameters
    ----------
    network : the network; the number of its persons is public.
    epsilon : the privacy loss, which is paid before anything is counted.
    accountant : what pays it; it belongs to this network, and to edges or to persons, from then on.
    analyst : who asks.
    unit : `"edge"` or `"person"`.
    bound : how many neighbors of a person count at most, where persons are hidden. It must be known without looking
        at the network; without it, half of epsilon buys one.

    References
    ----------
    .. [1] Hay, Li, Miklau, Jensen, "Accurate estimation of the degree distribution of private networks", ICDM 2009.
       https://doi.org/10.1109/ICDM.2009.11
    .. [2] Day, Li, Lyu, "Publishing graph degree distribution with node differential privacy", SIGMOD 2016.
       https://doi.org/10.1145/2882903.2926745
    """
    check_graph(network)
    _check_bound(network, unit, bound)
    most = SENSITIVITY if unit == "edge" else 4 * max(len(network), 1) if bound is None else 2 * bound
    exact, paid = spend_budget(
        network, epsilon, accountant, analyst, "degrees of a network", unit=unit, sensitivity=most
    )
    if unit == "edge":
        found = add_discrete_laplace(np.sort(network.degrees), sensitivity=SENSITIVITY, epsilon=exact)
        degrees = np.clip(np.rint(fit_nondecreasing(found.numbers)), 0, max(len(network) - 1, 0)).astype(np.int64)
        return PrivateDegrees(degrees=degrees, scale=found.scale, epsilon=paid)
    return _node_private_degrees(network, exact, paid, bound)


def _node_private_degrees(network: Graph, epsilon: Fraction, paid: str, bound: int | None) -> PrivateDegrees:
    """Tell degrees that hide a person with all her edges, and buy the bound if there is none."""
    order = KeyedRandom().permutation(network.n_edges)
    if bound is None:
        epsilon /= 2
        bound = private_degree_bound(network, order, epsilon)
    counts = add_discrete_laplace(
        projected_degree_counts(network, order, bound), sensitivity=2 * bound, epsilon=epsilon
    )
    degrees = _degrees_from_counts(counts, len(network))
    return PrivateDegrees(degrees=degrees, scale=counts.scale, epsilon=paid, unit="person", bound=bound)


def _check_bound(network: Graph, unit: str, bound: object) -> None:
    """Refuse a bound that bounds nobody."""
    if bound is None:
        return
    if unit != "person":
        raise InvalidParameterError("A bound limits persons; leave it out, or hide persons by unit='person'.")
    most = max(len(network) - 1, 1)
    good = isinstance(bound, int) and is_integer(bound) and 1 <= bound <= most
    require(good, DEGREES_CALLER, "bound", f"a whole number from 1 to {most:,}, the number of other persons", bound)


def _degrees_from_counts(counts: NoisyIntegers, persons: int) -> Integers:
    """Return the ascending degrees of persons of whom about so many have at least 1, 2, 3 ... neighbors."""
    smooth = np.clip(np.rint(fit_nondecreasing(counts.numbers[::-1])), 0, persons).astype(np.int64)
    above = np.searchsorted(smooth, np.arange(persons), side="right")
    return np.minimum(len(smooth) - above, persons - 1)[::-1].copy()


def fit_nondecreasing(numbers: Integers) -> npt.NDArray[np.float64]:
    """Return the ascending numbers that are closest by least squares.

    >>> fit_nondecreasing(np.array([14, 9, 10, 15])).tolist()
    [11.0, 11.0, 11.0, 15.0]
    """
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(numbers).x, dtype=np.float64)


# A made-up network with the noisy degrees of an original.

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
