"""Split buckets into groups of persons who are near: halve them, and put counterfeits where a value lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.balancing import NOBODY, BucketSlots, split_in_order
from sfumato.coding.codes import CodedColumn
from sfumato.coding.halving import Bisection
from sfumato.randomness import KeyedRandom

Ints = npt.NDArray[np.int64]


def split_by_proximity(seats: BucketSlots, quasi: Sequence[CodedColumn], span: int, stream: KeyedRandom | None) -> Ints:
    """Split every bucket into groups with one seat of every value, whose persons are near; return each seat's group.

    Persons who are equal are in random order. Seats of nobody have no place and go where one is missing in the end.

    Parameters
    ----------
    seats : the seats; all values of a signature have equally many, and one of them only seats of persons.
    quasi : the quasi-identifiers of all rows.
    span : values of seats are below it.
    stream : where bits come from that nobody can repeat; without it, the persons of every value are in random order
        already.
    """
    key = seats.signature * span + seats.value
    order = seats.in_order(span, stream)
    group = split_in_order(seats, key, order)
    if not quasi:
        return group
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) > 0))
    keys, seats_of = key[order][starts], np.diff(np.append(starts, len(order)))
    part = _number(keys // span)
    size = seats_of[np.searchsorted(part, np.arange(int(part[-1]) + 1))]  # how many groups each signature has
    first = np.cumsum(size) - size  # they are numbered one signature after another
    run = np.repeat(np.arange(len(keys)), seats_of)
    somebody = seats.row[order] != NOBODY
    there, held = order[somebody], np.bincount(run[somebody], minlength=len(keys)) > 0
    near = Bisection.from_codes(
        (np.cumsum(held) - 1)[run[somebody]], part[held], size, quasi, seats.row[there]
    ).leaves()
    group[there] = first[part][run[somebody]] + near
    lacking = np.flatnonzero(np.bincount(run[~somebody], minlength=len(keys)))
    if len(lacking):
        mine = part[lacking]
        group[order[~somebody]] = _groups_without_value(
            keys[lacking], first[mine], size[mine], key[there], group[there]
        )
    return group


def _number(keys: Ints) -> Ints:
    """Count up where a key differs from the one before."""
    return np.asarray(np.cumsum(np.append(0, np.diff(keys) != 0)))


def _groups_without_value(wanted: Ints, first: Ints, size: Ints, key: Ints, group: Ints) -> Ints:
    """List for each of some values of a signature the groups in which nobody has it, given who is where."""
    all_keys = np.repeat(wanted, size)
    groups = np.arange(len(all_keys)) + np.repeat(first - np.cumsum(size) + size, size)
    span = int(max(groups.max(), group.max())) + 1
    return np.asarray(groups[~np.isin(all_keys * span + groups, key * span + group)])
