"""Recognize persons in published ways by their home and work, by a second source, by habits and by whom they meet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.attacks.base import INFERENCE, SINGLING_OUT
from sfumato.attacks.results import AttackResult
from sfumato.exceptions import SchemaError
from sfumato.places.linking_sources import Method, link_sources
from sfumato.places.markov_chains import MarkovChain, find_chain
from sfumato.places.meetings import infer_friends
from sfumato.places.publishing import only_points
from sfumato.places.stays import Stays, find_anchor_places, find_stays
from sfumato.places.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
FEWEST_PAIRS = 4  # half of which is learned from
FEWEST = 2  # visits that a transition has


@dataclass(frozen=True, kw_only=True, eq=False)
class Recognition:
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
        known = find_anchor_places(self._stays(self.original), len(self.shown_as), zone)
        persons = int(self.published.points.owner.max()) + 1
        shown = find_anchor_places(self._stays(self.published), persons, zone)
        near = [self._near(side[self.chosen], other) for side, other in zip(known, shown, strict=True)]
        working = ~np.isnan(known[1][self.chosen, :1])
        both = near[0] & (near[1] | ~working)
        truth = self.shown_as[self.chosen]
        result = _singled_out(both, truth)
        home = _singled_out(near[0], truth)
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
        """Link persons of a second source with those published; without any, the source has half of their points."""
        points, owner, truth = self._half() if source is None else self._second(source)
        known = Trajectories.of(replace(points, owner=owner), zone=self.original.zone)
        return link_sources(known, self.published, truth=truth, method=method)

    def _half(self) -> tuple[Points, Integers, Integers]:
        """Take a random half of the points of the targets, and return who they are in what is published."""
        own = self.original.points.take(np.flatnonzero(np.isin(self.original.points.owner, self.chosen)))
        kept = only_points(own, self.rng.random(len(own)) < 1 / 2)
        persons, owner = np.unique(kept.owner, return_inverse=True)
        return kept, owner.ravel(), self.shown_as[persons]

    def _second(self, source: Trajectories) -> tuple[Points, Integers, Integers]:
        """Take as many persons of a second source as are attacked, and return who they are in what is published."""
        number = {key: at for at, key in enumerate(self.original.keys)}
        known = np.array([number.get(key, -1) for key in source.keys], dtype=np.int64)
        persons = np.sort(self.rng.permutation(np.unique(source.points.owner))[: len(self.chosen)])
        points = source.points.take(np.flatnonzero(np.isin(source.points.owner, persons)))
        truth = np.where(known[persons] >= 0, self.shown_as[known[persons]], -1)
        return points, np.searchsorted(persons, points.owner), truth

    def next_place(self) -> AttackResult:
        """Foretell where targets go next from the published ways of the time before, in the second half of their time.

        The claim is where the published way of a target most often goes from the place nearest to where she is;
        guessing names the place that it visits most. The control foretells from the way of somebody else. Steps of one
        person hang together, so that the interval counts persons.
        """
        stays, shown = self._stays(self.original), self._stays(self.published)
        persons, counts = int(self.published.points.owner.max()) + 1, []
        for person in self.chosen:
            own = find_chain(stays.of(int(person)))
            half = len(own.visits) // 2
            if half < FEWEST:
                continue
            number = int(self.shown_as[person])
            other = int(self.rng.integers(0, max(persons - 1, 1)))
            chains = [
                find_chain(_until(shown.of(each), int(own.begins[half])))
                for each in (number, other + (other >= number))
            ]
            right, guessed = self._foretold(own, half, chains[0])
            counts.append(
                (len(own.visits) - half, len(chains[0]) > 0, right, guessed, self._foretold(own, half, chains[1])[0])
            )
        if not counts:
            raise SchemaError("nobody stays at enough places to learn where she goes next.")
        tried, claimed, right, guessed, control = np.array(counts, dtype=np.int64).T
        return AttackResult(
            attack="next-place",
            question=INFERENCE,
            targets=int(tried.sum()),
            claims=int(tried[claimed > 0].sum()),
            successes=int(right.sum()),
            baseline=float(guessed.sum() / tried.sum()),
            control_targets=int(tried.sum()),
            control_successes=int(control.sum()),
            runs=len(counts),
        )

    def _foretold(self, own: MarkovChain, half: int, learned: MarkovChain) -> tuple[int, int]:
        """Return how many steps of the second half are foretold rightly, and how many by the most visited place."""
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
        right, guessed = (int((np.hypot(*(places[each] - mine[end]).T) <= self.meters).sum()) for each in named)
        return right, guessed

    def friends(self, pairs: Integers, seconds: float) -> AttackResult:
        """Infer who knows whom from meetings of published persons; `pairs` are numbers of persons of the original."""
        known = self.shown_as[pairs]
        known = known[(known >= 0).all(axis=1)]
        if len(known) < FEWEST_PAIRS:
            raise SchemaError(f"fewer than {FEWEST_PAIRS} pairs who know each other are published.")
        seed = int(self.rng.integers(2**31))
        return infer_friends(self.published, known, meters=self.meters, seconds=seconds, seed=seed)

    def _stays(self, ways: Trajectories) -> Stays:
        return find_stays(Trajectories.of(ways.points, zone=self.original.zone, area=self.original.area))

    def _near(self, known: Floats, shown: Floats) -> Flags:
        """Return which published persons are near which targets; who is nowhere is near nobody."""
        apart = np.hypot(known[:, None, 0] - shown[None, :, 0], known[:, None, 1] - shown[None, :, 1])
        return np.asarray(apart <= self.meters)


def _until(stays: Stays, moment: int) -> Stays:
    """Return the stays that ended before a moment."""
    early = stays.end < moment
    named = ("person", "begin", "end", "x", "y")
    return Stays(**{name: getattr(stays, name)[early] for name in named})


def _singled_out(near: Flags, truth: Integers) -> tuple[int, int, int]:
    """Return how many targets one published person alone fits, for how many it is she, and how many without herself."""
    rows = np.arange(len(truth))
    herself = (truth >= 0) & near[rows, truth]
    fits = near.sum(axis=1)
    alone = fits == 1
    return int(alone.sum()), int((alone & herself).sum()), int((fits - herself == 1).sum())
