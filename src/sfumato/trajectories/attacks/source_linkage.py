"""Link the persons of two sources by where they stay."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core.attack import LINKABILITY, AttackResult
from sfumato.trajectories.attacks.mobility_markov_chains import chain_distances, fit_chains
from sfumato.trajectories.stay_points import StayPoints, find_stay_points
from sfumato.trajectories.trajectories import Trajectories

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Method: TypeAlias = Literal["signal", "markov"]
CORE = 0.6  # of the stays, which send signals
CELL = 200.0  # meters within which stays are at one place
DECAY_DISTANCE = 500.0  # meters


def link_sources(
    first: Trajectories,
    second: Trajectories,
    *,
    truth: Integers,
    method: Method = "signal",
    meters: float = 200.0,
    minutes: float = 20.0,
) -> AttackResult:
    """Link the persons of one source with those of another [1]_.

    `"signal"` lets the most visited stays of a person send signals that fade with distance, received by all stays of
    the other; `"markov"` compares chains of stays and transitions. A link is claimed where both are each other's best;
    `details` tell how often the best candidate and the best assignment of all are right. Guessing picks anybody.

    Parameters
    ----------
    first, second : the sources.
    truth : for every person of the first source her number in the second; -1 for those who are not there, who are the
        control: every link that is claimed for them is false. If all are there, the control takes everybody for the
        next one: how often links would be right if they said nothing about who is who.
    method : how persons are compared.
    meters, minutes : what a stay is, as for `find_stay_points`.

    References
    ----------
    .. [1] Gambs, Killijian, Núñez del Prado Cortez, "De-anonymization attack on geolocated data", JCSS 80(8), 2014.
       https://doi.org/10.1016/j.jcss.2014.04.024
    """
    require(method in {"signal", "markov"}, "link_sources", "method", '"signal" or "markov"', method)
    require(is_finite_number(meters) and meters > 0, "link_sources", "meters", "a number above 0", meters)
    known = np.asarray(truth, dtype=np.int64)
    persons = int(first.points.individual_of.max()) + 1
    require(len(known) == persons, "link_sources", "truth", f"{persons} numbers, one for every person", len(known))
    placed = [Trajectories.from_points(ways.points, zone=ways.zone, area=first.area) for ways in (first, second)]
    stays = [find_stay_points(ways, meters=meters, minutes=minutes) for ways in placed]
    many = [persons, int(second.points.individual_of.max()) + 1]
    if method == "signal":
        scores = signal_scores(stays[0], stays[1], many[0], many[1])
    else:
        scores = _chain_scores(first, stays, many)
    return _evaluate_links(scores, known, method)


def signal_scores(first: StayPoints, second: StayPoints, persons: int, others: int) -> Floats:
    """Return how strongly the stays of every person of one source signal to those of every one of the other."""
    return _sum_signals(first, second, persons, others) / np.sqrt(
        np.maximum(np.outer(_self_strength(first, persons), _self_strength(second, others)), np.finfo(np.float64).tiny)
    )


def _self_strength(stays: StayPoints, persons: int) -> Floats:
    """Return the strength of everybody's signals to herself."""
    weights, core = _weights(stays)
    found = np.zeros(persons)
    for person in range(persons):
        own = np.flatnonzero(stays.individual == person)
        if len(own):
            faded = _decay(stays, own, stays, own) * np.outer(weights[own], weights[own])
            found[person] = faded[core[own]].sum() * 2
    return found


def _sum_signals(first: StayPoints, second: StayPoints, persons: int, others: int) -> Floats:
    """Sum what the core stays of each send and all stays of the other receive, in both directions."""
    (weight, core), (other_weight, other_core) = _weights(first), _weights(second)
    found = np.zeros((persons, others))
    into = np.zeros((len(second), others))
    into[np.arange(len(second)), second.individual] = 1.0
    for person in range(persons):
        own = np.flatnonzero(first.individual == person)
        if not len(own):
            continue
        faded = _decay(first, own, second, np.arange(len(second))) * np.outer(weight[own], other_weight)
        sent = faded[core[own]].sum(axis=0) + (faded * other_core[None, :]).sum(axis=0)
        found[person] = sent @ into
    return found


def _decay(first: StayPoints, own: Integers, second: StayPoints, others: Integers) -> Floats:
    apart = np.hypot(first.x[own][:, None] - second.x[others], first.y[own][:, None] - second.y[others])
    return np.asarray(np.exp(-apart / DECAY_DISTANCE), dtype=np.float64)


def _weights(stays: StayPoints) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the share of every stay among those of its person, and whether its place is among the most visited."""
    persons = int(stays.individual.max(initial=-1)) + 1
    count = np.bincount(stays.individual, minlength=persons)
    weight = 1.0 / np.maximum(count[stays.individual], 1)
    core = np.zeros(len(stays), dtype=np.bool_)
    columns, rows = (stays.x // CELL).astype(np.int64), (stays.y // CELL).astype(np.int64)
    place = np.unique(np.column_stack([stays.individual, columns, rows]), axis=0, return_inverse=True)[1].ravel()
    visits = np.bincount(place)[place]
    order = np.lexsort((place, -visits, stays.individual))
    rank = np.arange(len(stays)) - np.repeat(np.cumsum(count) - count, count)
    core[order] = rank < CORE * count[stays.individual[order]]
    return weight, core


def _chain_scores(frame: Trajectories, stays: list[StayPoints], many: list[int]) -> Floats:
    """Return how near the Markov chains of all pairs of persons are; nearer is larger."""
    chains = [fit_chains(each, count) for each, count in zip(stays, many, strict=True)]
    largest = np.hypot(frame.area.width, frame.area.height)
    return np.asarray(1 - chain_distances(*chains) / largest, dtype=np.float64)


def _evaluate_links(scores: Floats, truth: Integers, method: str) -> AttackResult:
    """Claim links that are best for both sides."""
    from scipy.optimize import linear_sum_assignment

    best, best_back = scores.argmax(axis=1), scores.argmax(axis=0)
    usable = np.isfinite(scores).any(axis=1) & (scores.max(axis=1) > 0)
    mutual = (best_back[best] == np.arange(len(best))) & usable
    there = truth >= 0
    rows, columns = linear_sum_assignment(-np.nan_to_num(scores))
    assigned = np.full(len(best), -1)
    assigned[rows] = columns
    control = mutual[~there] if not there.all() else mutual & (best == np.roll(truth, 1))
    return AttackResult(
        attack=f"{method}-linking",
        question=LINKABILITY,
        targets=int(there.sum()),
        claims=int((mutual & there).sum()),
        successes=int((mutual & there & (best == truth)).sum()),
        baseline=1 / scores.shape[1],
        control_targets=len(control),
        control_successes=int(control.sum()),
        details={
            "best is right": float((usable & (best == truth))[there].mean()),
            "assignment is right": float((assigned == truth)[there].mean()),
        },
    )
