"""How much more, or less, frequent values are in groups than in their table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts
from sfumato.models.base import Levels
from sfumato.models.distances.earth_mover import LARGEST_WHOLE, correctly_rounded_quotient


def relative_gains(counts: Counts, sizes: Counts, expected: npt.NDArray[np.int64], table: int) -> Levels:
    r"""Compute $(q - p) / p$ with one rounding, where $q$ is counts over sizes and $p$ is expected over table.

    Infinite if nothing was expected.
    """
    exact = np.int64 if int(sizes.max(initial=0)) * table <= LARGEST_WHOLE else object
    denominator = sizes.astype(exact) * expected
    gains = correctly_rounded_quotient(counts.astype(exact) * table - denominator, denominator)
    gains[expected == 0] = np.inf
    return gains
