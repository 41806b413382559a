"""Leave out points until the visits at an owner's places tell too little about other places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError
from sfumato.trajectories._publishing import assign_keys, place_sequences, select_points
from sfumato.trajectories.geometry import haversine
from sfumato.trajectories.models.partial_knowledge import PartialKnowledge, ProjectionClasses, project_visits
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NO_CLASS = -1
EVERY_POINT = 1.0  # meters that each point counts besides its detour, and all it counts without coordinates


@dataclass(frozen=True, kw_only=True, repr=False)
class ProjectionSuppression(Algorithm[Trajectories]):
    """Leave out the points that mend most for the least lost distance, until no owner learns too much [1]_.

    A crowd of persons with the same visits at an owner's places, too many of whom go to another place, is mended in
    one of two ways. Either as many of them as needed lose their points there, those with the shortest detours first; or
    all of them lose visits at the owner's own places, so that they join another crowd. Of both, and of all crowds, the
    one comes first that takes away most persons too many for each meter by which ways get shorter. What is published
    has names of places in order, and no times.

    References
    ----------
    .. [1] Terrovitis, Mamoulis, "Privacy preservation in the publication of trajectories", MDM 2008.
       https://doi.org/10.1109/MDM.2008.29
    """

    name = "hide-from-owners"
    reference = "Terrovitis, Mamoulis 2008, https://doi.org/10.1109/MDM.2008.29"
    supports: ClassVar = (PartialKnowledge,)
    uses_secret = True

    def search(self, request: Request[Trajectories]) -> Trajectories:
        """Return ways without the points that tell too much."""
        kept = request.data.points
        models = [model for model in request.models if isinstance(model, PartialKnowledge)]
        owners = [(flags, float(model.share)) for model in models for flags in model.known_places(kept)]
        ties, many = request.stream.permutation(kept.n_individuals)[_individuals(kept)], len(kept)
        mended = False
        while not mended:
            mended = True
            for owned, share in owners:
                lost = SuppressionStep(kept, owned, share, ties).points_to_suppress()
                if lost.any():
                    ways = np.unique(kept.trajectory[~lost])
                    kept, ties, mended = select_points(kept, ~lost), ties[ways], False
                if not owned[kept.places].any():
                    raise InfeasibleError("No visit at an owner's places is left; allow for a larger share.")
            request.progress(min(0.9, 1 - len(kept) / many), "leaving out points")
        return assign_keys(place_sequences(kept), request.stream)


class SuppressionStep:
    """What to leave out for one owner, one step for each crowd that breaks the promise.

    Parameters
    ----------
    points : the points that are left.
    owned : which places are the owner's.
    share : the largest share of a crowd that may go to any other place.
    ties : a number for every way, the same for those of a person, that decides between equals.
    """

    def __init__(self, points: Points, owned: Flags, share: float, ties: Integers) -> None:
        assert points.places is not None  # noqa: S101 - the search looked
        self.points, self.places, self.owned, self.share, self.ties = points, points.places, owned, share, ties
        self.person = _individuals(points)[points.trajectory]
        self.seen = ProjectionClasses.from_points(points, owned)
        self.excess = excess_visitors(self.seen.visitors, self.seen.persons, share)
        self.detour = detours(points)

    def points_to_suppress(self) -> Flags:
        """Return the points to leave out now; none if the promise is kept."""
        broken = self.excess.sum(axis=1)
        crowds = np.flatnonzero(broken)
        lost = np.zeros(len(self.points), dtype=np.bool_)
        if not len(crowds):
            return lost
        crowd = self.seen.label[self.person]
        flags, targets = [self._visits_elsewhere()], [np.full(len(broken), NO_CLASS)]
        gains = [broken.astype(np.float64)]
        for gone in self._own_visits():
            flags.append(gone)
            targets.append(self._joined(gone))
            gains.append(self._gain(targets[-1], broken))
        costs = np.stack([np.bincount(crowd, self.detour * each, minlength=len(broken)) for each in flags])
        worth = np.where(np.stack(gains) > 0, np.stack(gains) / np.maximum(costs, EVERY_POINT / 2), 0.0)
        best = worth.argmax(axis=0)
        order = crowds[np.argsort(-worth.max(axis=0)[crowds], kind="stable")]
        for chosen, of in enumerate(_independent_steps(order, best, targets)):
            lost |= flags[chosen] & np.isin(crowd, of)
        return lost

    def _visits_elsewhere(self) -> Flags:
        """Return the points at other places of as many persons as each crowd has too many, those that cost least."""
        width = len(self.owned)
        visit, pair = np.unique(self.person * width + self.places, return_inverse=True)
        cost = np.bincount(pair.ravel(), self.detour)
        who, place = visit // width, visit % width
        cell = self.seen.label[who] * width + place
        tie = np.zeros(self.points.n_individuals, dtype=np.int64)
        tie[_individuals(self.points)] = self.ties
        order = np.lexsort((tie[who], cost, cell))
        first = np.append(True, np.diff(cell[order]) != 0)
        rank = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        chosen = np.zeros(len(visit), dtype=np.bool_)
        chosen[order] = rank < self.excess.ravel()[cell[order]]
        return np.asarray(chosen[pair.ravel()])

    def _own_visits(self) -> list[Flags]:
        """Return choices of the owner's points: all, all but the first visit of each place, and those of each place."""
        own = self.owned[self.places]
        visit = self.points.trajectory * len(self.owned) + self.places
        again = np.ones(len(own), dtype=np.bool_)
        again[np.unique(visit, return_index=True)[1]] = False
        visited = np.unique(self.places[own])
        return [own, own & again, *(self.places == each for each in visited if len(visited) > 1)]

    def _joined(self, gone: Flags) -> Integers:
        """Return the crowd that every crowd joins without some of its visits; -1 if there is none like that."""
        own, many = self.owned[self.places], self.points.n_individuals
        label = project_visits(self.points, own, own & ~gone)
        at = np.full(int(label.max()) + 1, NO_CLASS)
        at[label[:many]] = self.seen.label
        joined = np.full(len(self.seen.persons), NO_CLASS)
        joined[self.seen.label] = at[label[many:]]
        return np.where(joined == np.arange(len(joined)), NO_CLASS, joined)

    def _gain(self, joined: Integers, broken: Integers) -> Floats:
        """Return how many persons too many there are less once crowds have joined others."""
        gain = np.zeros(len(joined))
        some = np.flatnonzero((joined != NO_CLASS) & (broken > 0))
        other = joined[some]
        visitors = self.seen.visitors[some] + self.seen.visitors[other]
        left = excess_visitors(visitors, self.seen.persons[some] + self.seen.persons[other], self.share).sum(axis=1)
        gain[some] = broken[some] + broken[other] - left
        return gain


