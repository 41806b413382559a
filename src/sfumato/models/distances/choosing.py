"""How far the distribution of a sensitive attribute in a group is from its distribution in the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Groups
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.models.base import GroupModel, Levels
from sfumato.models.distances.divergence import kl_divergence
from sfumato.models.distances.earth_mover import emd_hierarchical, emd_ordered
from sfumato.models.distances.transport import Costs, emd_general
from sfumato.validation import is_finite_number, require

Distance = Literal["equal", "variational", "ordered", "hierarchical", "kl", "matrix"]
DISTANCES = ("equal", "variational", "ordered", "hierarchical", "kl", "matrix")
UNBOUNDED = {"kl", "matrix"}


def check_distance(owner: GroupModel, t: float, distance: str, costs: object) -> None:
    """Refuse an unknown distance, a limit outside its range, and a matrix that is not a distance."""
    require(distance in DISTANCES, owner, "distance", f"one of {', '.join(DISTANCES)}", distance)
    unbounded = distance in UNBOUNDED
    expected = "a number of at least 0" if unbounded else "a number from 0 to 1"
    require(is_finite_number(t) and t >= 0 and (unbounded or t <= 1), owner, "t", expected, t)
    if (distance == "matrix") != (costs is not None):
        raise InvalidParameterError(
            f"{type(owner).__name__}.costs must be given if and only if the distance is 'matrix'."
        )
    if costs is not None:
        fault = _metric_violation(_plain(costs))
        if fault:
            raise InvalidParameterError(f"{type(owner).__name__}.costs {fault}.")


def to_tuples(costs: Costs | None) -> tuple[tuple[float, ...], ...] | None:
    """Convert a matrix, which may be an array, to tuples."""
    return None if costs is None else tuple(tuple(row) for row in _plain(costs))


def _plain(costs: Any) -> Any:
    return costs.tolist() if isinstance(costs, np.ndarray) else costs


def distances_to_overall_distribution(
    owner: GroupModel, groups: Groups, sensitive: str, distance: Distance, costs: Costs | None
) -> Levels:
    """Compute the distance of every group from the table."""
    histogram, totals = groups.histograms[sensitive], groups.totals[sensitive]
    match distance:
        case "ordered":
            return emd_ordered(histogram, totals, rank_count(owner, groups, sensitive))
        case "hierarchical":
            return emd_hierarchical(histogram, totals, hierarchy_nodes(owner, groups, sensitive))
        case "kl":
            return kl_divergence(histogram, totals)
        case "matrix":
            return emd_general(histogram, totals, _matching_costs(owner, groups, sensitive, costs or ()))
    return emd_hierarchical(histogram, totals, [np.arange(histogram.width)])


def is_convex_distance(groups: Groups, sensitive: str, distance: Distance) -> bool:
    """Return whether the distance of a group is at most the mean of its parts' distances, none of which exceeds 1.

    Where missing values are values of their own, levels on a line are upper bounds cut off at 1, and no such mean.
    """
    if distance == "ordered":
        domain, totals = groups.domains.get(sensitive), groups.totals[sensitive]
        return domain is None or not totals[len(domain) :].any()
    return distance not in UNBOUNDED


def _metric_violation(costs: object) -> str | None:
    """Return why a matrix is not a distance between values."""
    rows = [row for row in costs if isinstance(row, Sequence)] if isinstance(costs, Sequence) else []
    if not rows or any(len(row) != len(costs) for row in rows) or len(rows) != len(costs):  # type: ignore[arg-type]  # a sequence
        return "must be a square matrix, with one row and one column per value"
    if not all(is_finite_number(cost) and cost >= 0 for row in rows for cost in row):
        return "must contain only numbers of at least 0"
    if any(row[i] != 0 for i, row in enumerate(rows)):
        return "must have zeros on its diagonal, because the distance of a value from itself is 0"
    if any(rows[i][j] != rows[j][i] for i in range(len(rows)) for j in range(i)):
        return "must be symmetric, with the same distance both ways"
    return None


def _matching_costs(owner: GroupModel, groups: Groups, sensitive: str, costs: Costs) -> Costs:
    domain = groups.domains.get(sensitive)
    values = groups.histograms[sensitive].width if domain is None else len(domain)
    if len(costs) != values:
        raise SchemaError(
            f"{type(owner).__name__}.costs has {len(costs)} rows for the {values} values of column {sensitive!r}; "
            "give one row and one column per value, in the order of the domain."
        )
    return costs


def rank_count(owner: GroupModel, groups: Groups, sensitive: str) -> int:
    """Count the values of an attribute that has an order."""
    domain = groups.domains.get(sensitive)
    if domain is None:
        return groups.histograms[sensitive].width
    if not domain.scale.ordered:
        raise SchemaError(
            f"Column {sensitive!r} is {domain.scale} and has no order for {type(owner).__name__}; give an order in "
            "Schema.orders or use another distance."
        )
    return len(domain)


def hierarchy_nodes(owner: GroupModel, groups: Groups, sensitive: str) -> list[npt.NDArray[np.integer]]:
    """Return the node of every value, for every level of its hierarchy below the root."""
    domain, width = groups.domains.get(sensitive), groups.histograms[sensitive].width
    if domain is None or domain.hierarchy is None:
        raise SchemaError(
            f"Column {sensitive!r} has no hierarchy for {type(owner).__name__}; give one in Schema.hierarchies "
            "or use another distance."
        )
    below_root = domain.hierarchy.levels[:-1]
    return [np.append(nodes, nodes.max(initial=-1) + 1)[:width] for nodes in below_root]
