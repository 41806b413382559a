"""Mobility Markov chains: the places where somebody stays, and where she goes from each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.trajectories.stay_points import StayPoints

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
LEAST = 0.05  # of the time at all stays, from which on a place is a state
CELL = 200.0  # meters


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MobilityMarkovChain:
    """States of one person, how often each goes to each, and how much time is spent at each in the long run.

    Parameters
    ----------
    x, y : where the states are, in meters.
    transitions : shares, a row for every state.
    stationary : the long-run share of every state.
    visits : the states in the order in which they were visited.
    begins : when each of these visits began, in microseconds.
    """

    x: Floats
    y: Floats
    transitions: Floats
    stationary: Floats
    visits: Integers
    begins: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.x)


def fit_chain(stays: StayPoints) -> MobilityMarkovChain:
    """Find the chain of one person from her stays: states are squares where she spends 5 % of her time or more."""
    cells = np.column_stack([(stays.x // CELL).astype(np.int64), (stays.y // CELL).astype(np.int64)])
    _, place = np.unique(cells, axis=0, return_inverse=True)
    place = place.ravel()
    time = np.bincount(place, weights=(stays.end - stays.begin).astype(np.float64))
    states = np.flatnonzero(time >= LEAST * time.sum())
    number = np.full(len(time), -1, dtype=np.int64)
    number[states] = np.arange(len(states))
    visits = number[place]
    there = visits >= 0
    visits = visits[there]
    count = np.maximum(np.bincount(visits, minlength=len(states)), 1)
    transitions = np.zeros((len(states), len(states)))
    np.add.at(transitions, (visits[:-1], visits[1:]), 1.0)
    transitions += 1.0
    transitions /= transitions.sum(axis=1, keepdims=True)
    return MobilityMarkovChain(
        x=np.bincount(visits, weights=stays.x[there], minlength=len(states)) / count,
        y=np.bincount(visits, weights=stays.y[there], minlength=len(states)) / count,
        transitions=transitions,
        stationary=_stationary(transitions),
        visits=visits,
        begins=stays.begin[there],
    )


def fit_chains(stays: StayPoints, persons: int) -> list[MobilityMarkovChain]:
    """Find the chains of all persons; those without stays have no states."""
    return [fit_chain(stays.of_individual(person)) for person in range(persons)]


def _stationary(transitions: Floats) -> Floats:
    """Return the shares that a step leaves as they are."""
    size = len(transitions)
    if not size:
        return np.zeros(0)
    system = np.vstack([transitions.T - np.eye(size), np.ones(size)])
    found = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
    return np.asarray(np.maximum(found, 0.0), dtype=np.float64)


def chain_distance(first: MobilityMarkovChain, second: MobilityMarkovChain) -> float:
    """Return how far two chains are apart: the mean of both ways from each state to the nearest of the other.

    >>> shares = lambda *each: {"stationary": np.array(each), "transitions": np.eye(2), "visits": np.zeros(0, int)}
    >>> one = MobilityMarkovChain(x=np.array([0.0, 1000.0]), y=np.zeros(2), **shares(0.75, 0.25))
    >>> two = MobilityMarkovChain(x=np.array([100.0, 2000.0]), y=np.zeros(2), **shares(0.5, 0.5))
    >>> chain_distance(one, two)
    425.0
    """
    if not len(first) or not len(second):
        return np.inf
    apart = np.hypot(first.x[:, None] - second.x, first.y[:, None] - second.y)
    return float((first.stationary @ apart.min(axis=1) + second.stationary @ apart.min(axis=0)) / 2)


def chain_distances(first: Sequence[MobilityMarkovChain], second: Sequence[MobilityMarkovChain]) -> Floats:
    """Return the distances of all pairs of chains, a row for every one of the first."""
    found = np.full((len(first), len(second)), np.inf)
    some = [at for at, chain in enumerate(second) if len(chain)]
    if not some:
        return found
    starts = np.append(0, np.cumsum([len(second[each]) for each in some]))[:-1]
    x, y, share = (np.concatenate([getattr(second[each], side) for each in some]) for side in ("x", "y", "stationary"))
    for row, chain in enumerate(first):
        if len(chain):
            apart = np.hypot(chain.x[:, None] - x, chain.y[:, None] - y)
            there = chain.stationary @ np.minimum.reduceat(apart, starts, axis=1)
            found[row, some] = (there + np.add.reduceat(share * apart.min(axis=0), starts)) / 2
    return found


def predict_next(stays: StayPoints, persons: int) -> AttackResult:
    """Predict where persons go next: fit a chain on the first half of their stays and test it on the second.

    The claim is the most frequent transition from where a person is; guessing names the place that she visits most.
    """
    right = guessed = tried = 0
    for person in range(persons):
        own = stays.of_individual(person)
        chain = fit_chain(own)
        half = len(chain.visits) // 2
        seen, coming = chain.visits[:half], chain.visits[max(half - 1, 0) :]
        if half < 2 or len(coming) < 2:  # noqa: PLR2004 - a transition has two ends
            continue
        counts = np.zeros((len(chain), len(chain)))
        np.add.at(counts, (seen[:-1], seen[1:]), 1.0)
        counts += np.bincount(seen, minlength=len(chain)) / (len(seen) + 1)  # decides where nothing was seen
        favorite = int(np.bincount(seen, minlength=len(chain)).argmax())
        right += int((counts.argmax(axis=1)[coming[:-1]] == coming[1:]).sum())
        guessed += int((coming[1:] == favorite).sum())
        tried += len(coming) - 1
    return AttackResult(
        attack="next-place",
        question=INFERENCE,
        targets=max(tried, 1),
        claims=tried,
        successes=right,
        baseline=guessed / max(tried, 1),
        control_targets=0,
        control_successes=0,
    )
