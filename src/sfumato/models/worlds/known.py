"""What is known of every person over a series, however it was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts


@dataclass(frozen=True, eq=False)
class DisclosureKnowledge:
    """The number of everybody's candidates, and the probability of her likeliest value.

    Candidates are `exact`, or may contain impossible ones; a probability is `sure`, or a lower bound of it. Who was in
    no group has no candidates, and a probability that is not a number.
    """

    candidates: Counts
    top: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    sure: npt.NDArray[np.bool_]

    def without(self, persons: npt.NDArray[np.bool_]) -> DisclosureKnowledge:
        """Return the same as if some persons were in no group."""
        return DisclosureKnowledge(
            np.where(persons, 0, self.candidates),
            np.where(persons, np.nan, self.top),
            self.exact | persons,
            self.sure | persons,
        )
