"""The degrees of a network with differential privacy for edges, or for persons with all their edges."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import InvalidParameterError
from sfumato.neighbors import describe_epsilon
from sfumato.networks.bounded_degrees import Integers, private_degree_bound, projected_degree_counts
from sfumato.networks.network import Graph
from sfumato.networks.paying import HIDDEN, PrivacyUnit, check_graph, spend_budget
from sfumato.queries.private.accountant import Accountant, recording_refusals
from sfumato.queries.private.noise import NoisyIntegers, add_discrete_laplace
from sfumato.randomness import KeyedRandom
from sfumato.validation import is_integer, require

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
