"""What sums reveal: the reduced echelon form of all answered sums, modulo a prime, with exact proofs.

A value is determined if and only if the form has a row with a single person. The form has the same rank modulo the
prime as over the rational numbers: rows that are independent modulo the prime are independent, and a sum counts as
dependent on others only if a combination with small fractions proves it exactly. Equal ranks make the test safe:
whatever is determined over the rational numbers is determined modulo the prime. At worst the prime makes the
auditor deny too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.queries._kernels import PRIME, add_rows, isolates_one_row, subtract_multiples
from sfumato.queries.query_history import PartitionCover, RowPartition, Truths

SMALL = 1 << 15  # fractions with smaller numerators and denominators are unique modulo the prime
INITIAL_CAPACITY = 64
MAX_CELLS = 2**29  # of the form, about 3 GB in total; what would need more is denied
Numbers = npt.NDArray[np.int64]
Small = TypeVar("Small", np.int8, np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class SumDisclosure:
    """What another sum would do: reveal nothing new, disclose a value, or neither."""

    known: bool
    discloses: bool
    cover: PartitionCover
    reduced: Numbers
    combination: Numbers
    pivot: int = -1


class SumAuditor:
    """The answered sums of a column."""

    def __init__(self, rows: int) -> None:
        self.partition = RowPartition(rows)
        self.rank = 0
        self._pivots = np.zeros(0, dtype=np.int64)
        self._form = np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY), dtype=np.int32)
        self._made_of = np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY), dtype=np.int32)
        self._asked = np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY), dtype=np.int8)

    @property
    def independent_sums(self) -> npt.NDArray[np.int8]:
        """The answered sums that do not follow from others: 1 for classes inside."""
        return self._asked[: self.rank, : self._width]

    @property
    def _width(self) -> int:
        return len(self.partition.sizes)

    def check(self, rows: Truths) -> SumDisclosure:
        """Return what the sum over these rows would reveal, whatever it is."""
        cover = self.partition.cover(rows)
        width, rank = self._width, self.rank
        if (rank + 1) * (width + len(cover.split)) > MAX_CELLS:
            nothing = np.zeros(0, dtype=np.int64)
            return SumDisclosure(known=False, discloses=True, cover=cover, reduced=nothing, combination=nothing)
        chosen = np.flatnonzero(cover.full[self._pivots])
        total = np.zeros(width, dtype=np.int64)
        add_rows(self._form, chosen, width, total)
        made = np.zeros(rank + 1, dtype=np.int64)
        add_rows(self._made_of, chosen, rank, made)
        kept = (cover.full.astype(np.int64) + PRIME - total) % PRIME
        reduced = np.concatenate([kept, (1 + PRIME - total[cover.split]) % PRIME])
        if not reduced.any():
            proven = self._is_combination(made[:rank], cover.full)
            return SumDisclosure(known=proven, discloses=not proven, cover=cover, reduced=reduced, combination=made)
        pivot = int(np.flatnonzero(reduced)[0])
        inverse = pow(int(reduced[pivot]), -1, PRIME)
        reduced = reduced * inverse % PRIME
        made = (PRIME - made) % PRIME
        made[rank] = 1
        made = made * inverse % PRIME
        sizes = cover.sizes_after
        alone = int(sizes[reduced > 0].sum()) == 1
        if not alone:
            alone = isolates_one_row(self._columns(cover), self._factors(pivot, cover), reduced, sizes)
        return SumDisclosure(known=False, discloses=alone, cover=cover, reduced=reduced, combination=made, pivot=pivot)

    def accept(self, disclosure: SumDisclosure) -> None:
        """Record an answered sum."""
        if disclosure.known:
            return
        cover, rank = disclosure.cover, self.rank
        self._grow(rank + 1, len(disclosure.reduced))
        old, width = self._width, len(disclosure.reduced)
        factors = self._factors(disclosure.pivot, cover)
        for matrix in (self._form, self._asked):
            matrix[:rank, old:width] = matrix[:rank, cover.split]
        subtract_multiples(self._form[:rank, :width], factors, disclosure.reduced)
        subtract_multiples(self._made_of[:rank, : rank + 1], factors, disclosure.combination)
        self._form[rank, :width] = disclosure.reduced
        self._made_of[rank, : rank + 1] = disclosure.combination
        self._asked[rank, :width] = cover.members
        self._pivots = np.append(self._pivots, disclosure.pivot)
        self.partition.split(cover)
        self.rank += 1

    def _columns(self, cover: PartitionCover) -> npt.NDArray[np.int32]:
        """Return the form with the columns that a split would add."""
        form = self._form[: self.rank, : self._width]
        return np.concatenate([form, form[:, cover.split]], axis=1) if len(cover.split) else form

    def _factors(self, pivot: int, cover: PartitionCover) -> Numbers:
        source = pivot if pivot < self._width else int(cover.split[pivot - self._width])
        return self._form[: self.rank, source].astype(np.int64)

    def _is_combination(self, made: Numbers, full: Truths) -> bool:
        """Prove exactly that a sum follows from answered ones."""
        whole = _common_denominator(made)
        if whole is None:
            return False
        factors = _to_signed(made * whole % PRIME)
        total = factors @ self.independent_sums.astype(np.int64)
        return bool(np.array_equal(total, whole * full))

    def _grow(self, rank: int, width: int) -> None:
        self._form = _grow_matrix(self._form, rank, width)
        self._asked = _grow_matrix(self._asked, rank, width)
        self._made_of = _grow_matrix(self._made_of, rank, rank)


def _grow_matrix(matrix: npt.NDArray[Small], rows: int, columns: int) -> npt.NDArray[Small]:
    have = matrix.shape
    if rows <= have[0] and columns <= have[1]:
        return matrix
    shape = [size if wanted <= size else 3 * wanted // 2 for wanted, size in zip((rows, columns), have, strict=True)]
    larger = np.zeros(shape, dtype=matrix.dtype)
    larger[: have[0], : have[1]] = matrix
    return larger


def _to_signed(numbers: Numbers) -> Numbers:
    return np.where(numbers > PRIME // 2, numbers - PRIME, numbers)


def _common_denominator(numbers: Numbers) -> int | None:
    """Find one denominator that makes all numbers small fractions, or none."""
    whole = 1
    while True:
        signed = np.abs(_to_signed(numbers * whole % PRIME))
        large = np.flatnonzero(signed >= SMALL)
        if not len(large):
            return whole
        whole *= _denominator(int(numbers[large[0]]) * whole % PRIME)
        if whole >= SMALL:
            return None


def _denominator(number: int) -> int:
    """Find the denominator of a small fraction that equals a number modulo the prime (Wang's reconstruction)."""
    (old, now), (before, after) = (PRIME, number), (0, 1)
    while now >= SMALL:
        quotient = old // now
        old, now = now, old - quotient * now
        before, after = after, before - quotient * after
    return abs(after)
