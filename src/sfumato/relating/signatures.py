"""Signatures: what a join tells about a person, as one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns

Ints = npt.NDArray[np.int64]


def sign_individuals(persons: int, tables: Sequence[tuple[Ints, npt.NDArray[np.integer]]]) -> Ints:
    """Give persons numbers, the same to two if every table tells the same about both, equally often.

    Work grows with the number of rows, sorted once.

    Parameters
    ----------
    persons : how many persons there are.
    tables : for every table the person and a code of every row; equal codes are published alike.

    Examples
    --------
    >>> visits = np.array([0, 0, 1, 1, 2]), np.array([7, 3, 3, 7, 7])
    >>> sign_individuals(3, [visits]).tolist()
    [1, 1, 0]
    """
    number = np.zeros(persons, dtype=np.int64)
    for person, codes in tables:
        order = np.lexsort((codes, person))
        starts = np.searchsorted(person[order], np.arange(persons + 1))
        number = _refine_numbers(number, codes[order].astype(np.int64), starts[:-1], np.diff(starts))
    return np.unique(number, return_inverse=True)[1].astype(np.int64)


def _refine_numbers(number: Ints, codes: Ints, starts: Ints, counts: Ints) -> Ints:
    """Go through everybody's sorted codes, one at a time, with new numbers for all who still have one."""
    number, place = number.copy(), 0
    having = np.flatnonzero(counts)
    width = int(codes.max(initial=0)) + 1
    while len(having):
        fresh = int(number.max()) + 1
        told = group_columns([number[having], codes[starts[having] + place]], [fresh, width])
        number[having] = fresh + told.labels
        place += 1
        having = having[counts[having] > place]
    return number
