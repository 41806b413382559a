"""Attack published ways as somebody who knows something about their persons would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core.attack import SINGLING_OUT, AttackResult, AttackResults
from sfumato.errors import SchemaError
from sfumato.trajectories._spatiotemporal import SECOND
from sfumato.trajectories.attacks._reidentification import Reidentification
from sfumato.trajectories.attacks.tracking import windowed_tracking_attack
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.trajectories import Points, Trajectories

ATTACKS = (
    "known-points",
    "home-work",
    "signal-linking",
    "markov-linking",
    "next-place",
    "who-knows-whom",
    "tracking",
)
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
NEVER = np.iinfo(np.int64).max


def attack(
    published: Trajectories | CloakedTrajectories,
    original: Trajectories,
    *,
    attacks: Sequence[str] = ATTACKS,
    points: int = 4,
    meters: float = 500.0,
    seconds: float = 3600.0,
    targets: int = 200,
    origin: Integers | None = None,
    source: Trajectories | None = None,
    friends: Sequence[tuple[str, str]] | None = None,
    seed: int | None = None,
) -> AttackResults:
    """Attack published ways by what an adversary knows about persons of the original.

    The attacks are `"known-points"`, `"home-work"`, `"signal-linking"`, `"markov-linking"`, `"next-place"`,
    `"who-knows-whom"` and `"tracking"`. What does not apply to the published form is skipped, with a sentence that says
    why.

    Parameters
    ----------
    published : what is attacked; the original itself, to compare.
    original : the persons who are attacked.
    attacks : which attacks to run; by default all.
    points : how many points are known; of a person with fewer, all of them.
    meters, seconds : how exactly places and moments are known.
    targets : how many persons are attacked.
    origin : the original way of every published way, which only the owner knows; by default as the release tells it.
    source : a second source of the same persons, with the same keys; by default half of their points.
    friends : pairs of keys of persons who know each other, to learn from and to test.
    seed : repeats the draws, which protect nobody.
    """
    _check_arguments(attacks, {"points": points, "targets": targets}, {"meters": meters, "seconds": seconds})
    rng = seeded_generator(draw_seed() if seed is None else seed)
    matcher = _PointMatcher(published, original, meters, int(seconds * SECOND), origin)
    chosen = rng.permutation(np.unique(original.points.individual_of))[:targets]
    known = None if friends is None else _friend_pairs(original, friends)
    lab = _AttackRunner(matcher, original, chosen, points, rng, source, known)
    found = {name: lab.run(name) for name in ATTACKS if name in attacks}
    return AttackResults(
        results=tuple(each for each in found.values() if not isinstance(each, str)),
        skipped={name: each for name, each in found.items() if isinstance(each, str)},
    )


def _check_arguments(attacks: Sequence[str], counts: dict[str, int], sizes: dict[str, float]) -> None:
    """Refuse what cannot be asked for."""
    for name, value in counts.items():
        require(is_integer(value) and value >= 1, "attack", name, "a whole number of at least 1", value)
    for name, exact in sizes.items():
        require(is_finite_number(exact) and exact > 0, "attack", name, "a number above 0", exact)
    for name in attacks:
        require(name in ATTACKS, "attack", "attacks", f"among {', '.join(ATTACKS)}", name)


def _friend_pairs(original: Trajectories, friends: Sequence[tuple[str, str]]) -> Integers:
    """Return the numbers of pairs of persons who are in the original."""
    number = {key: at for at, key in enumerate(original.keys)}
    pairs = [(number.get(str(one), -1), number.get(str(other), -1)) for one, other in friends]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    there = (found >= 0).all(axis=1) & (found[:, 0] != found[:, 1])
    return np.asarray(found[there])


@dataclass(frozen=True)
class _AttackRunner:
    """Runs attacks that apply, and says of others why not."""

    matcher: _PointMatcher
    original: Trajectories
    chosen: Integers
    points: int
    rng: np.random.Generator
    source: Trajectories | None
    friends: Integers | None

    def run(self, name: str) -> AttackResult | str:
        """Return the result of an attack, or a sentence that says why it does not apply."""
        why = self._unsupported(name)
        if why:
            return why
        try:
            return self._run_one(name)
        except SchemaError as error:
            return str(error)

    def _unsupported(self, name: str) -> str:
        """Say why an attack does not apply, if so."""
        published, known = self.matcher.published, self.original.points
        if name == "tracking" and published is not self.original:
            return "published ways have their keys; on the original it shows what points without keys would tell."
        if self.matcher.truth is None:
            return "who is who is known to the owner of the release only."
        if name == "known-points":
            return ""
        if isinstance(published, CloakedTrajectories):
            return "what is published are regions, not points; known points attack them."
        shown, why = published.points, ""
        if self.matcher.trip_keys:
            why = "every trip has a key of its own, so nobody's trips can be put together; known points attack each."
        elif name != "who-knows-whom" and not (shown.has_coordinates and known.has_coordinates):
            why = "it is not known where the places are."
        elif not (shown.timed and known.timed):
            why = "what is published has no moments."
        elif name == "who-knows-whom" and self.friends is None:
            why = "it needs pairs of persons who know each other; give them by friends=."
        return why

    def _run_one(self, name: str) -> AttackResult:
        if name == "known-points":
            drawn = (
                _sample_known_points(self.original.points, int(person), self.points, self.rng) for person in self.chosen
            )
            return _evaluate([self.matcher.matching_individuals(points) for points in drawn], self.chosen, self.matcher)
        if name == "tracking":
            return windowed_tracking_attack(self.original, self.rng)
        recognition = self._reidentification()
        runs: dict[str, Callable[[], AttackResult]] = {
            "home-work": recognition.home_work,
            "signal-linking": lambda: recognition.linking("signal", self.source),
            "markov-linking": lambda: recognition.linking("markov", self.source),
            "next-place": recognition.next_place,
            "who-knows-whom": lambda: recognition.friends(np.asarray(self.friends), self.matcher.window / SECOND),
        }
        return runs[name]()

    def _reidentification(self) -> Reidentification:
        published, truth = self.matcher.published, self.matcher.truth
        assert isinstance(published, Trajectories)  # noqa: S101 - else it was refused
        assert truth is not None  # noqa: S101 - else it was refused
        shown_as = np.full(int(self.original.points.individual_of.max()) + 1, -1, dtype=np.int64)
        shown_as[truth[truth >= 0]] = np.flatnonzero(truth >= 0)
        return Reidentification(
            published=published,
            original=self.original,
            shown_as=shown_as,
            chosen=self.chosen,
            meters=self.matcher.meters,
            rng=self.rng,
        )


class _PointMatcher:
    """Finds the persons of published ways that match known points."""

    def __init__(
        self,
        published: Trajectories | CloakedTrajectories,
        original: Trajectories,
        meters: float,
        window: int,
        origin: Integers | None,
    ) -> None:
        self.published, self.original, self.meters, self.window = published, original.points, meters, window
        self.owner = (
            published.individual_of if isinstance(published, CloakedTrajectories) else published.points.individual_of
        )
        ways = published.origin if isinstance(published, CloakedTrajectories) else published.points.origin
        known = origin if origin is not None else ways
        if published is original:
            known = np.arange(len(original))
        self.trip_keys = (
            published.trip_keys if isinstance(published, CloakedTrajectories) else published.points.trip_keys
        )
        self.truth = None if known is None else _true_matching(self.owner, original.points.individual_of[known])
        self.bin = (
            0 if isinstance(published, CloakedTrajectories) or published is original else _bin_width(published.points)
        )
        self.area: Area | None = original.area if original.points.has_coordinates else None

    def matching_individuals(self, known: Integers) -> Integers:
        """Return the published persons whose ways match every known point, given by their numbers.

        Where every trip has a key of its own, the known points of each trip are looked for, and the trip that fewest
        match is taken.
        """
        if not self.trip_keys:
            return self._matched(known)
        trips = self.original.trajectory[known]
        found = [each for trip in np.unique(trips) if len(each := self._matched(known[trips == trip]))]
        return min(found, key=len, default=np.empty(0, dtype=np.int64))

    def _matched(self, known: Integers) -> Integers:
        alive = np.zeros(int(self.owner.max()) + 1, dtype=np.bool_)
        alive[self.owner] = True
        for matching in self._found(known):
            if matching.any():
                alive &= np.bincount(self.owner[matching], minlength=len(alive)) > 0
        return np.flatnonzero(alive)

    def _found(self, known: Integers) -> Iterator[Flags]:
        """Yield which published ways match each known point or, in order, those of each original way."""
        if isinstance(self.published, CloakedTrajectories) or self.published.points.timed:
            yield from (self._matching(int(point)) for point in known)
            return
        for way in np.unique(self.original.trajectory[known]):
            yield self._in_order(self.published.points, known[self.original.trajectory[known] == way])

    def _in_order(self, points: Points, known: Integers) -> Flags:
        """Return which published ways have the known points in order; one visit may be two that were collapsed."""
        again = bool(((np.diff(points.trajectory) == 0) & (np.diff(self._places(points)) == 0)).any())
        last, alive = points.offsets[:-1] - 1, np.ones(points.n_trajectories, dtype=np.bool_)
        for point in known:
            near = np.flatnonzero(self._near(points, int(point)))
            if not len(near):
                continue  # left out of all ways
            later = near[near > last[points.trajectory[near]] - (not again)]
            last = np.full(points.n_trajectories, NEVER)
            np.minimum.at(last, points.trajectory[later], later)
            alive &= last < NEVER
        return alive

    def _places(self, points: Points) -> Integers:
        return np.arange(len(points)) if points.places is None else points.places

    def _matching(self, point: int) -> Flags:
        """Return which published ways match one known point."""
        if isinstance(self.published, CloakedTrajectories):
            return self._covering(self.published, point)
        points = self.published.points
        near = self._near(points, point)
        return np.asarray(np.bincount(points.trajectory[near], minlength=points.n_trajectories) > 0)

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

    def _covering(self, regions: CloakedTrajectories, point: int) -> Flags:
        west, south, east, north = regions.boxes.T
        x, y, time = (side[point] for side in (self.original.longitudes, self.original.latitudes, self.original.times))
        begin, end = regions.intervals.T
        covers = (west <= x) & (x <= east) & (south <= y) & (y <= north) & (begin <= time) & (time <= end)
        covered = np.bincount(regions.trajectory[covers], minlength=len(regions)) > 0
        return np.asarray(covered | self._possibly_suppressed(regions, point))

    def _possibly_suppressed(self, regions: CloakedTrajectories, point: int) -> Flags:
        """Return the ways that might have left the point out: those with no region at its moment."""
        begin, end = regions.intervals.T
        time = self.original.times[point]
        there = np.bincount(regions.trajectory[(begin <= time) & (time <= end)], minlength=len(regions)) > 0
        return np.asarray(~there)


def _bin_width(points: Points) -> int:
    """Return how long the bins of time are that places are published for; 0 where moments are published."""
    if points.has_coordinates or not points.timed:
        return 0
    return int(np.gcd.reduce(points.times))


def _true_matching(published: Integers, original: Integers) -> Integers:
    """Return the original person of every published one."""
    found = np.full(int(published.max()) + 1, -1, dtype=np.int64)
    found[published] = original
    return found


def _sample_known_points(points: Points, person: int, count: int, rng: np.random.Generator) -> Integers:
    own = np.flatnonzero(points.individual == person)
    return np.sort(rng.permutation(own)[:count])


def _evaluate(found: list[Integers], chosen: Integers, matcher: _PointMatcher) -> AttackResult:
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
