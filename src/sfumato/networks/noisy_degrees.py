"""The degrees of a network with differential privacy for edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.networks.network import Network
from sfumato.networks.paying import pay
from sfumato.queries.private.accountant import Accountant
from sfumato.queries.private.noise import noisy

Integers = npt.NDArray[np.int64]
SENSITIVITY = 2  # an edge more raises two of the ascending degrees by 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateDegrees:
    """Noisy degrees of all persons, ascending; they belong to nobody.

    Parameters
    ----------
    degrees : the degrees after the noise was smoothed; their number, that of the persons, is public.
    scale : of the discrete Laplace noise.
    epsilon : what was paid, as an exact decimal number.
    """

    degrees: Integers
    scale: float
    epsilon: str

    def __repr__(self) -> str:
        told = f"epsilon {self.epsilon} for edges, the number of persons is public"
        return f"PrivateDegrees({len(self.degrees):,} persons, {told})"


def private_degrees(network: Network, *, epsilon: float | str, accountant: Accountant, analyst: str) -> PrivateDegrees:
    """Tell how many neighbors persons have, with pure differential privacy for edges [1]_.

    Two networks that differ by one edge are hard to tell apart. Two of the ascending degrees differ between them by 1,
    so little noise hides it, and since the true ones ascend, the closest ascending sequence is much closer to them
    than the noisy one. Somebody with all her edges is not hidden.

    Parameters
    ----------
    network : the network; the number of its persons is public.
    epsilon : the privacy loss, which is paid before anything is counted.
    accountant : what pays it; it belongs to the edges of this network from then on.
    analyst : who asks.

    References
    ----------
    .. [1] Hay, Li, Miklau, Jensen, "Accurate estimation of the degree distribution of private networks", ICDM 2009.
       https://doi.org/10.1109/ICDM.2009.11
    """
    exact, paid = pay(network, epsilon, accountant, analyst, "degrees of a network")
    found = noisy(np.sort(network.degrees), sensitivity=SENSITIVITY, epsilon=exact)
    most = max(len(network) - 1, 0)
    degrees = np.clip(np.rint(ascending(found.numbers)), 0, most).astype(np.int64)
    return PrivateDegrees(degrees=degrees, scale=found.scale, epsilon=paid)


def ascending(numbers: Integers) -> npt.NDArray[np.float64]:
    """Return the ascending numbers that are closest by least squares.

    >>> ascending(np.array([14, 9, 10, 15])).tolist()
    [11.0, 11.0, 11.0, 15.0]
    """
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(numbers).x, dtype=np.float64)
