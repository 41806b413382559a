"""How likely it is that somebody else shares the known items of a target."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

import numpy as np

from sfumato.randomness import seeded_generator
from sfumato.validation import is_integer, require

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Coincidence:
    """How many of `persons` others agree with a target in `known` items of `values` equally likely values each.

    Items are independent of each other. With `values=2` an item is bought or not; ratings have more values.

    Examples
    --------
    >>> round(Coincidence(individuals=10_000, known=20).expected, 6)
    0.009537
    """

    individuals: int
    known: int
    values: int = 2

    def __post_init__(self) -> None:
        require(is_integer(self.individuals) and self.individuals >= 1, self, "persons", "at least 1", self.individuals)
        require(is_integer(self.known) and self.known >= 0, self, "known", "at least 0", self.known)
        require(is_integer(self.values) and self.values >= 2, self, "values", "at least 2", self.values)  # noqa: PLR2004 - one value tells nothing

    @property
    def expected(self) -> float:
        """The expected number of others who agree, n / R^B; it also bounds the probability that there is one."""
        return self.individuals * float(self.values) ** -self.known

    @property
    def chance(self) -> float:
        """The probability that at least one other agrees; 1 minus it is the probability that the target is unique."""
        alone = float(self.values) ** -self.known
        return 1.0 if alone == 1 else -expm1(self.individuals * log1p(-alone))

    def simulate(self, rounds: int, *, seed: int) -> tuple[float, float]:
        """Simulate everybody's items: return the mean number of others who agree, and how often there is one.

        Only the others who still agree are drawn for the next item, so the work shrinks with every item.
        """
        require(is_integer(rounds) and rounds >= 1, "Coincidence.simulate", "rounds", "at least 1", rounds)
        rng = seeded_generator(seed)
        agree = np.zeros(rounds, dtype=np.int64)
        step = max(1, CELLS_AT_ONCE // self.individuals)
        for start in range(0, rounds, step):
            count = min(step, rounds - start)
            target = rng.integers(0, self.values, (count, max(self.known, 1)))
            left = np.repeat(np.arange(count), self.individuals)
            for item in range(self.known):
                left = left[rng.integers(0, self.values, len(left)) == target[left, item]]
            agree[start : start + count] = np.bincount(left, minlength=count)
        return float(agree.mean()), float((agree > 0).mean())
