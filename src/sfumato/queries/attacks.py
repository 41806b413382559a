"""Attacks on answers to questions: what they find without protection, and what they miss with it.

Each attack takes a function that answers, so that it can be run on any system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.queries.query import Query, matching_rows, natural_column

Where = Mapping[str, object]
Ask = Callable[[Where], float]
Bits = npt.NDArray[np.bool_]
HALF = 0.5


class UnprotectedTable:
    """Answer counts and sums the way careless systems do, to see attacks succeed. Never use it to protect anybody.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table.
    smallest : refuse sets of fewer rows, and sets that miss fewer rows; this is no protection.
    noise : the scale of fresh Laplace noise on every answer, without any budget; this is no protection either.
    seed : another seed gives other noise.
    """

    def __init__(self, data: Frame, *, smallest: int = 0, noise: float = 0.0, seed: int = 0) -> None:
        require(is_integer(smallest) and smallest >= 0, self, "smallest", "a whole number of at least 0", smallest)
        require(is_finite_number(noise) and noise >= 0, self, "noise", "a number of at least 0", noise)
        table, _ = to_arrow(data)
        self._columns = {name: natural_column(name, table[name]) for name in table.column_names}
        self._rows = table.num_rows
        self._table = table
        self._smallest, self._noise = smallest, noise
        self._generator = np.random.default_rng(seed)

    def count(self, where: Where) -> float:
        """Count rows."""
        return float(self._chosen(where).sum()) + self._off()

    def sum(self, column: str, where: Where) -> float:
        """Sum a column."""
        values = self._table[column].to_numpy()
        return float(np.nansum(values[self._chosen(where)])) + self._off()

    def _chosen(self, where: Where) -> Bits:
        chosen = matching_rows(Query(where=where).conditions, self._columns, self._rows)
        if not self._smallest <= chosen.sum() <= self._rows - self._smallest:
            raise InfeasibleError("The set of rows is too small or too large to be answered.")
        return chosen

    def _off(self) -> float:
        return float(self._generator.laplace(scale=self._noise)) if self._noise else 0.0


def difference_attack(ask: Ask, larger: Where, smaller: Where) -> float:
    """Find the total of the rows that one set has and another misses: the difference of two answers."""
    return ask(larger) - ask(smaller)


def tracker_attack(ask: Ask, wide: Where, column: str, value: object) -> float:
    """Find the total of a set that is too small to be answered (an individual tracker; Schlörer, 1975).

    The set is `wide` with one more condition, `column` = `value`; instead of it, `wide` and `wide` without the set are
    asked, which are both large enough.
    """
    if column in wide:
        raise InvalidParameterError(f"The wide set must not name {column!r}, which separates the small set from it.")
    return difference_attack(ask, wide, {**wide, column: ("!=", value)})


def averaging_attack(ask: Ask, where: Where, times: int) -> float:
    """Ask the same question repeatedly, and average the noise away."""
    require(is_integer(times) and times > 0, "by_averaging", "times", "a whole number of at least 1", times)
    return sum(ask(where) for _ in range(times)) / times


def random_subsets(rows: int, questions: int, *, seed: int = 0) -> Bits:
    """Draw subsets of rows to ask about, one per question; each row is in half of them."""
    return np.random.default_rng(seed).random((questions, rows)) < HALF


def reconstruction_attack(subsets: Bits, answers: Sequence[float]) -> Bits:
    """Find a secret yes or no of every row from counts of many subsets (Dinur and Nissim, 2003).

    A linear program finds the table whose counts are closest to the answers in total; it is then rounded.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    questions, rows = subsets.shape
    require(len(answers) == questions, "by_reconstruction", "answers", "one number per subset", len(answers))
    asked, off = csr_array(subsets.astype(np.float64)), eye_array(questions, format="csr")
    limits: Any = vstack([hstack([asked, -off]), hstack([-asked, -off])], format="csr")
    given = np.asarray(answers, dtype=np.float64)
    goal = np.concatenate([np.zeros(rows), np.ones(questions)])
    between = [(0.0, 1.0)] * rows + [(0.0, float("inf"))] * questions
    found: Any = linprog(goal, A_ub=limits, b_ub=np.concatenate([given, -given]), bounds=between, method="highs")
    return np.asarray(found.x[:rows] > HALF)


def attack_accuracy(guessed: Iterable[bool], true: Iterable[bool]) -> float:
    """Return the share of right guesses; always guessing the more frequent answer is right for its share."""
    pairs = list(zip(guessed, true, strict=True))
    return sum(bool(guess) == bool(truth) for guess, truth in pairs) / max(len(pairs), 1)
