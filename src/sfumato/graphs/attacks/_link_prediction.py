"""Guess relations that were hidden from those that are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.graphs.attacks._setting import GraphAttackSetting, Integers
from sfumato.graphs.graph import Graph

HIDDEN = 0.1  # the share of edges that are hidden
BETA = 0.005  # what a step more counts
TRIES = 20  # to draw pairs who know somebody in common
Matrix: TypeAlias = Any
Scores: TypeAlias = Callable[[Matrix, Integers], Any]


def link_prediction_attack(setting: GraphAttackSetting) -> list[AttackResult]:
    """Tell a hidden relation from a pair without one, by three scores.

    A share of the relations of the original is hidden: they are removed from what is published, where persons are
    recognized. One target is such a relation and a pair of persons who are not related; the higher score is claimed to
    be the relation, and a coin decides a tie. Pairs at random flatter the attack, so it is also told how often a hidden
    relation beats a pair of persons who know somebody in common. The control scores the same pairs of other persons.
    """
    original, rng = setting.original, setting.rng
    hidden = original.edges[rng.permutation(original.n_edges)[: max(1, int(HIDDEN * original.n_edges))]].astype(
        np.int64
    )
    shown = _matrix(setting.aligned_graph, hidden)
    asked = hidden[: setting.targets]
    apart, near = _sample_non_edges(setting, len(asked)), _two_steps_apart(setting, len(asked))
    other = rng.permutation(len(original))
    found = []
    for name, score in SCORES.items():
        mine = score(shown, asked)
        right = _count_wins(mine, score(shown, apart), rng)
        control = _count_wins(score(shown, other[asked]), score(shown, other[apart]), rng)
        details = (
            {"against two steps apart": _count_wins(mine[: len(near)], score(shown, near), rng) / len(near)}
            if len(near)
            else {}
        )
        found.append(
            AttackResult(
                attack=f"relations by {name}",
                question=INFERENCE,
                targets=len(asked),
                claims=len(asked),
                successes=right,
                baseline=0.5,
                control_targets=len(asked),
                control_successes=control,
                details=details,
            )
        )
    return found


def _matrix(network: Graph, hidden: Integers) -> Matrix:
    from scipy.sparse import csr_array

    size = len(network)
    edges = network.edges.astype(np.int64)
    kept = edges[~np.isin(edges[:, 0] * size + edges[:, 1], hidden[:, 0] * size + hidden[:, 1])]
    ends = np.concatenate([kept, kept[:, ::-1]])
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size))


def _sample_non_edges(setting: GraphAttackSetting, count: int) -> Integers:
    """Draw pairs of persons who are not related in the original; there are such pairs."""
    network, found = setting.original, np.zeros((0, 2), dtype=np.int64)
    related = network.edges[:, 0].astype(np.int64) * len(network) + network.edges[:, 1]
    while len(found) < count:
        pairs = np.sort(setting.rng.integers(len(network), size=(2 * count + 8, 2)), axis=1)
        good = (pairs[:, 0] < pairs[:, 1]) & ~np.isin(pairs[:, 0] * len(network) + pairs[:, 1], related)
        found = np.concatenate([found, pairs[good]])
    return found[:count]


def _two_steps_apart(setting: GraphAttackSetting, count: int) -> Integers:
    """Draw pairs of persons who are not related in the original but know somebody in common, as far as tries go.

    A pair is met once for every person in common, so it is taken with the inverse of their number: all are as likely.
    """
    network, rng, found = setting.original, setting.rng, np.zeros((0, 2), dtype=np.int64)
    related, links = _matrix(network, found), np.cumsum(network.degrees * (network.degrees - 1))
    for _ in range(TRIES if links[-1] else 0):
        middle = np.searchsorted(links, rng.integers(links[-1], size=20 * count), side="right")
        ends = (rng.random((len(middle), 2)) * network.degrees[middle][:, None]).astype(np.int64)
        pairs = np.sort(network.neighbors[network.offsets[middle][:, None] + ends].astype(np.int64), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        apart = np.asarray(related[pairs[:, 0], pairs[:, 1]]).ravel() == 0
        taken = rng.random(len(pairs)) * _shared_neighbors(related, pairs) < 1
        found = np.concatenate([found, pairs[apart & taken]])
        if len(found) >= count:
            break
    return found[:count]


def _count_wins(mine: Any, theirs: Any, rng: np.random.Generator) -> int:
    coin = rng.random(len(mine)) < 0.5  # noqa: PLR2004 - a fair coin
    return int(((mine > theirs) | ((mine == theirs) & coin)).sum())


def _shared_neighbors(shown: Matrix, pairs: Integers) -> Any:
    return np.asarray((shown[pairs[:, 0]] * shown[pairs[:, 1]]).sum(axis=1)).ravel()


def _adamic_adar(shown: Matrix, pairs: Integers) -> Any:
    degrees = np.asarray(shown.sum(axis=0)).ravel()
    weights = np.where(degrees > 1, 1 / np.log(np.maximum(degrees, 2)), 0.0)
    return np.asarray((shown[pairs[:, 0]] * shown[pairs[:, 1]]) @ weights).ravel()


def _katz(shown: Matrix, pairs: Integers) -> Any:
    """Count the walks of one, two and three steps, each step weighing less."""
    one, other = shown[pairs[:, 0]], shown[pairs[:, 1]]
    direct = np.asarray(shown[pairs[:, 0], pairs[:, 1]]).ravel()
    three = np.asarray(((one @ shown) * other).sum(axis=1)).ravel()
    return BETA * direct + BETA**2 * _shared_neighbors(shown, pairs) + BETA**3 * three


SCORES: dict[str, Scores] = {"common neighbors": _shared_neighbors, "Adamic-Adar": _adamic_adar, "Katz": _katz}
