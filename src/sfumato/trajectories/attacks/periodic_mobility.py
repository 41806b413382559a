"""The periodic mobility model: somebody is around her home or her work, which one depends on the hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number, require
from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.trajectories._spatiotemporal import SECOND
from sfumato.trajectories.trajectories import Trajectories

Floats = npt.NDArray[np.float64]
DAY = 86_400.0
STARTS, ROUNDS = 10, 60
TRIMMED = 0.05  # of the points in every round, which are errands
MIN_SPREAD = 25.0  # meters
MIN_HOURS = 1.0
FEWEST = 8  # points that a model is fitted to


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeriodicMobility:
    """Two places of one person, each a Gaussian around its middle, and when she is at which.

    Parameters
    ----------
    middle : the middle of both places, rows of two numbers in meters.
    spread : the covariance of both.
    hour, hours : the middle and the standard deviation of the hours of day at each.
    weight : the share of each.
    """

    middle: Floats
    spread: Floats
    hour: Floats
    hours: Floats
    weight: Floats

    def probabilities(self, clock: Floats) -> Floats:
        """Return how likely each place is at hours of day, a row for every hour."""
        apart = np.abs(clock[:, None] - self.hour[None, :])
        apart = np.minimum(apart, 24 - apart)
        found = self.weight * np.exp(-0.5 * (apart / self.hours) ** 2) / self.hours
        found += np.finfo(np.float64).tiny
        return np.asarray(found / found.sum(axis=1, keepdims=True), dtype=np.float64)

    def densities(self, places: Floats) -> Floats:
        """Return the density of both places at points, a row for every point."""
        columns = []
        for middle, spread in zip(self.middle, self.spread, strict=True):
            away = places - middle
            far = np.einsum("ni,ij,nj->n", away, np.linalg.inv(spread), away)
            columns.append(np.exp(-0.5 * far) / (2 * np.pi * np.sqrt(np.linalg.det(spread))))
        return np.column_stack(columns)

    def predict(self, clock: Floats) -> Floats:
        """Return where the person most likely is at hours of day: the middle of the place with the larger density."""
        peak = np.array([1 / np.sqrt(np.linalg.det(spread)) for spread in self.spread])
        return np.asarray(self.middle[(self.probabilities(clock) * peak).argmax(axis=1)], dtype=np.float64)


def fit_periodic_mobility(places: Floats, clock: Floats, *, seed: int = 0) -> PeriodicMobility:
    """Fit the model to the points of one person by expectation and maximization, from several starts [1]_.

    In every round the 5 % of the points that fit worst are left out, for they are errands.

    Parameters
    ----------
    places : rows of two numbers in meters.
    clock : the hour of day of every point, from 0 to 24.
    seed : repeats the starts.

    References
    ----------
    .. [1] Cho, Myers, Leskovec, "Friendship and mobility: user movement in location-based social networks", KDD 2011.
       https://doi.org/10.1145/2020408.2020579
    """
    require(len(places) >= FEWEST, "fit_periodic_mobility", "places", f"at least {FEWEST} points", len(places))
    rng = seeded_generator(seed)
    best, most = None, -np.inf
    for _ in range(STARTS):
        share = np.zeros((len(places), 2))
        first, second = places[rng.permutation(len(places))[:2]]
        nearer = np.hypot(*(places - first).T) <= np.hypot(*(places - second).T)
        share[np.arange(len(places)), np.where(nearer, 0, 1)] = 1.0
        model, likelihood = _fit_once(places, clock, share)
        if likelihood > most:
            best, most = model, likelihood
    assert best is not None  # noqa: S101 - there was a start
    return best


def _fit_once(places: Floats, clock: Floats, share: Floats) -> tuple[PeriodicMobility, float]:
    kept = np.ones(len(places), dtype=np.bool_)
    model, likelihood = _maximization_step(places, clock, share), -np.inf
    for _ in range(ROUNDS):
        joint = model.densities(places) * model.probabilities(clock) + np.finfo(np.float64).tiny
        fit = np.log(joint.sum(axis=1))
        kept = fit >= np.quantile(fit, TRIMMED)
        before, likelihood = likelihood, float(fit[kept].sum())
        if likelihood - before < 1e-6 * abs(likelihood):
            break
        share = joint / joint.sum(axis=1, keepdims=True)
        model = _maximization_step(places[kept], clock[kept], share[kept])
    return model, likelihood


def _maximization_step(places: Floats, clock: Floats, share: Floats) -> PeriodicMobility:
    """Return the model that fits points best, given how much each belongs to which place."""
    total = np.maximum(share.sum(axis=0), 1e-9)
    middle = (share.T @ places) / total[:, None]
    spread = np.empty((2, 2, 2))
    angle = clock / 24 * 2 * np.pi
    sine, cosine = (share.T @ np.sin(angle)) / total, (share.T @ np.cos(angle)) / total
    length = np.clip(np.hypot(sine, cosine), 1e-6, 1 - 1e-9)
    for number in range(2):
        away = places - middle[number]
        spread[number] = (away * share[:, [number]]).T @ away / total[number] + np.eye(2) * MIN_SPREAD**2
    return PeriodicMobility(
        middle=middle,
        spread=spread,
        hour=np.arctan2(sine, cosine) / (2 * np.pi) * 24 % 24,
        hours=np.maximum(np.sqrt(-2 * np.log(length)) * 24 / (2 * np.pi), MIN_HOURS),
        weight=total / total.sum(),
    )


def predict_periodic(ways: Trajectories, *, meters: float = 500.0) -> AttackResult:
    """Predict where persons are at later moments: fit the first half of everybody's points and test the second.

    A prediction is right if it is within `meters` of where the person is. Guessing names the place where most of the
    person's points of the first half are near.

    Parameters
    ----------
    ways : the trajectories.
    meters : how near a prediction must be.
    """
    require(is_finite_number(meters) and meters > 0, "predict_periodic", "meters", "a number above 0", meters)
    points = ways.points
    x, y = ways.area.to_plane(points.longitudes, points.latitudes)
    clock = points.times / SECOND % DAY / 3600
    right = guessed = tried = 0
    for person in np.unique(points.individual_of):
        own = np.flatnonzero(points.individual == person)
        half = len(own) // 2
        if half < FEWEST:
            continue
        places = np.column_stack([x[own], y[own]])
        seen, coming = places[:half], places[half:]
        model = fit_periodic_mobility(seen, clock[own[:half]])
        far = np.hypot(*(model.predict(clock[own[half:]]) - coming).T)
        right += int((far <= meters).sum())
        near = (np.hypot(*(seen[:, None] - seen[None]).transpose(2, 0, 1)) <= meters).sum(axis=1)
        guessed += int((np.hypot(*(coming - seen[near.argmax()]).T) <= meters).sum())
        tried += len(coming)
    return AttackResult(
        attack="periodic-mobility",
        question=INFERENCE,
        targets=max(tried, 1),
        claims=tried,
        successes=right,
        baseline=guessed / max(tried, 1),
        control_targets=0,
        control_successes=0,
    )
