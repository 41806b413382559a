"""Distances that are sums over cuts: how much of a group, and how much of the table, lies on one side of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Groups
from sfumato.models.base import GroupModel
from sfumato.models.distances.choosing import Distance, hierarchy_nodes, rank_count


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
