"""Match a published network with another one from a few persons who are known in both."""

from __future__ import annotations

import numpy as np

from sfumato.core.attack import LINKABILITY, AttackResult
from sfumato.graphs._kernels.attacks import propagate_seeds
from sfumato.graphs.attacks._setting import GraphAttackSetting, Integers
from sfumato.graphs.graph import Graph

THETA = 0.5
ROUNDS = 30


def seed_propagation_attack(setting: GraphAttackSetting, *, seeds: int, overlap: float, runs: int) -> AttackResult:
    """Spread from seeds to everybody who sticks out, with a known copy of the original that lacks some edges [1]_.

    Persons of one run are found together or not at all, so intervals count runs.

    References
    ----------
    .. [1] Narayanan, Shmatikov, "De-anonymizing social networks", S&P 2009. https://doi.org/10.1109/SP.2009.22
    """
    persons = len(setting.original)
    claims, right, wrong, shares = 0, 0, 0, []
    for _ in range(runs):
        known = setting.original.with_edges(_sample_overlap(setting, overlap))
        start = setting.rng.permutation(persons)[:seeds]
        to = spread_matching(known, setting.published, start, setting.who[start], setting.rng)
        to[start] = -1
        claims += int((to >= 0).sum())
        right += int((to == setting.who).sum())
        wrong += int((to == setting.who[setting.random_controls(persons)]).sum())
        shares.append(float((to == setting.who).sum()) / (persons - seeds))
    return AttackResult(
        attack="seed and propagate",
        question=LINKABILITY,
        targets=runs * (persons - seeds),
        claims=claims,
        successes=right,
        baseline=1 / len(setting.published),
        control_targets=runs * (persons - seeds),
        control_successes=min(wrong, runs * (persons - seeds)),
        details={"lowest run": min(shares), "highest run": max(shares)},
        runs=runs,
    )


def _sample_overlap(setting: GraphAttackSetting, overlap: float) -> Integers:
    return np.asarray(setting.original.edges[setting.rng.random(setting.original.n_edges) < overlap])


def spread_matching(
    known: Graph, published: Graph, start: Integers, images: Integers, rng: np.random.Generator
) -> Integers:
    """Return the published person of every known one, -1 where none is claimed."""
    to, back = np.full(len(known), -1, dtype=np.int64), np.full(len(published), -1, dtype=np.int64)
    to[start], back[images] = images, start
    one, other = (known.offsets, known.neighbors), (published.offsets, published.neighbors)
    orders = rng.permuted(np.tile(np.arange(len(known)), (ROUNDS, 1)), axis=1)
    propagate_seeds(one, other, to, back, THETA, orders)
    return to
