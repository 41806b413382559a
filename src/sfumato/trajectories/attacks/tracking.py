"""Tracking: put points without keys back together to ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core.attack import LINKABILITY, AttackResult
from sfumato.errors import SchemaError
from sfumato.trajectories._spatiotemporal import SECOND, positions_at, time_spans
from sfumato.trajectories.trajectories import Trajectories

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
FAR = 1e12  # meters: what cannot be
STEP_SECONDS, STEPS, MAX_SPEED = 600.0, 13, 50.0  # seconds between steps, steps of a window, meters in a second
RUNS, TRIES = 10, 200


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tracks:
    """What tracking found: for every step and person, whether the link to the next step is right."""

    right: npt.NDArray[np.bool_]
    every: float

    def time_to_confusion(self) -> Floats:
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
    require(is_finite_number(every) and every > 0, "track", "every", "a number of seconds above 0", every)
    require(is_finite_number(fastest) and fastest > 0, "track", "fastest", "a speed above 0", fastest)
    begins, ends = time_spans(ways.points)
    moments = np.arange(begins.max(), ends.min() + 1, int(every * SECOND))
    if len(moments) < 2 or len(ways) < 2:  # noqa: PLR2004 - a link has two ends
        raise SchemaError(
            "The ways share too little time to be followed; give ways of the same time, or smaller steps."
        )
    places = positions_at(ways.points, np.arange(len(ways)), moments, ways.area)
    return Tracks(right=_correct_links(places, fastest * every), every=every)


def _correct_links(places: Floats, farthest: float) -> npt.NDArray[np.bool_]:
    """Return for every step and way whether it is followed rightly; nobody goes farther than that in a step."""
    from scipy.optimize import linear_sum_assignment

    many, moments = places.shape[:2]
    at = np.arange(many)  # the way that every followed person seems to be on
    right = np.zeros((moments - 1, many), dtype=np.bool_)
    speed = np.zeros((many, 2))
    for step in range(moments - 1):
        here, there = places[at, step], places[:, step + 1]
        apart = here[:, None] + speed[:, None] - there[None]
        cost = np.hypot(apart[..., 0], apart[..., 1])
        moved = here[:, None] - there[None]
        cost[np.hypot(moved[..., 0], moved[..., 1]) > farthest] = FAR
        rows, columns = linear_sum_assignment(cost)
        chosen = np.empty(many, dtype=np.int64)
        chosen[rows] = columns
        right[step] = chosen == at
        speed, at = there[chosen] - here, chosen
    return right


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
            "median seconds": float(np.median(found.time_to_confusion())),
        },
    )


def windowed_tracking_attack(ways: Trajectories, rng: np.random.Generator, *, most: int = 50) -> AttackResult:
    """Attack points without keys by tracking in windows of two hours, drawn at random, where at least two ways are.

    The ways of a window are followed together or not at all, so that the interval counts windows.

    Parameters
    ----------
    ways : the trajectories, of any spans.
    rng : draws windows and ways.
    most : how many ways are followed in a window.
    """
    begins, ends = time_spans(ways.points)
    length = (STEPS - 1) * int(STEP_SECONDS * SECOND)
    long = np.flatnonzero(ends - begins >= length)
    followed: list[npt.NDArray[np.bool_]] = []
    links: list[float] = []
    for _ in range(TRIES):
        if len(followed) == RUNS or not len(long):
            break
        drawn = rng.choice(long)
        start = int(rng.integers(begins[drawn], ends[drawn] - length + 1))
        there = np.flatnonzero((begins <= start) & (ends >= start + length))
        if len(there) < 2:  # noqa: PLR2004 - nobody else can be taken for her
            continue
        moments = start + np.arange(STEPS) * int(STEP_SECONDS * SECOND)
        places = positions_at(ways.points, np.sort(rng.permutation(there)[:most]), moments, ways.area)
        right = _correct_links(places, MAX_SPEED * STEP_SECONDS)
        followed.append(np.asarray(right.all(axis=0)))
        links.append(float(right.mean()))
    if not followed:
        raise SchemaError("no two ways share two hours, so that nobody can be taken for somebody else.")
    everybody = np.concatenate(followed)
    return AttackResult(
        attack="tracking",
        question=LINKABILITY,
        targets=len(everybody),
        claims=len(everybody),
        successes=int(everybody.sum()),
        baseline=float(np.mean([1 / len(each) for each in followed])),
        control_targets=0,
        control_successes=0,
        details={"right links": float(np.mean(links))},
        runs=len(followed),
    )
