"""An axis of a picture, from a round number to a round number."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt

MAX_TICKS = 6
AXIS_ROUND_DIGITS = (1, 2, 5, 10)
ROUNDING = 1e-9

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """An axis with ticks at round numbers.

    >>> Axis.over(np.array([0.11, 0.52]))
    Axis(low=0.1, high=0.6, step=0.1)
    """

    low: float
    high: float
    step: float

    @classmethod
    def covering(cls, values: Numbers) -> Axis:
        """Choose an axis that contains all values."""
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        span = high - low or abs(high) or 1.0
        unit = 10.0 ** floor(log10(span / MAX_TICKS))
        step = next(digit * unit for digit in AXIS_ROUND_DIGITS if span / (digit * unit) <= MAX_TICKS)
        first, last = floor(low / step + ROUNDING), ceil(high / step - ROUNDING)
        return cls(_drop_rounding(first * step), _drop_rounding(max(last, first + 1) * step), _drop_rounding(step))

    @property
    def ticks(self) -> list[float]:
        """The round numbers from end to end."""
        return [
            _drop_rounding(self.low + at * self.step) for at in range(round((self.high - self.low) / self.step) + 1)
        ]

    def position(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def positions(self, values: Numbers) -> Numbers:
        """Return how far along the axis values are, from 0 to 1."""
        return np.asarray((values - self.low) / (self.high - self.low))


def _drop_rounding(number: float) -> float:
    """Drop digits left by rounding."""
    return float(f"{number:.12g}")