def _independent_steps(order: Integers, best: Integers, targets: list[Integers]) -> list[list[int]]:
    """Return the crowds for every kind of step, first ones first; none that is joined is changed in the same turn."""
    changed, joined = set[int](), set[int]()
    chosen: list[list[int]] = [[] for _ in targets]
    for crowd in order.tolist():
        target = int(targets[best[crowd]][crowd])
        if crowd in joined or target in changed:
            continue
        changed.add(crowd)
        if target != NO_CLASS:
            joined.add(target)
        chosen[best[crowd]].append(crowd)
    return chosen


def excess_visitors(visitors: Integers, persons: Integers, share: float) -> Integers:
    """Return by how many the visitors of each place are more than a share of the persons of each crowd.

    >>> excess_visitors(np.array([[3, 1]]), np.array([4]), 0.5).tolist()
    [[1, 0]]
    """
    most = np.ceil(share * persons).astype(np.int64)
    for _ in range(2):  # the share is rounded as by the promise, so at most one person more or less
        most -= (most / persons > share).astype(np.int64)
    return np.asarray(np.maximum(visitors - most[:, None], 0), dtype=np.int64)


def detours(points: Points) -> Floats:
    """Return by how many meters a way gets shorter without each of its points, and a little more."""
    if not points.has_coordinates:
        return np.full(len(points), EVERY_POINT)
    x, y = points.longitudes, points.latitudes
    at = np.arange(len(points))
    before = np.maximum(at - 1, points.offsets[points.trajectory])
    after = np.minimum(at + 1, points.offsets[points.trajectory + 1] - 1)
    legs = haversine(x[before], y[before], x, y) + haversine(x, y, x[after], y[after])
    straight = haversine(x[before], y[before], x[after], y[after])
    ends = (before == at) | (after == at)
    return EVERY_POINT + np.maximum(np.where(ends, legs, legs - straight), 0.0)


def _individuals(points: Points) -> Integers:
    """Return the person of every way, numbered from 0 on without gaps."""
    return np.unique(points.individual_of, return_inverse=True)[1].ravel().astype(np.int64)
