"""How many people are alone with a few of their points."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Self

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns

Integers = npt.NDArray[np.int64]
BLOCK = 20_000_000  # random numbers drawn at once


@dataclass(frozen=True, eq=False)
class IndividualPoints:
    """The different points of every person, sorted, and the persons of every point."""

    points: Integers
    starts: Integers
    holders: Integers
    holder_starts: Integers

    @classmethod
    def from_pairs(cls, person: Integers, point: Integers, persons: int) -> Self:
        """Group pairs of a person and a point, both numbered from 0; pairs that repeat count once."""
        different = int(point.max(initial=-1)) + 1
        keys = group_columns([person, point], [persons, max(different, 1)]).keys
        keys.sort()
        owner, points = np.divmod(keys, max(different, 1))
        by_point = np.argsort(points, kind="stable")
        return cls(
            points=points,
            starts=_offsets(owner, persons),
            holders=owner[by_point],
            holder_starts=_offsets(points[by_point], different),
        )

    @property
    def counts(self) -> Integers:
        """How many different points every person has."""
        return np.diff(self.starts)

    def unique_shares(self, size: int, draws: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return for every person the share of her sets of `size` points that nobody else has.

        Who has fewer points gives all of them. Who has at most `draws` different sets is asked all of them, others as
        many random ones.
        """
        from sfumato.coding.kernels.known_points import count_unique

        lengths, of_person = np.unique(self.counts, return_inverse=True)
        sets = [comb(int(length), min(size, int(length))) for length in lengths]
        asked = np.array([each if each <= draws else -draws for each in sets], dtype=np.int64)[of_person]
        alone = np.zeros(len(asked), dtype=np.int64)
        step = max(1, BLOCK // (draws * size))
        for first in range(0, len(asked), step):
            block = slice(first, min(first + step, len(asked)))
            drawn = rng.random((len(asked[block]), draws, size))
            count_unique(
                *(self.points, self.starts, self.holders, self.holder_starts, size, asked[block], drawn),
                first,
                alone[block],
            )
        return alone / np.abs(asked)


def _offsets(sorted_numbers: Integers, count: int) -> Integers:
    """Return where every number begins in a sorted list of numbers, and where the list ends."""
    return np.searchsorted(sorted_numbers, np.arange(count + 1)).astype(np.int64)
