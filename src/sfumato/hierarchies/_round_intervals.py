"""How narrow intervals with round ends can be, so that hardly any ends at a value that only a few records have."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import HierarchyError
from sfumato.hierarchies._steps import number_steps, number_units, to_fraction
from sfumato.hierarchies.intervals import Intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_RECORDS = 5  # that an interval should hold
MAX_SPARSE_SHARE = 0.05  # share of records in intervals that hold fewer
MAX_NARROW_INTERVALS = 200  # intervals over the range
MAX_CUTS = 100
CROWDED, MOST_CROWDED = (
    0.02,
    0.1,
)  # share of records from which an interval should be cut, and of those in such intervals
STEPS = {1: (1, 5, 10, 20, 40), 2: (1, 5, 10, 20), 5: (1, 2, 4, 8)}
NESTED = ("day", "month", "quarter", "year", "decade")
FEWER = 5  # intervals of a level make one of the next
MAX_WIDTH = Fraction(10) ** 300

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def narrowest_round_intervals(values: pa.Array, counts: Counts) -> Intervals | None:
    """Propose intervals whose first level is the narrowest that few records are alone in; None if nothing fits.

    Numbers get round widths. Where most records crowd into a few intervals of such a width, as amounts do, the ends are
    round numbers between quantiles instead. Dates get calendar units.

    Parameters
    ----------
    values : the distinct, nonmissing values of a column of numbers or dates.
    counts : how many records have each of them.

    Examples
    --------
    >>> ages = np.arange(18, 90)
    >>> narrowest_round_intervals(pa.array(ages), np.full(72, 30))
    Intervals(1, 5, 10, 20, 40)
    >>> narrowest_round_intervals(pa.array(ages), np.full(72, 3))
    Intervals(2, 10, 20, 40)
    """
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return _units(values.to_numpy(zero_copy_only=False), counts)
    known = np.asarray(pc.is_finite(values)) if pa.types.is_floating(values.type) else np.ones(len(values), dtype=bool)
    numbers, counts = values.to_numpy(zero_copy_only=False)[known], counts[known]
    order = np.argsort(numbers, kind="stable")
    numbers, counts = numbers[order], counts[order]
    if len(numbers) < 2:  # noqa: PLR2004 - one value has no range
        return None
    span = to_fraction(numbers[-1].item()) - to_fraction(numbers[0].item())
    if not 1 / MAX_WIDTH < span < MAX_WIDTH:
        return None
    chosen = _width(numbers, counts, span)
    if chosen is None:
        return _cuts(numbers, counts)
    digit, width = chosen
    crowded = _crowded_share(number_steps(numbers, Fraction(0), width), counts)
    cuts = _cuts(numbers, counts) if crowded > MOST_CROWDED else None
    widths = [step * width for step in STEPS[digit] if step == 1 or step * width < span]
    return cuts or Intervals(*map(_to_number, widths))


def _width(numbers: Numbers, counts: Counts, span: Fraction) -> tuple[int, Fraction] | None:
    """Find the narrowest round width in whose intervals few records are alone."""
    whole = numbers.dtype.kind == "i"
    tens = _power_of_ten(span) - 3
    for exponent in range(tens, tens + 4):
        for digit in STEPS:
            width = digit * Fraction(10) ** exponent
            if span / width > MAX_NARROW_INTERVALS or (whole and width.denominator > 1):
                continue
            try:
                steps = number_steps(numbers, Fraction(0), width)
            except HierarchyError:
                continue
            if _sparse_share(steps, counts) <= MAX_SPARSE_SHARE:
                return digit, width
    return None


def _sparse_share(steps: Counts, counts: Counts) -> float:
    """Return the share of records in intervals of fewer records than there should be."""
    held = _records_per_interval(steps, counts)
    return float(held[held < MIN_RECORDS].sum() / held.sum())


def _crowded_share(steps: Counts, counts: Counts) -> float:
    """Return the share of records in intervals of many records that have several values."""
    held, values = (
        _records_per_interval(steps, counts),
        _records_per_interval(steps, np.ones(len(counts), dtype=np.int64)),
    )
    return float(held[(held > CROWDED * held.sum()) & (values > FEWER)].sum() / held.sum())


def _records_per_interval(steps: Counts, counts: Counts) -> Counts:
    _, place = np.unique(steps, return_inverse=True)
    return np.bincount(place.ravel(), weights=counts).astype(np.int64)


def _cuts(numbers: Numbers, counts: Counts) -> Intervals | None:
    """Choose round numbers between quantiles, so that every interval holds enough records; levels above skip some."""
    least = max(MIN_RECORDS, -(-int(counts.sum()) // MAX_CUTS))
    inner = _between(numbers, counts, least)
    if len(inner) < FEWER:
        return None
    low, high = to_fraction(numbers[0].item()), to_fraction(numbers[-1].item())
    below, above = (
        Fraction(10) ** _power_of_ten(inner[0] - low),
        Fraction(10) ** _power_of_ten(max(high - inner[-1], inner[-1] - inner[-2])),
    )
    ends = low // below * below, (high // above + 1) * above
    levels = [inner]
    while len(levels[-1]) > 2 * FEWER:
        levels.append(_roundest_of_each(levels[-1]))
    cuts = [[_to_number(each) for each in (ends[0], *level, ends[1])] for level in levels]
    return Intervals(cuts=cuts) if len(set(cuts[0])) == len(cuts[0]) else None


def _between(numbers: Numbers, counts: Counts, least: int) -> list[Fraction]:
    """Return the roundest number after every so many records, before as many more have passed."""
    below = np.cumsum(counts)
    total, start, found = int(below[-1]), 0, []
    while total - start >= 2 * least:
        first = int(np.searchsorted(below, start + least))
        last = int(np.searchsorted(below, min(start + 2 * least, total - least), side="right")) - 1
        last = max(first, last)
        if last + 1 >= len(numbers) or total - int(below[first]) < least:
            break
        cut = _roundest(to_fraction(numbers[first].item()), to_fraction(numbers[last + 1].item()))
        passed = int(below[np.searchsorted(numbers, float(cut), side="left") - 1])
        if passed <= start:
            break
        found.append(cut)
        start = passed
    return found


def _roundest(low: Fraction, high: Fraction) -> Fraction:
    """Return the roundest number above one and up to another: a multiple of the widest 1, 2 or 5 times 10 to the n."""
    tens = _power_of_ten(high - low) + 2
    while True:
        for digit in (5, 2, 1):
            width = digit * Fraction(10) ** tens
            multiple = high // width * width
            if multiple > low:
                return multiple
        tens -= 1


def _roundest_of_each(points: Sequence[Fraction]) -> list[Fraction]:
    """Keep one of every few points, the roundest."""
    parts = [points[at : at + FEWER] for at in range(0, len(points), FEWER)]
    return [max(part, key=_roundness) for part in parts]


def _roundness(point: Fraction) -> tuple[int, int]:
    digits = str(_to_number(point)).rstrip("0").replace(".", "").strip("0-")
    return (-len(digits), -int(digits[-1] != "5") if digits else 1)


def _power_of_ten(number: Fraction) -> int:
    """Return the power of ten of the first digit of a positive number."""
    return math.floor(math.log10(number.numerator) - math.log10(number.denominator))


def _units(moments: npt.NDArray[np.datetime64], counts: Counts) -> Intervals | None:
    for unit in NESTED:
        if len(moments) and _sparse_share(number_units(moments, unit), counts) <= MAX_SPARSE_SHARE:
            rest = [each for each in NESTED[NESTED.index(unit) :] if np.ptp(number_units(moments, each))]
            return Intervals(*(rest or [unit]))
    return None


def _to_number(width: Fraction) -> float:
    return int(width) if width.denominator == 1 and abs(width) < 2**53 else float(width)
