r"""Which sensitive values share a bucket: the assignment step of m-invariance.

Counts of values are *l-eligible* if no value accounts for more than $1/l$ of the records, which is necessary and
sufficient for buckets in which no value accounts for more than $1/l$. All comparisons are in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.errors import InfeasibleError

Counts: TypeAlias = npt.NDArray[np.int64]
Pieces: TypeAlias = list[tuple[tuple[int, ...], int]]


def exact_fraction(l: float | Fraction) -> Fraction:
    """Read a number as the exact decimal it is written as: 3.3 is 33/10."""
    return l if isinstance(l, Fraction) else Fraction(str(l))


def is_eligible(counts: Sequence[int] | Counts, l: float | Fraction) -> bool:
    """Return whether no value accounts for more than 1/l of the records."""
    held = [int(count) for count in counts]
    return max(held, default=0) * exact_fraction(l) <= sum(held)


def min_suppression(counts: Sequence[int] | Counts, l: float | Fraction) -> Counts:
    """Return for every value how many records to suppress, as few as possible, so that the rest is l-eligible.

    The counts of too frequent values are capped at one number, the largest c for which c l records remain. The
    number of records that remain under a cap is a concave function of it, so the largest is found by bisection.

    >>> min_suppression([6, 2, 1], 2)
    array([3, 0, 0])
    """
    held, asked = np.asarray(counts, dtype=np.int64), exact_fraction(l)
    low, high = 0, int(held.max(initial=0))
    while low < high:
        cap = (low + high + 1) // 2
        if cap * asked <= int(np.minimum(held, cap).sum()):
            low = cap
        else:
            high = cap - 1
    return held - np.minimum(held, low)


def suppress_frequent_values(
    rows: npt.NDArray[np.intp],
    codes: npt.NDArray[np.unsignedinteger],
    extra: Counts,
    stream: KeyedRandom,
    unwanted: npt.NDArray[np.integer] | None = None,
) -> npt.NDArray[np.intp]:
    """Leave out this many rows of every value, drawn at random, but the most unwanted first."""
    shuffled = rows[stream.permutation(len(rows))]
    if unwanted is not None:
        shuffled = shuffled[np.argsort(-unwanted[shuffled], kind="stable")]
    shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    values = codes[shuffled].astype(np.int64)
    starts = np.searchsorted(values, np.arange(len(extra)))
    return np.sort(shuffled[np.arange(len(shuffled)) - starts[values] >= extra[values]])


def ineligible_error(column: str, counts: Sequence[int] | Counts, l: float | Fraction) -> InfeasibleError:
    """Return the error for too frequent values, with the largest share, the largest l, and how many to suppress."""
    held = np.asarray(counts, dtype=np.int64)
    rows, largest = int(held.sum()), int(held.max(initial=0))
    most = rows * 10_000 // max(largest, 1) / 10_000
    lost = int(min_suppression(held, l).sum())
    return InfeasibleError(
        f"Column {column!r} cannot keep l = {float(l):g}: one value accounts for {largest / max(rows, 1):.2%} of its "
        f"{rows:,} records, so l can be at most {most:g} unless {lost:,} records are suppressed; "
        "promise less or raise max_suppressed."
    )


class RemainingCounts:
    """The remaining records of every value, always l-eligible.

    Parameters
    ----------
    counts : pairs of value code and count.
    l : one over the largest share that a value may have.
    """

    def __init__(self, counts: Sequence[tuple[int, int]], l: float | Fraction) -> None:
        asked = exact_fraction(l)
        self.upper, self.lower = asked.numerator, asked.denominator
        self.least = ceil(asked)
        self.left = sum(count for _, count in counts)
        self._heap = [(-count, code) for code, count in counts if count > 0]
        heapify(self._heap)

    def take(self, start: int, step: int = 1) -> tuple[tuple[int, ...], int] | None:
        """Take one record of each of the most frequent values, as often as the rest stays l-eligible.

        The number of values is the first of start, start + step, ... for which that works at least once; None if there
        is none.
        """
        popped: list[tuple[int, int]] = []
        beta, found = max(start, self.least), 0
        while beta <= len(popped) + len(self._heap) and not found:
            while len(popped) <= beta and self._heap:
                popped.append(heappop(self._heap))
            if self._slack(-popped[0][0]) < beta * self.lower - self.upper:
                break  # more values cannot be taken either
            found = self._repetitions(popped, beta)
            beta += 0 if found else step
        for place, (negative, code) in enumerate(popped):
            count = negative + found if found and place < beta else negative
            if count:
                heappush(self._heap, (count, code))
        if not found:
            return None
        self.left -= beta * found
        return tuple(code for _, code in popped[:beta]), found

    def counts(self) -> list[tuple[int, int]]:
        """Return the remaining records as pairs of value code and count."""
        return sorted((code, -negative) for negative, code in self._heap)

    def _slack(self, count: int) -> int:
        return self.left * self.lower - count * self.upper

    def _repetitions(self, popped: list[tuple[int, int]], beta: int) -> int:
        """Find how often the first beta values can be taken."""
        most = -popped[beta - 1][0]
        following = -popped[beta][0] if len(popped) > beta else 0
        most = min(most, self._slack(following) // (beta * self.lower))
        extra = beta * self.lower - self.upper
        return max(0, min(most, self._slack(-popped[0][0]) // extra) if extra else most)


def assign_buckets(
    counts: Sequence[int] | Counts, l: float | Fraction, start: int | None = None, step: int = 1
) -> list[tuple[tuple[int, ...], int]]:
    r"""Split records into buckets in which no value accounts for more than 1/l [1]_.

    While records are left, one record of each of the $\beta$ most frequent values is taken $\alpha$ times: with the
    smallest $\beta$ for which $\alpha \ge 1$, and the largest $\alpha$ for which the remainder stays l-eligible. For
    whole $l$ there always is one. For fractional $l$ there may be none, as for counts 2, 1 and $l = 3/2$: then the
    rest is dealt evenly, and values repeat in a bucket. Values of equal count are taken in the order of their codes.
    The work grows with the number of values, not of records.

    Parameters
    ----------
    counts : the number of records of every value.
    l : one over the largest share that a value may have in a bucket, at least 1.
    start, step : the numbers of values to try first: start, start + step, ...; if none of them works, any.

    Returns
    -------
    list
        Codes of the values of a bucket, and the number of buckets with these values.

    References
    ----------
    .. [1] Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
       https://doi.org/10.1145/1247480.1247556

    Examples
    --------
    >>> assign_buckets([5, 4, 3, 2], 2)
    [((0, 1), 4), ((2, 3), 2), ((0, 2), 1)]
    """
    if not is_eligible(counts, l):
        raise InfeasibleError("One value is too frequent to be assigned; suppress its surplus first.")
    left = RemainingCounts([(code, int(count)) for code, count in enumerate(counts)], l)
    pieces: Pieces = []
    while left.left:
        taken = left.take(left.least if start is None else start, step) or left.take(left.least)
        if taken is None:
            pieces += distribute_eligible(left.counts(), exact_fraction(l))
            break
        pieces.append(taken)
    return pieces


def distribute_in_turn(counts: Sequence[tuple[int, int]], buckets: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Deal records, ordered by value, to buckets in turn: every bucket gets its share of every value, rounded.

    >>> list(distribute_in_turn([(0, 4), (1, 2)], 2))
    [((0, 0, 1), 2)]
    """
    codes = np.array([code for code, _ in counts], dtype=np.int64)
    ends = np.cumsum([count for _, count in counts])
    turns = np.unique(np.append(ends % buckets, [0, buckets]))
    for first, last in pairwise(turns.tolist()):
        cards = np.arange(first, ends[-1], buckets)
        yield tuple(codes[np.searchsorted(ends, cards, side="right")].tolist()), last - first


def distribute_eligible(counts: list[tuple[int, int]], l: Fraction) -> Iterator[tuple[tuple[int, ...], int]]:
    """Deal an l-eligible remainder to as many buckets as certainly keep l."""
    total, largest = sum(count for _, count in counts), max(count for _, count in counts)
    buckets = total // ceil(l)
    while -(-largest // buckets) * l > total // buckets:
        buckets -= 1  # a single bucket of all the rest is eligible
    return distribute_in_turn(counts, buckets)
