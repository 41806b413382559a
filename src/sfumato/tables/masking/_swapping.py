"""Pair the ranks of a column at random within a reach, and units of different places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom

Ints = npt.NDArray[np.int64]


def draw_partners(rows: int, reach: int, stream: KeyedRandom) -> npt.NDArray[np.int64]:
    """Draw the partner of every rank, at most `reach` away; a rank that finds none keeps itself.

    Parameters
    ----------
    rows : how many ranks there are.
    reach : how many ranks a partner may be away.
    stream : where bits come from that nobody can repeat.
    """
    from sfumato.tables.masking._kernels import pair_ranks

    if rows == 0 or reach == 0:
        return np.arange(rows)
    return np.asarray(pair_ranks(rows, reach, stream.random_uint64(rows)))


def pair_units_across_places(
    seekers: Ints, *, keys: npt.NDArray[np.float64], profile: Ints, place: Ints, need: Ints, partner: Ints
) -> None:
    """Pair units of equal profile and different places, in the order of the seekers; lower keys are taken first.

    Parameters
    ----------
    seekers : the units that look for a partner.
    keys, profile, place : of every unit; a profile and a place are codes.
    need : per place how many units must still move; it is changed.
    partner : the partner of every unit, -1 where it is free; it is changed.
    """
    from sfumato.tables.masking._kernels import pair_units

    if not len(seekers):
        return
    order = np.lexsort((keys, place, profile))
    families, places = profile[order], place[order]
    new = np.r_[True, (families[1:] != families[:-1]) | (places[1:] != places[:-1])]
    begins = np.flatnonzero(new)
    starts = np.searchsorted(families[begins], np.arange(int(profile.max()) + 2))
    pools = order, np.r_[begins, len(order)], places[begins], starts
    pair_units(seekers, keys, profile, place, pools, need, partner)
