"""The ladder mechanism: noise as large as what one edge can change in this network, or near it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.queries.private.noise import noisy
from sfumato.randomness import Stream

Integers = npt.NDArray[np.int64]
MOST_DRAWS = 4096  # proposals at a time


class Ladder(ABC):
    """How far one edge can move a count after others changed [1]_.

    Numbers are ordered by rungs: the true one, then as many on either side as one edge can change, then as many as one
    edge can change after another one changed, and so on; a number is the less likely, the higher its rung.

    References
    ----------
    .. [1] Zhang, Cormode, Procopiuc, Srivastava, Xiao, "Private release of graph statistics using ladder functions",
       SIGMOD 2015. https://doi.org/10.1145/2723372.2737785
    """

    most: int  # what one edge can change in any network of so many persons
    converged: int  # after so many changes, an edge can change as much as in any network

    @abstractmethod
    def widths(self, count: int) -> Integers:
        """Return how many numbers each of the first rungs above the true number has: I(0), I(1) and so on."""

    def draw(self, epsilon: Fraction) -> int:
        """Draw the distance from the true number: rung z has the weight exp(-|z| epsilon / 2) times its width.

        Draws are exact: rungs are discrete Laplace noise of OpenDP, and are rejected by whole numbers.
        """
        stream, draws = Stream(), min(8 + self.most, MOST_DRAWS)
        while True:
            rungs = noisy(np.zeros(draws, dtype=np.int64), sensitivity=2, epsilon=epsilon).numbers
            widths = self.widths(min(int(np.abs(rungs).max()), self.converged))
            sizes = np.concatenate([[1], widths, [self.most]])[np.minimum(np.abs(rungs), len(widths) + 1)]
            accepted = np.flatnonzero(stream.below(self.most, draws) < sizes)
            if len(accepted):
                first = accepted[0]
                return self._inside(int(rungs[first]), widths, int(stream.below(int(sizes[first]), 1)[0]))

    def _inside(self, rung: int, widths: Integers, place: int) -> int:
        """Return the distance of one number of a rung."""
        if rung == 0:
            return 0
        below = abs(rung) - 1
        far = int(widths[:below].sum()) + max(below - len(widths), 0) * self.most
        return (far + 1 + place) * (1 if rung > 0 else -1)


def best_pairs(one: Integers, other: Integers) -> tuple[Integers, Integers]:
    """Keep the pairs of numbers that no other pair beats in both; the first descend, and the second ascend."""
    order = np.lexsort((-other, -one))
    first, second = one[order], other[order]
    better = np.diff(np.maximum.accumulate(second), prepend=-1) > 0
    return first[better], second[better]
