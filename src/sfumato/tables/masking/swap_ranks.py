"""Rank swapping: values change places with others of nearly the same rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.encoding._row_order import rank_column
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.masking._swapping import draw_partners
from sfumato.tables.masking.base import ColumnsStep, StepDescription, changed_share, replace_columns

Ints = npt.NDArray[np.int64]
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class SwapRanks(ColumnsStep):
    """Exchange every value with another one of nearly the same rank, each column for itself [1]_.

    From the lowest rank up, a value that has not moved changes places with one that has not, drawn among the next ranks
    within reach; the order of equal values is drawn. Missing cells stay where they are.

    Parameters
    ----------
    columns : columns of numbers or dates.
    reach : how far a value may move, as a share of the rows, in (0, 1).

    References
    ----------
    .. [1] Moore, "Controlled data-swapping techniques for masking public use microdata sets", US Bureau of the Census,
       1996. https://www.census.gov/library/working-papers/1996/adrm/rr96-04.html
    """

    name = "swap-ranks"
    reference = "Moore 1996, US Bureau of the Census, Research Report 96-04"
    description = StepDescription(
        promise="Every column keeps exactly its values, each with another person whose rank is at most the reach away.",
        open="No number of persons is promised to look alike. Whoever knows the reach and several values of a person "
        "is left with the few records that are within reach in all of them, hers among them. Relations between columns "
        "are weakened.",
    )

    reach: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_finite_number(self.reach) and self.reach > 0, self, "reach", "a share in (0, 1)", self.reach)
        if self.reach >= 1:
            raise InvalidParameterError(f"SwapRanks.reach must be a share in (0, 1), so 5 % is 0.05; got {self.reach}.")

    @property
    def random(self) -> bool:
        """Partners are drawn."""
        return True

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Swap every column."""
        self.check_columns(table)
        for name in self.columns:
            _reject_unordered(name, table[name].type)
        return replace_columns(table, {name: self._swapped(table[name], stream) for name in self.columns})

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure how far values moved, and whom an adversary finds who knows the reach and all these columns.

        `candidates` is the mean number of records within reach of a person in every column, `intersection-hit` the
        chance to take her own out of them.
        """
        shifts = [_mean_rank_change(before[name], after[name]) for name in self.columns]
        candidates, hit = self._intersection(before, after)
        return {
            "changed-cells": changed_share(before, after, self.columns),
            "rank-shift": float(np.mean(shifts)),
            "candidates": candidates,
            "intersection-hit": hit,
        }

    def _swapped(self, column: pa.ChunkedArray, stream: KeyedRandom) -> pa.ChunkedArray:
        order, known = _rank_order(column, stream), len(column) - column.null_count
        partners = draw_partners(known, int(self.reach * known), stream)
        source = np.arange(len(column))
        source[order[:known]] = order[:known][partners]
        return column.take(pa.array(source))

    def _intersection(self, before: pa.Table, after: pa.Table) -> tuple[float, float]:
        """Attack some persons, evenly spread, by intersecting what is within reach of them."""
        rows = before.num_rows
        targets = np.unique(np.linspace(0, rows - 1, max(1, min(rows, MOST_PAIRS // max(rows, 1)))).astype(np.int64))
        inside = np.ones((len(targets), rows), dtype=np.bool_)
        for name in self.columns:
            low, high, places = self._windows(before[name], after[name], targets)
            inside &= (places >= low[:, None]) & (places <= high[:, None])
        counts = inside.sum(axis=1)
        return float(counts.mean()), float((1 / np.maximum(counts, 1)).mean())

    def _windows(self, before: pa.ChunkedArray, after: pa.ChunkedArray, targets: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the first and last value within reach of every target, and every row's value, by their codes."""
        codes, width = rank_column(before)
        known = np.sort(codes[codes < width - 1])
        reach, own = int(self.reach * len(known)), codes[targets]
        first = np.maximum(np.searchsorted(known, own, "left") - reach, 0)
        last = np.minimum(np.searchsorted(known, own, "right") - 1 + reach, len(known) - 1)
        missing = own == width - 1
        low = np.where(missing, width - 1, known[np.minimum(first, len(known) - 1)] if len(known) else width - 1)
        high = np.where(missing, width - 1, known[last] if len(known) else width - 1)
        return low, high, rank_column(after)[0]


def _reject_unordered(name: str, kind: pa.DataType) -> None:
    types = pa.types
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_date(kind) or types.is_timestamp(kind)):
        raise SchemaError(
            f"SwapRanks swaps numbers and dates, but column {name!r} holds neither; use Pram, or name another column."
        )


def _rank_order(column: pa.ChunkedArray, stream: KeyedRandom) -> Ints:
    """Return the rows in the order of their values, missing ones last.

    Ties are drawn: an order that follows other columns would move these along, and change how columns go together.
    """
    codes, drawn = rank_column(column)[0], stream.permutation(len(column))
    return np.asarray(drawn[np.argsort(codes[drawn], kind="stable")])


def _mean_rank_change(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    """Return the mean change of rank of a row's value, as a share of the rows; ties have their middle rank."""
    codes, width = rank_column(before)
    counts = np.bincount(codes, minlength=width)
    middle = np.cumsum(counts) - (counts + 1) / 2
    moved = np.abs(middle[codes] - middle[rank_column(after)[0]])
    known = codes < width - 1
    return float(moved[known].mean() / known.sum()) if known.any() else 0.0
