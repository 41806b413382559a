"""Bins for histograms of numbers and dates: some twenty, with round edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count, pairwise
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.domain import to_axis

# An axis of a picture, from a round number to a round number.

MAX_TICKS = 6
AXIS_ROUND_DIGITS = (1, 2, 5, 10)
ROUNDING = 1e-9

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """An axis with ticks at round numbers.

    >>> Axis.covering(np.array([0.11, 0.52]))
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


MAX_BINS = 24
LABELS_AT_ONCE = 1 << 16
ROUND_DIGITS = (1, 2, 5)
BEYOND_AXES = 1e300
FAR_SHARE = 0.01  # of the records, at either end
FAR = 3  # times the range of the others
LARGE = 10_000
NO_WIDTH = 1e-9  # of the numbers themselves: closer ones are one value
MICROSECONDS = 86_400_000_000
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000, 24_000, 60_000)
YEAR = 12


@dataclass(frozen=True, eq=False)
class Bins:
    """Edges on the axis of a column, and a text for every bin.

    `half` is half the distance of neighboring values: 0.5 for whole numbers and dates, which fill the axis
    from half a unit below to half a unit above, and 0 for others.
    """

    edges: Numbers
    texts: tuple[str, ...]
    half: float

    def __len__(self) -> int:
        return len(self.texts)

    def index_of(self, positions: Numbers) -> npt.NDArray[np.intp]:
        """Find the bin of every position; what lies outside goes into the first or last one."""
        return np.clip(np.searchsorted(self.edges, positions, "right") - 1, 0, len(self) - 1)

    def count(self, positions: Numbers, weights: npt.NDArray[np.number]) -> Numbers:
        """Sum the weights of points in every bin."""
        return np.bincount(self.index_of(positions), weights=weights, minlength=len(self)).astype(np.float64)

    def distribute(self, low: Numbers, high: Numbers, weights: npt.NDArray[np.number]) -> Numbers:
        """Spread weights evenly over spans from `low` to `high` on the axis, and sum them in every bin."""
        points = ~(high > low)
        mass = self.count(low[points], weights[points])
        low, high, weights = low[~points], high[~points], weights[~points]
        for start in range(0, len(low), LABELS_AT_ONCE):
            piece = slice(start, start + LABELS_AT_ONCE)
            width = (high[piece] - low[piece])[:, None]
            below = np.clip((self.edges[None, 1:-1] - low[piece][:, None]) / width, 0, 1)
            whole = np.ones((len(width), 1))
            shares = np.diff(np.hstack([0 * whole, below, whole]), axis=1)
            mass += (shares * weights[piece][:, None]).sum(axis=0)
        return mass


def choose_bins(values: pa.Array, counts: npt.NDArray[np.number], *, most: int = MAX_BINS) -> Bins | None:
    """Choose bins for a column with these distinct values; None for texts, and for numbers that fit no axis.

    If a few numbers lie far out, the bins are chosen for the others and the outermost bins are left open.
    """
    type_ = values.type
    numbers = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    if not len(values) or not (numbers or pa.types.is_date(type_) or pa.types.is_timestamp(type_)):
        return None
    places = to_axis(values)
    low, high = float(places.min()), float(places.max())
    if not max(-low, high) < BEYOND_AXES:
        return None
    if pa.types.is_date(type_):
        return _date_bins(low, high, most, unit=1, half=0.5)
    if pa.types.is_timestamp(type_):
        return _date_bins(low, high, most, unit=MICROSECONDS, half=0)
    inner = _central_range(places, counts)
    bins = _integer_bins(int(inner[0]), int(inner[1]), most) if pa.types.is_integer(type_) else _real_bins(*inner, most)
    return _with_open_ends(bins, low, high)


