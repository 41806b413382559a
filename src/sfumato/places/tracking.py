"""Tracking: put points without keys back together to ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.base import LINKABILITY
from sfumato.attacks.results import AttackResult
from sfumato.exceptions import SchemaError
from sfumato.places.cells import SECOND
from sfumato.places.interpolating import places_at, spans
from sfumato.places.trajectories import Trajectories
from sfumato.validation import is_number, require

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
FAR = 1e12  # meters: what cannot be


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tracks:
    """What tracking found: for every step and person, whether the link to the next step is right."""

    right: npt.NDArray[np.bool_]
    every: float

    def first_wrong(self) -> Floats:
        """Return how many seconds every person is followed until the first wrong link; the whole time if none is."""
        wrong = np.vstack([~self.right, np.ones((1, self.right.shape[1]), dtype=np.bool_)])
        return np.asarray(wrong.argmax(axis=0) * self.every, dtype=np.float64)


def track(ways: Trajectories, *, every: float = 60.0, fastest: float = 50.0) -> Tracks:
    """Follow persons whose keys were taken away [1]_.

    All ways are looked at every so many seconds of the time that they share. At each step, everybody is where she
    would be at her last speed; all points of the next step are assigned at the least total distance, and nobody is
    faster than `fastest`.

    Parameters
    ----------
    ways : the trajectories; their keys are used only to tell which links are right.
    every : seconds between two steps.
    fastest : meters in a second.

    References
    ----------
    .. [1] Gruteser, Hoh, "On the anonymity of periodic location samples", SPC 2005.
       https://doi.org/10.1007/978-3-540-32004-3_19
    """
    from scipy.optimize import linear_sum_assignment

    require(is_number(every) and every > 0, "track", "every", "a number of seconds above 0", every)
    require(is_number(fastest) and fastest > 0, "track", "fastest", "a speed above 0", fastest)
    begins, ends = spans(ways.points)
    moments = np.arange(begins.max(), ends.min() + 1, int(every * SECOND))
    if len(moments) < 2 or len(ways) < 2:  # noqa: PLR2004 - a link has two ends
        raise SchemaError(
            "The ways share too little time to be followed; give ways of the same time, or smaller steps."
        )
    places = places_at(ways.points, np.arange(len(ways)), moments, ways.area)
    at = np.arange(len(ways))  # the way that every followed person seems to be on
    right = np.zeros((len(moments) - 1, len(ways)), dtype=np.bool_)
    speed = np.zeros((len(ways), 2))
    for step in range(len(moments) - 1):
        here, there = places[at, step], places[:, step + 1]
        apart = here[:, None] + speed[:, None] - there[None]
        cost = np.hypot(apart[..., 0], apart[..., 1])
        moved = here[:, None] - there[None]
        cost[np.hypot(moved[..., 0], moved[..., 1]) > fastest * every] = FAR
        rows, columns = linear_sum_assignment(cost)
        chosen = np.empty(len(ways), dtype=np.int64)
        chosen[rows] = columns
        right[step] = chosen == at
        speed, at = there[chosen] - here, chosen
    return Tracks(right=right, every=every)


def tracking_attack(ways: Trajectories, *, every: float = 60.0, fastest: float = 50.0) -> AttackResult:
    """Attack points without keys by tracking: how many persons are followed to the end of the time."""
    found = track(ways, every=every, fastest=fastest)
    followed = np.asarray(found.right.all(axis=0)).reshape(-1)
    return AttackResult(
        attack="tracking",
        question=LINKABILITY,
        targets=len(followed),
        claims=len(followed),
        successes=int(followed.sum()),
        baseline=1 / len(followed),
        control_targets=0,
        control_successes=0,
        details={
            "right links": float(found.right.mean()),
            "median seconds": float(np.median(found.first_wrong())),
        },
    )
