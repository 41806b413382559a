"""Clusters of ways around pivots: ways far from each other, each with its nearest persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.trajectories._spatiotemporal import Places, mean_distances

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
GROWTH = 1.5
MAX_ROUNDS = 60
TRASH = -1


class TrajectoryDistances(Protocol):
    """How far ways are from each other."""

    @property
    def max_radius(self) -> float:
        """A radius beyond which no other way comes in."""

    @property
    def first_pivot(self) -> int:
        """The way that is tried as a pivot first."""

    def distances_to(self, pivot: int) -> Floats:
        """Return how far every way is from one."""


@dataclass(frozen=True, eq=False)
class MeanEuclideanDistances:
    """How far ways are from each other on average, at the same moments."""

    places: Places
    max_radius: float = np.inf

    @property
    def first_pivot(self) -> int:
        """The way that is farthest from the mean of all."""
        return int(np.argmax(mean_distances(self.places, self.places.mean(axis=0))))

    def distances_to(self, pivot: int) -> Floats:
        """Return the mean distance of every way from one."""
        return mean_distances(self.places, self.places[pivot])


def cluster_with_trash_limit(
    distances: TrajectoryDistances, owner: Integers, k: int, *, radius: float, trash: float
) -> tuple[Integers, Integers]:
    """Put ways into clusters as `clustered` does, with a larger radius while more than a share `trash` is left out."""
    label, pivots = np.full(len(owner), TRASH, dtype=np.int64), np.empty(0, dtype=np.int64)
    if len(np.unique(owner)) < k:
        return label, pivots
    for _ in range(MAX_ROUNDS):
        label, pivots = cluster_around_pivots(distances, owner, k, radius)
        if (label == TRASH).sum() <= trash * len(owner) or radius >= distances.max_radius:
            break
        radius *= GROWTH
    return label, pivots


def cluster_around_pivots(
    distances: TrajectoryDistances, owner: Integers, k: int, radius: float
) -> tuple[Integers, Integers]:
    """Choose pivots far from each other, give each its k - 1 nearest persons, and the rest to the nearest pivot.

    No cluster holds two ways of one person: the number of its ways is that of its persons. A way whose nearest cluster
    holds another one of hers joins the nearest cluster that does not.

    Parameters
    ----------
    distances : how far ways are from each other.
    owner : the person of every way.
    k : the least number of different persons in a cluster.
    radius : how far from its pivot a way may be.

    Returns
    -------
    The cluster of every way, -1 for ways that are left out, and the pivot of every cluster.
    """
    label = np.full(len(owner), TRASH, dtype=np.int64)
    nearest, nearest_pivot = np.full(len(owner), np.inf), np.full(len(owner), TRASH, dtype=np.int64)
    open_ones = np.ones(len(owner), dtype=np.bool_)
    pivot, pivots = distances.first_pivot, list[int]()
    while True:
        far = distances.distances_to(pivot)
        members = _nearest_individuals(np.where(label == TRASH, far, np.inf), owner, pivot, k, radius)
        if members is not None:
            label[members] = len(pivots)
            closer = far < nearest
            nearest[closer], nearest_pivot[closer] = far[closer], len(pivots)
            pivots.append(pivot)
        open_ones[pivot] = False
        candidates = np.flatnonzero(open_ones & (label == TRASH))
        if not len(candidates) or len(np.unique(owner[label == TRASH])) < k:
            break
        pivot = int(candidates[np.argmax(nearest[candidates])])
    _join(label, owner, np.where(nearest <= radius, nearest, np.inf), nearest_pivot)
    if len(np.unique(owner)) < len(owner):
        while (label == TRASH).any() and _join(label, owner, *_nearest_open(distances, label, owner, pivots, radius)):
            pass
    return label, np.array(pivots, dtype=np.int64)


def _join(label: Integers, owner: Integers, near: Floats, cluster: Integers) -> int:
    """Let ways that are out join their clusters, of a person only the nearest one; return how many do."""
    joining = np.flatnonzero((label == TRASH) & np.isfinite(near))
    joining = joining[np.argsort(near[joining], kind="stable")]
    persons = int(owner.max()) + 1
    held = label[label != TRASH] * persons + owner[label != TRASH]
    wanted = cluster[joining] * persons + owner[joining]
    first = np.zeros(len(joining), dtype=np.bool_)
    first[np.unique(wanted, return_index=True)[1]] = True
    joining = joining[first & ~np.isin(wanted, held)]
    label[joining] = cluster[joining]
    return len(joining)


def _nearest_open(
    distances: TrajectoryDistances, label: Integers, owner: Integers, pivots: list[int], radius: float
) -> tuple[Floats, Integers]:
    """Return the nearest cluster within a radius without a way of the same person, and how far its pivot is."""
    nearest, cluster = np.full(len(owner), np.inf), np.full(len(owner), TRASH, dtype=np.int64)
    for number, pivot in enumerate(pivots):
        far = distances.distances_to(pivot)
        closer = (label == TRASH) & (far <= radius) & (far < nearest) & ~np.isin(owner, owner[label == number])
        nearest[closer], cluster[closer] = far[closer], number
    return nearest, cluster


def _nearest_individuals(far: Floats, owner: Integers, pivot: int, k: int, radius: float) -> Integers | None:
    """Return a pivot and the nearest ways of k - 1 other persons within a radius, if there are so many."""
    order = np.argsort(far, kind="stable")
    order = order[far[order] <= radius]
    order = np.append(pivot, order[order != pivot])
    first = np.sort(np.unique(owner[order], return_index=True)[1])[:k]
    return order[first] if len(first) == k else None