def _central_range(places: Numbers, counts: npt.NDArray[np.number]) -> tuple[float, float]:
    """Find where most numbers lie: their whole range, or without the far ends if these take up most of it."""
    order = np.argsort(places, kind="stable")
    below = np.cumsum(counts[order])
    ends = np.searchsorted(below, [FAR_SHARE * below[-1], (1 - FAR_SHARE) * below[-1]])
    low, high = places[order[ends]].tolist()
    whole = float(places.min()), float(places.max())
    return (low, high) if low < high and whole[1] - whole[0] > FAR * (high - low) else whole


def _with_open_ends(bins: Bins, low: float, high: float) -> Bins:
    edges, texts = bins.edges.copy(), list(bins.texts)
    if high > edges[-1]:
        edges[-1], texts[-1] = high + bins.half, f"{_format_edge(edges[-2] + bins.half)} or more"
    if low < edges[0]:
        edges[0], texts[0] = low - bins.half, f"below {_format_edge(edges[1] + bins.half)}"
    return Bins(edges, tuple(texts), bins.half)


def _integer_bins(low: int, high: int, most: int) -> Bins:
    sizes = (digit * 10**exponent for exponent in count() for digit in ROUND_DIGITS)
    width = next(size for size in sizes if high // size - low // size < most)
    starts = [width * at for at in range(low // width, high // width + 1)]
    between = "\u2013" if low >= 0 else " to "
    texts = [
        _format_edge(start) + (f"{between}{_format_edge(start + width - 1)}" if width > 1 else "") for start in starts
    ]
    return Bins(np.array([*starts, starts[-1] + width], dtype=np.float64) - 0.5, tuple(texts), 0.5)


def _real_bins(low: float, high: float, most: int) -> Bins:
    if high - low <= max(NO_WIDTH * max(-low, high), 1 / BEYOND_AXES):
        return Bins(np.array([low, high]), (_format_edge(low),), 0)
    smallest = math.floor(math.log10((high - low) / most))
    sizes = (float(f"{digit}e{exponent}") for exponent in count(smallest) for digit in ROUND_DIGITS)
    width = next(size for size in sizes if high // size - low // size < most)
    edges = width * np.arange(low // width, high // width + 2)
    texts = tuple(f"{_format_edge(start)} to {_format_edge(stop)}" for start, stop in pairwise(edges.tolist()))
    return Bins(edges, texts, 0)


def _format_edge(number: float) -> str:
    """Format a number; large ones in groups of three digits, except possible years."""
    if isinstance(number, int):
        return f"{number:,}" if abs(number) >= LARGE else str(number)
    return f"{number:,.12g}" if abs(number) >= LARGE else f"{number:.12g}"


def _date_bins(low: float, high: float, most: int, *, unit: int, half: float) -> Bins:
    first, last = (np.datetime64(int(place // unit), "D") for place in (low, high))
    days = int((last - first).astype(np.int64)) + 1
    if days <= most:
        starts = first + np.arange(days + 1)
        texts = [str(day) for day in starts[:-1]]
    else:
        starts, texts = _month_bins(first, last, most)
    edges = starts.astype("datetime64[D]").astype(np.int64).astype(np.float64) * unit - half
    return Bins(edges, tuple(texts), half)


def _month_bins(first: np.datetime64, last: np.datetime64, most: int) -> tuple[npt.NDArray[np.datetime64], list[str]]:
    start, stop = (int(day.astype("datetime64[M]").astype(np.int64)) for day in (first, last))
    step = next((s for s in MONTHS if stop // s - start // s < most), MONTHS[-1])
    months = step * np.arange(start // step, stop // step + 2)
    starts = months.astype("datetime64[M]")
    if step == 1:
        return starts, [str(month) for month in starts[:-1]]
    unit = "Y" if step % YEAR == 0 else "M"
    ends = (months[1:] - 1).astype("datetime64[M]").astype(f"datetime64[{unit}]")
    begins = starts[:-1].astype(f"datetime64[{unit}]")
    texts = [str(a) if a == b else f"{a}\u2013{b}" for a, b in zip(begins, ends, strict=True)]
    return starts, texts
