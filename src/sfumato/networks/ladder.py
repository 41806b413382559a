"""The ladder mechanism: noise as large as what one edge can change in this network, or near it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sfumato.queries.private.noise import add_discrete_laplace
from sfumato.randomness import KeyedRandom

Integers = npt.NDArray[np.int64]
BATCH = 64  # draws of which half are at least 0
DIGITS = 60
SLACK = 1 - Fraction(1, 2**30)  # far more than all roundings of so many digits together
UNBOUNDED = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)
WORDS, WORD_BITS, HALF = 4, 64, 32


class LocalSensitivityAtDistance(ABC):
    """How far one edge can move a count after others changed [1]_.

    Numbers are ordered by rungs: the true one, then as many on either side as one edge can change, then as many as one
    edge can change after another one changed, and so on; a number is the less likely, the higher its rung.

    References
    ----------
    .. [1] Zhang, Cormode, Procopiuc, Srivastava, Xiao, "Private release of graph statistics using ladder functions",
       SIGMOD 2015. https://doi.org/10.1145/2723372.2737785
    """

    global_sensitivity: int  # what one edge can change in any network of so many persons
    converged: int  # after so many changes, an edge can change as much as in any network

    @abstractmethod
    def local_sensitivities(self, count: int) -> Integers:
        """Return how many numbers each of the first rungs above the true number has: I(0), I(1) and so on."""

    def draw(self, epsilon: Fraction) -> int:
        """Draw the distance from the true number: rung z has the weight exp(-|z| epsilon / 2) times its width.

        The rung is drawn by inversion of the chances of all rungs until widths converge, whatever the network is:
        rejection would take the longer, the fewer numbers a rung has, and so its duration would tell how far an edge
        can move the count. Chances are rounded, and epsilon is smaller by more than all roundings; the draw is exact.
        """
        stream = KeyedRandom()
        drawn = add_discrete_laplace(np.zeros(BATCH, dtype=np.int64), sensitivity=2, epsilon=epsilon * SLACK)
        while not (drawn.numbers >= 0).any():
            drawn = add_discrete_laplace(np.zeros(BATCH, dtype=np.int64), sensitivity=2, epsilon=epsilon * SLACK)
        beyond = int(drawn.numbers[drawn.numbers >= 0][0])  # geometric
        widths = self.local_sensitivities(self.converged)
        rung = _inverted(_chances_beyond(widths.tolist(), self.global_sensitivity, drawn.scale), stream)
        rung += beyond if rung > len(widths) else 0
        size = int(widths[rung - 1]) if 0 < rung <= len(widths) else self.global_sensitivity
        place, sign = int(stream.integers(max(size, 1), 1)[0]), 1 - 2 * int(stream.integers(2, 1)[0])
        return 0 if rung == 0 else sign * (self._below(widths, rung - 1) + 1 + place)

    def _below(self, widths: Integers, rungs: int) -> int:
        """Return how many numbers the first rungs above the true number have."""
        first = widths[:rungs]
        high, low = first >> HALF, first & (2**HALF - 1)  # sums of 64 bits could be too small for stars
        return (int(high.sum()) << HALF) + int(low.sum()) + max(rungs - len(widths), 0) * self.global_sensitivity


def _chances_beyond(widths: list[int], most: int, scale: float) -> list[Decimal]:
    """Return how likely each rung or a higher one is, times a factor, of rung 0 to the first after all widths."""
    with localcontext(UNBOUNDED):
        ratio = (-1 / Decimal(scale)).exp()
        heights = list(accumulate(widths, lambda height, _: height * ratio, initial=ratio))
        tail = 2 * most * heights.pop() / (1 - ratio)
        sizes = [*(2 * width * height for width, height in zip(widths, heights, strict=True)), tail]
        return list(accumulate([*sizes[::-1], Decimal(1)]))[::-1]


def _inverted(beyond: list[Decimal], stream: KeyedRandom) -> int:
    """Draw a rung, the last one that is more likely than a number between 0 and 1 that gets as many bits as needed."""
    drawn, bits = 0, 0
    while True:
        for word in stream.random_uint64(WORDS).tolist():
            drawn, bits = (drawn << WORD_BITS) + word, bits + WORD_BITS
        with localcontext(UNBOUNDED) as exact:
            exact.prec = DIGITS + 2 * bits
            low, high = (beyond[0] * end / 2**bits for end in (drawn, drawn + 1))
        possible, certain = (int(sum(each > low for each in beyond)), int(sum(each >= high for each in beyond)))
        if possible == certain:
            return certain - 1


def pareto_front(one: Integers, other: Integers) -> tuple[Integers, Integers]:
    """Keep the pairs of numbers that no other pair beats in both; the first descend, and the second ascend."""
    order = np.lexsort((-other, -one))
    first, second = one[order], other[order]
    better = np.diff(np.maximum.accumulate(second), prepend=-1) > 0
    return first[better], second[better]
