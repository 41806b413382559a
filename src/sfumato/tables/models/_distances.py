"""How far the distribution of a sensitive attribute in a group is from its distribution in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models._earth_movers_distance import (
    LARGEST_WHOLE,
    Costs,
    correctly_rounded_quotient,
    emd_general,
    emd_hierarchical,
    emd_ordered,
)
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups, Histogram

# How much more, or less, frequent values are in groups than in their table.


def relative_gains(counts: Counts, sizes: Counts, expected: npt.NDArray[np.int64], table: int) -> Levels:
    r"""Compute $(q - p) / p$ with one rounding, where $q$ is counts over sizes and $p$ is expected over table.

    Infinite if nothing was expected.
    """
    exact = np.int64 if int(sizes.max(initial=0)) * table <= LARGEST_WHOLE else object
    denominator = sizes.astype(exact) * expected
    gains = correctly_rounded_quotient(counts.astype(exact) * table - denominator, denominator)
    gains[expected == 0] = np.inf
    return gains


# The Kullback-Leibler divergence of groups from their table.


def kl_divergence(histogram: Histogram, totals: Counts) -> Levels:
    r"""Compute $\sum_v q_v \ln(q_v / p_v)$ of every group, rounded up; exactly 0 if the shares are equal.

    The sum is convex, so cells that may be any value are worst if they all have the same value: one of the
    group, or the rarest of the table.
    """
    rows, table, lost = histogram.rows, int(totals.sum()), histogram.missing
    sizes, expected = histogram.sizes, totals[histogram.codes]
    terms = _terms(histogram.counts, sizes[rows], expected, table)
    level = histogram.reduce(np.add, terms)
    spent = histogram.reduce(np.add, np.abs(terms))
    if lost.any():
        more = _terms(histogram.counts + lost[rows], sizes[rows], expected, table)
        more -= np.where(np.isfinite(terms), terms, 0)
        rarest = np.full_like(lost, totals.min(initial=table, where=totals > 0))
        unseen = _terms(lost, sizes, rarest, table)
        known = np.diff(histogram.offsets) > 0
        joined = np.maximum(unseen, histogram.reduce(np.maximum, more), out=unseen, where=known)
        level, spent = level + joined, spent + np.abs(joined)
    steps = np.diff(histogram.offsets) + 4
    return np.asarray(level + steps * np.finfo(np.float64).eps * spent)


def _terms(counts: Counts, sizes: Counts, expected: Counts, table: int) -> Levels:
    """Return what each count contributes to the sum; 0 for none."""
    gains = np.where(counts > 0, relative_gains(counts, sizes, expected, table), 0)
    return counts / np.maximum(sizes, 1) * np.log1p(gains)


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


# Distances that are sums over cuts: how much of a group, and how much of the table, lies on one side of each.


@dataclass(frozen=True, eq=False)
class CutDistance:
    r"""A limit to $\frac{1}{s} \sum_S |q(S) - p(S)|$, where $q$ and $p$ are shares of a group and of the table.

    Values on a tree or a line are as far apart as the edges between them are long, and every edge cuts off a set $S$.
    Such sums need only the counts of these sets, which add up when groups are merged.

    Parameters
    ----------
    sets : which values each set has, one row per set.
    scale : the number $s$.
    limit : the largest distance.
    once : whether groups are compared with the whole table alone, and not with what is left of it.
    """

    sets: npt.NDArray[np.bool_]
    scale: int
    limit: float
    once: bool


def as_cut_distance(owner: GroupModel, whole: Groups, sensitive: str, distance: Distance) -> CutDistance | None:
    """Write a distance as a sum over cuts; nothing if it is not such a sum, or only an upper bound."""
    width, totals = whole.histograms[sensitive].width, whole.totals[sensitive]
    match distance:
        case "equal" | "variational":
            levels = [np.arange(width)]
        case "hierarchical":
            levels = [np.asarray(nodes) for nodes in hierarchy_nodes(owner, whole, sensitive)]
        case "ordered":
            values = rank_count(owner, whole, sensitive)
            below = np.arange(width) <= np.arange(values - 1)[:, None]
            return (
                None
                if totals[values:].any()
                else CutDistance(below, max(values - 1, 1), owner.limit, owner.needs_original)
            )
        case _:
            return None
    sets = [nodes == np.arange(nodes.max(initial=-1) + 1)[:, None] for nodes in levels]
    return CutDistance(np.concatenate(sets), 2 * len(levels), owner.limit, owner.needs_original)
