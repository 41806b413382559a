"""Merge places that too few persons visit, or leave them out, until every short sequence is shared by k persons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories._publishing import assign_keys, place_sequences, select_points, whole_ways
from sfumato.trajectories._subsequences import Subsequences, count_subsequences
from sfumato.trajectories.geometry import haversine
from sfumato.trajectories.models._base import require_places
from sfumato.trajectories.models.trajectory_km_anonymity import TrajectoryKmAnonymity
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
JOINED = " | "
NOWHERE = -1


@dataclass(frozen=True, kw_only=True, repr=False)
class SeqAnon(Algorithm[Trajectories]):
    """Merge the place of the rarest sequence that fewest persons visit with its nearest, until none is too rare [1]_.

    Sequences of one place come first, then those of two, and so on. Everywhere, a merged place stands for all places
    that it was made of. What is published has names of places in order, and no times. All trips of a person are
    published as one way.

    Parameters
    ----------
    rare : `"merge"` a place of a rare sequence with the nearest one, which needs coordinates, or `"suppress"` it.
    repeats : `"keep"` a merged place that comes twice in a row, or `"collapse"` it into one visit.

    References
    ----------
    .. [1] Poulis, Skiadopoulos, Loukides, Gkoulalas-Divanis, "Distance-based k^m-anonymization of trajectory data",
       MDM 2013. https://doi.org/10.1109/MDM.2013.66
    """

    name = "merge-places"
    reference = "Poulis et al. 2013, https://doi.org/10.1109/MDM.2013.66"
    supports: ClassVar = (TrajectoryKmAnonymity,)
    uses_secret = True

    rare: Literal["merge", "suppress"] = "merge"
    repeats: Literal["keep", "collapse"] = "keep"

    def __post_init__(self) -> None:
        require(self.rare in {"merge", "suppress"}, self, "rare", '"merge" or "suppress"', self.rare)
        require(self.repeats in {"keep", "collapse"}, self, "repeats", '"keep" or "collapse"', self.repeats)

    def search(self, request: Request[Trajectories]) -> Trajectories:
        """Return ways of merged places."""
        points = whole_ways(request.data.points)
        require_places(points)
        models = [model for model in request.models if isinstance(model, TrajectoryKmAnonymity)]
        most = max(model.k for model in models)
        if points.n_individuals < most:
            raise InfeasibleError(f"There are {points.n_individuals:,} persons, fewer than k = {most:,}; ask for less.")
        recoded = PlaceRecoding.from_points(points, collapse=self.repeats == "collapse", near=self.rare == "merge")
        for model in models:
            for size in range(1, model.m + 1):
                while (rare := recoded.rarest(size, model.k)) is not None:
                    recoded.merge_or_suppress(rare)
                    request.progress(min(0.9, 1 - recoded.n_places / len(points.names)), "merging places")
        return assign_keys(recoded.to_points(), request.stream)


class PlaceRecoding:
    """Which place stands for every place; -1 for those that are left out."""

    def __init__(self, points: Points, distances: npt.NDArray[np.float64] | None, *, collapse: bool) -> None:
        assert points.places is not None  # noqa: S101 - the caller looked
        self.points, self.places, self.collapse = points, points.places, collapse
        self.stands = np.arange(len(points.names), dtype=np.int64)
        self.distances = distances

    @classmethod
    def from_points(cls, points: Points, *, collapse: bool, near: bool) -> PlaceRecoding:
        """Begin with every place for itself; distances between places are needed to merge near ones."""
        if not near:
            return cls(points, None, collapse=collapse)
        if not points.has_coordinates:
            raise SchemaError('The places have no coordinates, so no near ones are known; use rare="suppress".')
        return cls(points, _place_distances(points), collapse=collapse)

    @property
    def n_places(self) -> int:
        """How many different places there still are."""
        return len(np.unique(self.stands[self.stands >= 0]))

    def remaining(self) -> tuple[Integers, Points]:
        """Return the recoded place of every point that is left, and the ways of these points."""
        places = self.stands[self.places]
        there = places >= 0
        if self.collapse:
            again = np.zeros(len(places), dtype=np.bool_)
            kept = np.flatnonzero(there)
            way = self.points.trajectory[kept]
            again[kept[1:]] = (np.diff(way) == 0) & (np.diff(places[kept]) == 0)
            there &= ~again
        return places[there], select_points(self.points, there)

    def rarest(self, size: int, k: int) -> Integers | None:
        """Return the rarest sequence of a size that fewer than k persons have."""
        places, points = self.remaining()
        found = _of_size(count_subsequences(places, points.offsets, points.individual_of, size), size)
        if found is None or found.support.min() >= k:
            return None
        return np.asarray(found.sequences[int(found.support.argmin())], dtype=np.int64)

    def merge_or_suppress(self, rare: Integers) -> None:
        """Merge the place of a rare sequence that fewest visit with its nearest; leave it out if asked, or if alone."""
        places, points = self.remaining()
        visit = np.unique(points.individual * len(self.stands) + places)
        visitors = np.bincount(visit % len(self.stands), minlength=len(self.stands))
        one = rare[np.argmin(visitors[rare])]
        others = np.unique(self.stands[self.stands >= 0])
        others = others[others != one]
        nearest = NOWHERE if self.distances is None or not len(others) else self._nearest(one, others)
        self.stands[self.stands == one] = nearest

    def _nearest(self, one: int, others: Integers) -> int:
        """Return the merged place that is nearest to one, by the mean distance of what they are made of."""
        assert self.distances is not None  # noqa: S101 - the caller looked
        to = self.distances[self.stands == one].mean(axis=0)
        inside = self.stands >= 0
        sums = np.bincount(self.stands[inside], to[inside], minlength=len(self.stands))
        return int(others[np.argmin(sums[others] / np.bincount(self.stands[inside])[others])])

    def to_points(self) -> Points:
        """Return the ways of recoded places, in order and without times or coordinates."""
        places, points = self.remaining()
        if not len(places):
            raise InfeasibleError('Nothing is left that enough persons visit; ask for less, or use repeats="collapse".')
        used, numbers = np.unique(places, return_inverse=True)
        names = [
            JOINED.join(sorted(self.points.names[each] for each in np.flatnonzero(self.stands == one))) for one in used
        ]
        rank = np.argsort(np.argsort(np.array(names, dtype=object)))
        recoded = rank[numbers.ravel()].astype(np.int64)
        return replace(place_sequences(points), places=recoded, names=tuple(sorted(names)))


def _of_size(found: Iterator[Subsequences], size: int) -> Subsequences | None:
    """Return the selections of one size, the last of those that are yielded."""
    sized = list(found)
    return sized[size - 1] if len(sized) >= size else None


def _place_distances(points: Points) -> npt.NDArray[np.float64]:
    """Return the distances of all pairs of places, each at the mean of its points."""
    assert points.places is not None  # noqa: S101 - the caller looked
    count = np.maximum(np.bincount(points.places, minlength=len(points.names)), 1)
    x, y = (
        np.bincount(points.places, weights=side, minlength=len(points.names)) / count
        for side in (points.longitudes, points.latitudes)
    )
    return haversine(x[:, None], y[:, None], x[None, :], y[None, :])
