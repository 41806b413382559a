r"""Intervals as we write them, `[20, 30)` or `[2020-01-31, 2020-02-15]`, read all at once instead of one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
MICROSECONDS_A_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False, repr=False)
class IntervalBatch:
    """Intervals of one kind: their places among the texts, their bounds, and whether the upper bound belongs to them.

    The lower bound always does. Bounds are numbers, or days since 1970; `whole` tells that all are whole numbers.
    """

    at: Ints
    low: Floats
    high: Floats
    closed: npt.NDArray[np.bool_]
    whole: bool

    def __len__(self) -> int:
        return len(self.at)

    def exclude(self, known: npt.NDArray[np.bool_]) -> IntervalBatch:
        """Leave out those at places that are known to mean something else."""
        keep = ~known[self.at]
        return IntervalBatch(self.at[keep], self.low[keep], self.high[keep], self.closed[keep], self.whole)


NO_INTERVALS = IntervalBatch(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_), whole=True)


def parse_number_intervals(texts: Sequence[str | None]) -> IntervalBatch:
    """Find the intervals of numbers among texts.

    >>> found = parse_number_intervals(["[20, 30)", "*", "[0.5, 1]", None])
    >>> found.at.tolist(), found.low.tolist(), found.closed.tolist()
    ([0, 2], [20.0, 0.5], [False, True])
    """
    return _match_intervals(texts, NUMBER, pa.float64())


def parse_date_intervals(texts: Sequence[str | None]) -> IntervalBatch:
    """Find the intervals of days among texts; bounds are days since 1970."""
    return _match_intervals(texts, DAY, pa.date32())


def _match_intervals(texts: Sequence[str | None], end: str, kind: pa.DataType) -> IntervalBatch:
    pattern = rf"\A\[(?P<low>{end}), (?P<high>{end})(?P<end>[\])])\z"
    parts = pc.extract_regex(pa.array(texts, pa.string()), pattern)
    at = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
    if not len(at):
        return NO_INTERVALS
    found = parts.take(pa.array(at))
    low, high, last = (found.field(place) for place in range(3))
    try:
        bounds = [_parse_numbers(side.cast(kind)) for side in (low, high)]
    except pa.ArrowInvalid:  # a day that is in no calendar
        return NO_INTERVALS
    ordered = bounds[0] <= bounds[1]
    whole = not any(pc.any(pc.match_substring(side, ".")).as_py() for side in (low, high))
    closed = pc.equal(last, "]").to_numpy(zero_copy_only=False)
    return IntervalBatch(at[ordered], bounds[0][ordered], bounds[1][ordered], closed[ordered], whole)


def _parse_numbers(values: pa.Array) -> Floats:
    days = values.cast(pa.int32()) if pa.types.is_date(values.type) else values
    return np.asarray(days.to_numpy(zero_copy_only=False), dtype=np.float64)
