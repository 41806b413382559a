"""Pay for questions about a network before they are answered."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from sfumato._neighbors import EDGE, NODE
from sfumato._validation import require
from sfumato.dp import mechanisms
from sfumato.dp.accountant import UNIT, Accountant, epsilon_cost_units, format_epsilon
from sfumato.errors import InvalidParameterError
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.io._values import compute_table_digest

PrivacyUnit: TypeAlias = Literal["edge", "person"]
UNITS = get_args(PrivacyUnit)
HIDDEN: Mapping[PrivacyUnit, str] = {"edge": EDGE, "person": NODE}


def spend_budget(
    network: Graph,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    question: str,
    *,
    unit: PrivacyUnit = "edge",
    sensitivity: int = 2,
) -> tuple[Fraction, str]:
    """Pay for a question; return the exact epsilon, also as it is shown. A budget of edges never pays for persons.

    What is hidden changes the answer by at most `sensitivity` in total, so that noise fits into 64 bits or is refused.
    """
    check_graph(network)
    require(isinstance(accountant, Accountant), question, "accountant", "an Accountant", type(accountant).__name__)
    require(unit in UNITS, question, "unit", " or ".join(map(repr, UNITS)), unit)
    units = epsilon_cost_units(epsilon, question)
    mechanisms.refuse_too_small(sensitivity, Fraction(units, UNIT))
    mechanisms.load_opendp()
    accountant.bind_table(graph_digest(network), HIDDEN[unit])
    accountant.spend(analyst, format_epsilon(units), question)
    return Fraction(units, UNIT), format_epsilon(units)


def check_graph(network: object) -> None:
    """Refuse what is no network."""
    if not isinstance(network, Graph):
        raise InvalidParameterError("network must be an sf.graphs.Graph; make one with its from_edges.")


def graph_digest(network: Graph) -> str:
    """Return a digest of persons' keys and edges, whatever their order, and whatever else is known of either."""
    names = np.asarray(network.keys.cast(pa.string()).to_pylist(), dtype=str)
    order = np.argsort(names, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    edges = sort_edges(place[network.edges])
    listed = pa.table({"source": names[order][edges[:, 0]], "target": names[order][edges[:, 1]]})
    return compute_table_digest(pa.table({"key": names[order]})) + compute_table_digest(listed)
