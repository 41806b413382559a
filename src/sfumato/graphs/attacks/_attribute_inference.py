"""Guess what is known of a person's neighbors about the person."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.graphs.attacks._setting import Flags, GraphAttackSetting, Integers
from sfumato.graphs.graph import Graph

HIDDEN = 0.1  # the share of persons whose value is hidden
ROUNDS = 20  # of the propagation of values
MAX_VALUES = 100
Floats = npt.NDArray[np.float64]


def attribute_inference_attack(setting: GraphAttackSetting, name: str) -> list[AttackResult] | str:
    """Guess a hidden attribute of some persons from that of all others, or say why not.

    Persons are recognized in what is published. The most frequent value is the baseline; the control judges the
    claims by the values of other targets.
    """
    codes, count = _values(setting.original, name)
    if not 2 <= count <= MAX_VALUES:  # noqa: PLR2004 - there must be something to guess
        return f"it has {count:,} different values, and only from 2 to {MAX_VALUES} are guessed."
    there = setting.rng.permutation(np.flatnonzero(codes >= 0))
    hidden = there[: max(1, int(HIDDEN * len(there)))]
    known = codes.copy()
    known[hidden] = -1
    asked = hidden[: setting.targets]
    network = setting.aligned_graph
    values = np.zeros((len(network), count))  # those who were added have no values
    rows = np.flatnonzero(known >= 0)
    values[rows, known[rows]] = 1
    usual = int(np.bincount(known[rows], minlength=count).argmax())
    strangers = asked[setting.random_controls(len(asked))]
    found = []
    for method, guess in METHODS.items():
        claimed = guess(_links(network), values, usual)[asked]
        found.append(
            AttackResult(
                attack=f"attribute by {method}",
                question=INFERENCE,
                sensitive=name,
                targets=len(asked),
                claims=len(asked),
                successes=int((claimed == codes[asked]).sum()),
                baseline=float((codes[asked] == usual).mean()),
                control_targets=len(asked),
                control_successes=int((claimed == codes[strangers]).sum()),
            )
        )
    return found


def _values(network: Graph, name: str) -> tuple[Integers, int]:
    column = network.vertices[name]  # type: ignore[index]  # the caller asks for columns that there are
    found = pc.dictionary_encode(column).combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    codes = np.asarray(pc.fill_null(found.indices, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return codes, len(found.dictionary)


def _links(network: Graph) -> Any:
    from scipy.sparse import csr_array

    ones = np.ones(len(network.neighbors))
    return csr_array((ones, network.neighbors, network.offsets), shape=(len(network), len(network)))


def _predict(scores: Floats, usual: int) -> Integers:
    """Claim the value with the highest score; the most frequent value where it ties, or where nothing is known."""
    best = scores.argmax(axis=1)
    ties = scores[:, usual] >= scores.max(axis=1)
    return np.where(ties, usual, best)


def _majority_vote(links: Any, values: Floats, usual: int) -> Integers:
    return _predict(links @ values, usual)


def _label_propagation(links: Any, values: Floats, usual: int) -> Integers:
    """Give everybody without a value the mean of her neighbors, again and again."""
    fixed: Flags = values.sum(axis=1) > 0
    found = values.copy()
    for _ in range(ROUNDS):
        spread = links @ found
        spread /= np.maximum(spread.sum(axis=1, keepdims=True), 1e-12)
        found = np.where(fixed[:, None], values, spread)
    return _predict(found, usual)


def _naive_bayes(links: Any, values: Floats, usual: int) -> Integers:
    """Take neighbors as independent, given the value; chances are those among related persons with known values."""
    pairs = values.T @ (links @ values) + 1
    chances = np.log(pairs / pairs.sum(axis=1, keepdims=True))
    prior = np.log(values.sum(axis=0) + 1)
    return _predict(links @ values @ chances.T + prior, usual)


METHODS = {"majority": _majority_vote, "propagation": _label_propagation, "naive Bayes": _naive_bayes}
