"""Attack published ways as somebody who knows a few points of a person would."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.attacks.base import SINGLING_OUT
from sfumato.attacks.results import AttackResult, Attacks
from sfumato.places.cells import SECOND
from sfumato.places.earth import Area
from sfumato.places.region_ways import RegionWays
from sfumato.places.trajectories import Points, Trajectories
from sfumato.randomness import draw_seed, generator
from sfumato.validation import is_number, is_whole, require

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
NEVER = np.iinfo(np.int64).max


def attack(
    published: Trajectories | RegionWays,
    original: Trajectories,
    *,
    points: int = 4,
    meters: float = 500.0,
    seconds: float = 3600.0,
    targets: int = 200,
    origin: Integers | None = None,
    seed: int | None = None,
) -> Attacks:
    """Attack published ways by a few known points of persons of the original.

    The adversary knows where a person was at a few moments, to so many meters and seconds. A published way matches a
    known point if it is within that of it at some moment, or if one of its regions covers it. Places match by their
    names: in the bin of time of a known moment if bins are published, else in the order of the known points. A known
    point that no way matches was left out, so it is not asked for. She claims the one person whose ways match, if there
    is only one. Guessing picks any person. The control removes the target's own ways, and counts the claims that are
    made all the same: all of them are false.

    Parameters
    ----------
    published : what is attacked; the original itself, to compare.
    original : the persons who are attacked.
    points : how many points are known; of a person with fewer, all of them.
    meters, seconds : how exactly they are known.
    targets : how many persons are attacked.
    origin : the original way of every published way, which only the owner knows; by default as the release tells it.
    seed : repeats the draws, which protect nobody.
    """
    for name, value in (("points", points), ("targets", targets)):
        require(is_whole(value) and value >= 1, "attack", name, "a whole number of at least 1", value)
    for name, exact in (("meters", meters), ("seconds", seconds)):
        require(is_number(exact) and exact > 0, "attack", name, "a number above 0", exact)
    rng = generator(draw_seed() if seed is None else seed)
    matcher = _Matcher(published, original, meters, int(seconds * SECOND), origin)
    if matcher.truth is None:
        return Attacks(results=(), skipped={"known-points": "who is who is known to the owner of the release only."})
    chosen = rng.permutation(np.unique(original.points.owner))[:targets]
    found = [matcher.persons(_known(original.points, int(person), points, rng)) for person in chosen]
    return Attacks(results=(_judged(found, chosen, matcher),))


class _Matcher:
    """Finds the persons of published ways that match known points."""

    def __init__(
        self,
        published: Trajectories | RegionWays,
        original: Trajectories,
        meters: float,
        window: int,
        origin: Integers | None,
    ) -> None:
        self.published, self.original, self.meters, self.window = published, original.points, meters, window
        self.owner = published.owner if isinstance(published, RegionWays) else published.points.owner
        ways = published.origin if isinstance(published, RegionWays) else published.points.origin
        known = origin if origin is not None else ways
        if published is original:
            known = np.arange(len(original))
        self.truth = None if known is None else _truth(self.owner, original.points.owner[known])
        self.bin = 0 if isinstance(published, RegionWays) or published is original else _bin(published.points)
        self.area: Area | None = original.area if original.points.has_coordinates else None

    def persons(self, known: Integers) -> Integers:
        """Return the published persons whose ways match every known point, given by their numbers."""
        alive = np.zeros(int(self.owner.max()) + 1, dtype=np.bool_)
        alive[self.owner] = True
        for matching in self._found(known):
            if matching.any():
                alive &= np.bincount(self.owner[matching], minlength=len(alive)) > 0
        return np.flatnonzero(alive)

    def _found(self, known: Integers) -> Iterator[Flags]:
        """Yield which published ways match each known point or, in order, those of each original way."""
        if isinstance(self.published, RegionWays) or self.published.points.timed:
            yield from (self._matching(int(point)) for point in known)
            return
        for way in np.unique(self.original.way[known]):
            yield self._in_order(self.published.points, known[self.original.way[known] == way])

    def _in_order(self, points: Points, known: Integers) -> Flags:
        """Return which published ways have the known points in order; one visit may be two that were collapsed."""
        again = bool(((np.diff(points.way) == 0) & (np.diff(self._places(points)) == 0)).any())
        last, alive = points.offsets[:-1] - 1, np.ones(points.ways, dtype=np.bool_)
        for point in known:
            near = np.flatnonzero(self._near(points, int(point)))
            if not len(near):
                continue  # left out of all ways
            later = near[near > last[points.way[near]] - (not again)]
            last = np.full(points.ways, NEVER)
            np.minimum.at(last, points.way[later], later)
            alive &= last < NEVER
        return alive

    def _places(self, points: Points) -> Integers:
        return np.arange(len(points)) if points.places is None else points.places

    def _matching(self, point: int) -> Flags:
        """Return which published ways match one known point."""
        if isinstance(self.published, RegionWays):
            return self._covering(self.published, point)
        points = self.published.points
        near = self._near(points, point)
        return np.asarray(np.bincount(points.way[near], minlength=points.ways) > 0)

    def _near(self, points: Points, point: int) -> Flags:
        known = self.original
        if points.timed and known.timed:
            after = known.times[point] - points.times
            near = (-self.window <= after) & (after <= self.window + self.bin)
        else:
            near = np.ones(len(points), dtype=np.bool_)
        if points.has_coordinates and self.area is not None:
            x, y = self.area.to_plane(points.longitudes, points.latitudes)
            at = self.area.to_plane(known.longitudes[point : point + 1], known.latitudes[point : point + 1])
            return np.asarray(near & (np.hypot(x - at[0], y - at[1]) <= self.meters))
        if points.places is None or known.places is None:
            return np.asarray(near)
        name = known.names[known.places[point]]
        named = np.array([name in each.split(" | ") for each in points.names], dtype=np.bool_)
        return np.asarray(near & named[points.places])

    def _covering(self, regions: RegionWays, point: int) -> Flags:
        west, south, east, north = regions.boxes.T
        x, y, time = (side[point] for side in (self.original.longitudes, self.original.latitudes, self.original.times))
        begin, end = regions.intervals.T
        covers = (west <= x) & (x <= east) & (south <= y) & (y <= north) & (begin <= time) & (time <= end)
        covered = np.bincount(regions.way[covers], minlength=len(regions)) > 0
        return np.asarray(covered | self._left_out(regions, point))

    def _left_out(self, regions: RegionWays, point: int) -> Flags:
        """Return the ways that might have left the point out: those with no region at its moment."""
        begin, end = regions.intervals.T
        time = self.original.times[point]
        there = np.bincount(regions.way[(begin <= time) & (time <= end)], minlength=len(regions)) > 0
        return np.asarray(~there)


def _bin(points: Points) -> int:
    """Return how long the bins of time are that places are published for; 0 where moments are published."""
    if points.has_coordinates or not points.timed:
        return 0
    return int(np.gcd.reduce(points.times))


def _truth(published: Integers, original: Integers) -> Integers:
    """Return the original person of every published one."""
    found = np.full(int(published.max()) + 1, -1, dtype=np.int64)
    found[published] = original
    return found


def _known(points: Points, person: int, count: int, rng: np.random.Generator) -> Integers:
    own = np.flatnonzero(points.person == person)
    return np.sort(rng.permutation(own)[:count])


def _judged(found: list[Integers], chosen: Integers, matcher: _Matcher) -> AttackResult:
    assert matcher.truth is not None  # noqa: S101 - the caller looked
    truth, persons = matcher.truth, len(np.unique(matcher.owner))
    named = [truth[each] for each in found]
    claims = sum(len(each) == 1 for each in found)
    right = sum(len(each) == 1 and int(each[0]) == person for each, person in zip(named, chosen.tolist(), strict=True))
    others = [each[each != person] for each, person in zip(named, chosen, strict=True)]
    there = [bool((each == person).any()) for each, person in zip(named, chosen, strict=True)]
    return AttackResult(
        attack="known-points",
        question=SINGLING_OUT,
        targets=len(chosen),
        claims=claims,
        successes=right,
        baseline=1 / persons,
        control_targets=len(chosen),
        control_successes=sum(len(each) == 1 for each in others),
        details={
            "matching persons": float(np.mean([len(each) for each in found])),
            "in the crowd": float(np.mean(there)),
        },
    )
