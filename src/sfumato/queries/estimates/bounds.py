"""The smallest and the largest sum or average that some records can have."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

import numpy as np

from sfumato.queries.estimates.buckets import SortedBuckets
from sfumato.queries.estimates.columns import PublishedColumn
from sfumato.queries.estimates.pieces import Floats
from sfumato.queries.query import Condition


@dataclass(frozen=True, eq=False, repr=False)
class OptionalNumbers:
    """Numbers from which some are chosen so that the sum or average is smallest.

    Parameters
    ----------
    loose : single numbers.
    must, may : how often each of them must and may be chosen.
    packed : the numbers in buckets.
    least, most : how many numbers of every bucket must and may be chosen.
    """

    loose: Floats
    must: Floats
    may: Floats
    packed: SortedBuckets
    least: Floats
    most: Floats

    def select_below(self, limit: float) -> tuple[float, float]:
        """Choose what must be chosen, and everything below a limit that may be; return the sum and number of choices.

        The smallest numbers of a bucket are chosen, as many as must be or as lie below the limit.
        """
        times = np.where(self.loose < limit, self.may, self.must)
        used = times > 0
        total, number = float((times[used] * self.loose[used]).sum()), float(times.sum())
        taken = np.clip(self.packed.count_below(limit), self.least, self.most)
        return total + self.packed.sum_of_smallest(taken.astype(np.int64)), number + float(taken.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Records to sum: how many of every cell certainly and possibly satisfy the conditions on other attributes."""

    column: PublishedColumn
    condition: Condition | None
    surely: Floats
    perhaps: Floats

    def for_minimum(self) -> OptionalNumbers:
        """Return the numbers from which a smallest sum or average is chosen."""
        sums = self.column.sums(self.condition)
        return self._chosen(sums.numbers.least, sums.ascending)

    def for_maximum(self) -> OptionalNumbers:
        """Return the same for the largest, with all numbers negated."""
        sums = self.column.sums(self.condition)
        return self._chosen(-sums.numbers.greatest, sums.descending)

    def _chosen(self, values: Floats, packed: SortedBuckets) -> OptionalNumbers:
        labels, buckets = self.column.labels, self.column.buckets
        judged, _ = self.column.evaluate(self.condition)
        loose = np.where(judged.possible, values, 0.0)
        must, may = self.surely[:labels] * judged.sure, self.perhaps[:labels] * judged.possible
        most = np.minimum(self.perhaps[labels:], packed.sizes)
        others = buckets.sizes - buckets.count(judged.sure)
        least = np.minimum(np.maximum(self.surely[labels:] - others, 0.0), most)
        return OptionalNumbers(loose, must, may, packed, least, most)


def sum_bounds(selection: Selection) -> tuple[float, float]:
    """Find the smallest and the largest sum."""
    return selection.for_minimum().select_below(0.0)[0], -selection.for_maximum().select_below(0.0)[0] + 0.0


def average_bounds(selection: Selection) -> tuple[float, float]:
    """Find the smallest and the largest average; NaN if no record can be chosen."""
    return _minimum_average(selection.for_minimum()), -_minimum_average(selection.for_maximum())


def _minimum_average(chosen: OptionalNumbers) -> float:
    """Lower the average step by step: choose only what lies below it, until nothing is left to drop."""
    total, number = chosen.select_below(inf)
    if number == 0:
        return nan
    average = total / number
    while True:
        total, number = chosen.select_below(average)
        if number == 0 or total / number >= average:
            return average
        average = total / number
