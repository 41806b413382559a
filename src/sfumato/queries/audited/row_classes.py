"""Rows that were always asked about together form one class, so that the work grows with classes, not with rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionCover:
    """How a set of rows meets the classes: which it covers fully, and which it would split.

    A split class keeps its uncovered rows; its covered rows get the next free number, in the order of `split`.
    """

    rows: Truths
    inside: Integers
    sizes: Integers
    full: Truths
    split: Integers

    @property
    def members(self) -> Truths:
        """Which classes are in the set, once the split is made."""
        return np.concatenate([self.full, np.ones(len(self.split), dtype=np.bool_)])

    @property
    def sizes_after(self) -> Integers:
        """The sizes of all classes, once the split is made."""
        kept = np.where(self.full, self.sizes, self.sizes - self.inside)
        return np.concatenate([kept, self.inside[self.split]])


class RowPartition:
    """The classes of rows."""

    def __init__(self, rows: int) -> None:
        self.classes = np.zeros(rows, dtype=np.int64)
        self.sizes = np.array([rows], dtype=np.int64)

    def cover(self, rows: Truths) -> PartitionCover:
        """Return how a set of rows meets the classes, without splitting any."""
        inside = np.bincount(self.classes[rows], minlength=len(self.sizes)).astype(np.int64)
        full = (inside == self.sizes) & (self.sizes > 0)
        split = np.flatnonzero((inside > 0) & ~full)
        return PartitionCover(rows=rows, inside=inside, sizes=self.sizes, full=full, split=split)

    def split(self, cover: PartitionCover) -> None:
        """Split the classes that a set covers in part."""
        numbers = np.arange(len(self.sizes))
        numbers[cover.split] = len(self.sizes) + np.arange(len(cover.split))
        self.classes[cover.rows] = numbers[self.classes[cover.rows]]
        self.sizes = cover.sizes_after
