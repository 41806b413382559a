"""Recognize persons in published ways by their home and work, by a second source, by habits and by whom they meet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.attack import INFERENCE, SINGLING_OUT, AttackResult
from sfumato.errors import SchemaError
from sfumato.trajectories._publishing import select_points
from sfumato.trajectories.attacks.co_location import infer_friends
from sfumato.trajectories.attacks.mobility_markov_chains import CELL, MobilityMarkovChain, fit_chain
from sfumato.trajectories.attacks.source_linkage import Method, link_sources
from sfumato.trajectories.stay_points import StayPoints, find_stay_points, home_and_work_positions
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
MIN_PAIRS = 4  # half of which is learned from
FEWEST = 2  # visits that a transition has


@dataclass(frozen=True, kw_only=True, eq=False)
class Reidentification:
    """Published ways, the original, and who is who; adversaries know the original of some persons.

    Parameters
    ----------
    published, original : the ways, both with points and moments.
    shown_as : for every person of the original her number among those published, or -1.
    chosen : the persons who are attacked.
    meters : how near two places must be to be taken for one.
    rng : draws what is not known.
    """

    published: Trajectories
    original: Trajectories
    shown_as: Integers
    chosen: Integers
    meters: float
    rng: np.random.Generator

    def home_work(self) -> AttackResult:
        """Claim the only published person who sleeps and works near where the target does.

        Of a target who works nowhere, home alone is known. The control takes the target's own ways away.
        """
        zone = self.original.zone
        known = home_and_work_positions(self._stays(self.original), len(self.shown_as), zone)
        persons = int(self.published.points.individual_of.max()) + 1
        shown = home_and_work_positions(self._stays(self.published), persons, zone)
        near = [self._within_radius(side[self.chosen], other) for side, other in zip(known, shown, strict=True)]
        working = ~np.isnan(known[1][self.chosen, :1])
        both = near[0] & (near[1] | ~working)
        truth = self.shown_as[self.chosen]
        result = _unique_matches(both, truth)
        home = _unique_matches(near[0], truth)
        return AttackResult(
            attack="home-work",
            question=SINGLING_OUT,
            targets=len(truth),
            claims=result[0],
            successes=result[1],
            baseline=1 / persons,
            control_targets=len(truth),
            control_successes=result[2],
            details={
                "home is known": float((~np.isnan(known[0][self.chosen, 0])).mean()),
                "found by home alone": home[1] / len(truth),
            },
        )

    def linking(self, method: Method, source: Trajectories | None) -> AttackResult:
        """Link targets in a second source with those published; without any, the source has half of their points."""
        if source is None:
            points = select_points(self.original.points, self.rng.random(len(self.original.points)) < 1 / 2)
            known = np.arange(len(self.shown_as))
        else:
            number = {key: at for at, key in enumerate(self.original.keys)}
            points = source.points
            known = np.array([number.get(key, -1) for key in source.keys], dtype=np.int64)
        truth = np.where(known >= 0, self.shown_as[known], -1)
        there = np.isin(known, self.chosen) & (truth >= 0) & np.isin(np.arange(len(known)), points.individual_of)
        if not there.any():
            raise SchemaError("nobody of the second source is among the targets; give one with the same keys.")
        persons = np.flatnonzero(there)
        points = points.take(np.flatnonzero(there[points.individual_of]))
        first = replace(points, individual_of=np.searchsorted(persons, points.individual_of))
        return link_sources(
            Trajectories.from_points(first, zone=self.original.zone),
            self.published,
            truth=truth[persons],
            method=method,
        )

    def next_place(self) -> AttackResult:
        """Foretell where targets go next from the published ways of the time before, in the second half of their time.

        The claim is where the published way of a target most often goes from the place nearest to where she is;
        guessing names the place that all visit most. The control foretells from the way of somebody else. Steps of one
        person hang together, so that the interval counts persons.
        """
        stays, shown = self._stays(self.original), self._stays(self.published)
        middle = _most_visited_center(shown)
        persons, counts = int(self.published.points.individual_of.max()) + 1, []
        for person in self.chosen:
            own = fit_chain(stays.of_individual(int(person)))
            half = len(own.visits) // 2
            if half < FEWEST:
                continue
            number = int(self.shown_as[person])
            other = int(self.rng.integers(0, max(persons - 1, 1)))
            chains = [
                fit_chain(_stays_before(shown.of_individual(each), int(own.begins[half])))
                for each in (number, other + (other >= number))
            ]
            coming = np.column_stack([own.x, own.y])[own.visits[half:]]
            guessed = int((np.hypot(*(coming - middle).T) <= self.meters).sum())
            (right, favorite), (control, _) = (self._predicted(own, half, chain) for chain in chains)
            counts.append((len(coming), len(chains[0]) > 0, right, guessed, control, favorite))
        if not counts:
            raise SchemaError("nobody stays at enough places to learn where she goes next.")
        tried, claimed, right, guessed, control, favorite = np.array(counts, dtype=np.int64).T
        return AttackResult(
            attack="next-place",
            question=INFERENCE,
            targets=int(tried.sum()),
            claims=int(tried[claimed > 0].sum()),
            successes=int(right.sum()),
            baseline=float(guessed.sum() / tried.sum()),
            control_targets=int(tried.sum()),
            control_successes=int(control.sum()),
            details={"her most visited place is right": float(favorite.sum() / tried.sum())},
            runs=len(counts),
        )

    def _predicted(self, own: MobilityMarkovChain, half: int, learned: MobilityMarkovChain) -> tuple[int, int]:
        """Return how many steps of the second half are foretold rightly, and how many by her most visited place."""
        if not len(learned):
            return 0, 0
        start, end = own.visits[half - 1 : -1], own.visits[half:]
        visits = np.bincount(learned.visits, minlength=len(learned))
        following = np.zeros((len(learned), len(learned)))
        np.add.at(following, (learned.visits[:-1], learned.visits[1:]), 1.0)
        following += visits / (len(learned.visits) + 1)  # decides where nothing was seen
        places = np.column_stack([learned.x, learned.y])
        mine = np.column_stack([own.x, own.y])
        nearest = np.hypot(*(mine[start][:, None] - places).transpose(2, 0, 1)).argmin(axis=1)
        named = following.argmax(axis=1)[nearest], np.full(len(start), int(visits.argmax()))
        right, favorite = (int((np.hypot(*(places[each] - mine[end]).T) <= self.meters).sum()) for each in named)
        return right, favorite

    def friends(self, pairs: Integers, seconds: float) -> AttackResult:
        """Infer who knows whom from meetings of published persons; `pairs` are numbers of persons of the original."""
        known = self.shown_as[pairs]
        known = known[(known >= 0).all(axis=1)]
        if len(known) < MIN_PAIRS:
            raise SchemaError(f"fewer than {MIN_PAIRS} pairs who know each other are published.")
        seed = int(self.rng.integers(2**31))
        return infer_friends(self.published, known, meters=self.meters, seconds=seconds, seed=seed)

    def _stays(self, ways: Trajectories) -> StayPoints:
        return find_stay_points(Trajectories.from_points(ways.points, zone=self.original.zone, area=self.original.area))

    def _within_radius(self, known: Floats, shown: Floats) -> Flags:
        """Return which published persons are near which targets; who is nowhere is near nobody."""
        apart = np.hypot(known[:, None, 0] - shown[None, :, 0], known[:, None, 1] - shown[None, :, 1])
        return np.asarray(apart <= self.meters)


def _most_visited_center(stays: StayPoints) -> Floats:
    """Return the middle of the square with the most stays of all persons; without any, what is near nothing."""
    if not len(stays):
        return np.full(2, np.nan)
    squares = np.floor(np.column_stack([stays.x, stays.y]) / CELL)
    different, many = np.unique(squares, axis=0, return_counts=True)
    return np.asarray((different[many.argmax()] + 0.5) * CELL, dtype=np.float64)


def _stays_before(stays: StayPoints, moment: int) -> StayPoints:
    """Return the stays that ended before a moment."""
    early = stays.end < moment
    named = ("individual", "begin", "end", "x", "y")
    return StayPoints(**{name: getattr(stays, name)[early] for name in named})


def _unique_matches(near: Flags, truth: Integers) -> tuple[int, int, int]:
    """Return how many targets one published person alone fits, for how many it is she, and how many without herself."""
    rows = np.arange(len(truth))
    herself = (truth >= 0) & near[rows, truth]
    fits = near.sum(axis=1)
    alone = fits == 1
    return int(alone.sum()), int((alone & herself).sum()), int((fits - herself == 1).sum())
