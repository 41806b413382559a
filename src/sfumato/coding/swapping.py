"""Pair the ranks of a column at random within a reach."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.randomness import Stream


def draw_partners(rows: int, reach: int, stream: Stream) -> npt.NDArray[np.int64]:
    """Draw the partner of every rank, at most `reach` away; a rank that finds none keeps itself.

    Parameters
    ----------
    rows : how many ranks there are.
    reach : how many ranks a partner may be away.
    stream : where bits come from that nobody can repeat.
    """
    from sfumato.coding.kernels.swapping import swap_partners

    if rows == 0 or reach == 0:
        return np.arange(rows)
    return np.asarray(swap_partners(rows, reach, stream.words(rows)))
