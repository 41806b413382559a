"""Pay for questions about the edges of a network before they are answered."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.coding.fingerprint import fingerprint
from sfumato.exceptions import InvalidParameterError
from sfumato.networks.network import Network, sorted_edges
from sfumato.queries.private import noise
from sfumato.queries.private.accountant import Accountant
from sfumato.queries.private.budget import UNIT, shown, units_of_cost
from sfumato.validation import require

EDGE = "edge"


def pay(
    network: Network, epsilon: float | str, accountant: Accountant, analyst: str, question: str
) -> tuple[Fraction, str]:
    """Pay for a question about edges; return the exact epsilon, also as it is shown."""
    if not isinstance(network, Network):
        raise InvalidParameterError("network must be an sf.networks.Network; make one with its from_edges.")
    require(isinstance(accountant, Accountant), question, "accountant", "an Accountant", type(accountant).__name__)
    units = units_of_cost(epsilon, question)
    noise.opendp()
    accountant.belong_to(digest(network), EDGE)
    accountant.spend(analyst, shown(units), question)
    return Fraction(units, UNIT), shown(units)


def digest(network: Network) -> str:
    """Return a digest of persons' keys and edges, whatever their order, and whatever else is known of either."""
    names = np.asarray(network.keys.cast(pa.string()).to_pylist(), dtype=str)
    order = np.argsort(names, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    edges = sorted_edges(place[network.edges])
    listed = pa.table({"source": names[order][edges[:, 0]], "target": names[order][edges[:, 1]]})
    return fingerprint(pa.table({"key": names[order]})) + fingerprint(listed)
