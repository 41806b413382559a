"""Ordered selections of places, and how many persons have each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import group_columns
from sfumato.errors import InfeasibleError

Integers = npt.NDArray[np.int64]

MAX_SUBSEQUENCES = 200_000_000


@dataclass(frozen=True, eq=False)
class Subsequences:
    """The different ordered selections of one size, the number of persons who have each, and who has which.

    Parameters
    ----------
    sequences : a row of places for every selection.
    support : how many persons have it.
    subsequence, individual : every pair of a selection and a person who has it.
    """

    sequences: Integers
    support: Integers
    subsequence: Integers
    individual: Integers


def count_subsequences(places: Integers, offsets: Integers, owner: Integers, most: int) -> Iterator[Subsequences]:
    """Yield the ordered, not necessarily adjacent, selections of 1, 2, ... and at most `most` places of ways.

    Of equal selections of a way the one that ends first is kept, which can be lengthened by whatever the others can.

    Parameters
    ----------
    places : the place of every point, numbered from 0.
    offsets : where the points of every way begin, and the number of all points.
    owner : the person of every way, numbered from 0.
    most : the largest size.
    """
    from sfumato.trajectories._kernels import count_extensions, extend_subsequences

    width = int(places.max(initial=0)) + 1
    persons = int(owner.max(initial=0)) + 1
    way = np.arange(len(owner), dtype=np.int64)
    end = offsets[:-1] - 1
    ids, table = np.zeros(len(way), dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
    for _ in range(most):
        total = count_extensions(places, way, end, offsets[1:], np.full(width, -1, dtype=np.int64))
        if total > MAX_SUBSEQUENCES:
            raise InfeasibleError("The ways are too long to count all their sequences of places; ask for shorter ones.")
        if not total:
            return
        parent, place, last = (np.empty(total, dtype=np.int64) for _ in range(3))
        extend_subsequences(places, way, end, offsets[1:], np.full(width, -1, dtype=np.int64), parent, place, last)
        grouped = group_columns([ids[parent], place], [len(table), width])
        way, end, ids = way[parent], last, grouped.labels.astype(np.int64)
        before, added = np.divmod(grouped.keys, width)
        table = np.column_stack([table[before], added])
        pairs = group_columns([ids, owner[way]], [len(table), persons]).keys
        selection, person = np.divmod(pairs, persons)
        support = np.bincount(selection, minlength=len(table))
        yield Subsequences(table, support, selection, person)


# Which sequences of codes are the same.


def label_sequences(codes: Integers, offsets: Integers) -> Integers:
    """Give numbers from 0 on to the different sequences of codes.

    Parameters
    ----------
    codes : whole numbers of at least 0.
    offsets : where the codes of every sequence begin, and the number of all codes.

    Examples
    --------
    >>> label_sequences(np.array([3, 5, 3, 3, 5]), np.array([0, 2, 3, 5, 5])).tolist()
    [2, 1, 2, 0]
    """
    lengths = np.diff(offsets)
    labels, used = np.zeros(len(lengths), dtype=np.int64), 1
    width = int(codes.max(initial=0)) + 1
    for position in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > position)
        grouped = group_columns([labels[longer], codes[offsets[longer] + position]], [used, width])
        labels[longer] = used + grouped.labels.astype(np.int64)
        used += len(grouped)
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)
