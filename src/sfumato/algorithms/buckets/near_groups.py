"""Split buckets into groups of persons who are near: halve them, and put counterfeits where a value lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.balancing import NOBODY, Seats, in_random_order, in_turn
from sfumato.coding.codes import CodedColumn
from sfumato.coding.halving import Halving
from sfumato.randomness import Stream

Ints = npt.NDArray[np.int64]


def match_near(seats: Seats, quasi: Sequence[CodedColumn], span: int, stream: Stream) -> Ints:
    """Split every bucket into groups with one seat of every value, whose persons are near; return each seat's group.

    Persons who are equal are in random order. Seats of nobody have no place and go where one is missing in the end.

    Parameters
    ----------
    seats : the seats; all values of a signature have equally many, and one of them only seats of persons.
    quasi : the quasi-identifiers of all rows.
    span : values of seats are below it.
    stream : where bits come from that nobody can repeat.
    """
    key = seats.signature * span + seats.value
    order = in_random_order(key, int(key.max()) + 1, stream)
    group = in_turn(seats, key, order)
    if not quasi:
        return group
    signature, size = np.unique(seats.signature[order], return_index=False, return_counts=True)
    values = np.bincount(np.unique(key) // span, minlength=int(signature.max()) + 1)[signature]
    size = size // values  # groups of every signature; they are numbered one signature after another
    there, lost = order[seats.row[order] != NOBODY], order[seats.row[order] == NOBODY]
    keys, run = np.unique(key[there], return_inverse=True)
    part = np.searchsorted(signature, keys // span)
    first = np.cumsum(size) - size
    group[there] = first[part][run.ravel()] + Halving.of(run.ravel(), part, size, quasi, seats.row[there]).leaves()
    if len(lost):
        wanted = np.unique(key[lost])
        mine = np.searchsorted(signature, wanted // span)
        free = _free(wanted, first[mine], size[mine], key[there], group[there])
        group[lost] = free
    return group


def _free(wanted: Ints, first: Ints, size: Ints, key: Ints, group: Ints) -> Ints:
    """List for each of some values of a signature the groups in which nobody has it, given who is where."""
    all_keys = np.repeat(wanted, size)
    groups = np.arange(len(all_keys)) + np.repeat(first - np.cumsum(size) + size, size)
    span = int(max(groups.max(), group.max())) + 1
    return np.asarray(groups[~np.isin(all_keys * span + groups, key * span + group)])
