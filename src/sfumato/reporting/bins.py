"""Bins for histograms of numbers and dates: some twenty, with round edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engine.domain import axis

Numbers = npt.NDArray[np.float64]
MOST_BINS = 24
LABELS_AT_ONCE = 1 << 16
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

    def place(self, positions: Numbers) -> npt.NDArray[np.intp]:
        """Find the bin of every position; what lies outside goes into the first or last one."""
        return np.clip(np.searchsorted(self.edges, positions, "right") - 1, 0, len(self) - 1)

    def count(self, positions: Numbers, weights: npt.NDArray[np.number]) -> Numbers:
        """Add the weights of points up in every bin."""
        return np.bincount(self.place(positions), weights=weights, minlength=len(self)).astype(np.float64)

    def spread(self, low: Numbers, high: Numbers, weights: npt.NDArray[np.number]) -> Numbers:
        """Spread weights evenly over spans from `low` to `high` on the axis, and add them up in every bin."""
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


def bins_for(values: pa.Array) -> Bins | None:
    """Choose bins for a column of these values; None for texts, and for numbers that no axis holds."""
    type_ = values.type
    known = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_date(type_)
    if not len(values) or not (known or pa.types.is_timestamp(type_)):
        return None
    places = axis(values)
    low, high = float(places.min()), float(places.max())
    if not np.isfinite(high - low):
        return None
    if pa.types.is_date(type_):
        return _dates(low, high, unit=1, half=0.5)
    if pa.types.is_timestamp(type_):
        return _dates(low, high, unit=MICROSECONDS, half=0)
    return _whole(int(low), int(high)) if pa.types.is_integer(type_) else _real(low, high)


def _whole(low: int, high: int) -> Bins:
    width = next(w for w in _round_widths(0) if high // w - low // w < MOST_BINS)
    first = low // width
    starts = [width * at for at in range(first, high // width + 1)]
    texts = [str(start) if width == 1 else f"{start}\u2013{start + width - 1}" for start in starts]
    return Bins(np.array([*starts, starts[-1] + width], dtype=np.float64) - 0.5, tuple(texts), 0.5)


def _real(low: float, high: float) -> Bins:
    if low == high:
        return Bins(np.array([low, np.nextafter(high, np.inf)]), (f"{low:g}",), 0)
    exponent = int(np.floor(np.log10((high - low) / MOST_BINS)))
    width = next(w for w in _round_widths(exponent) if high // w - low // w < MOST_BINS)
    edges = width * np.arange(low // width, high // width + 2)
    texts = tuple(f"{a:.12g} to {b:.12g}" for a, b in zip(edges[:-1], edges[1:], strict=True))
    return Bins(edges, texts, 0)


def _round_widths(exponent: int) -> Iterator[int | float]:
    while True:
        yield from (_scaled(digit, exponent) for digit in (1, 2, 5))
        exponent += 1


def _scaled(digit: int, exponent: int) -> int | float:
    return digit * 10**exponent if exponent >= 0 else float(f"{digit}e{exponent}")


def _dates(low: float, high: float, *, unit: int, half: float) -> Bins:
    first, last = (np.datetime64(int(place // unit), "D") for place in (low, high))
    days = int((last - first).astype(np.int64)) + 1
    if days <= MOST_BINS:
        starts = first + np.arange(days + 1)
        texts = [str(day) for day in starts[:-1]]
    else:
        starts, texts = _months(first, last)
    edges = starts.astype("datetime64[D]").astype(np.int64) * float(unit) - half
    return Bins(edges, tuple(texts), half)


def _months(first: np.datetime64, last: np.datetime64) -> tuple[npt.NDArray[np.datetime64], list[str]]:
    start, stop = (int(day.astype("datetime64[M]").astype(np.int64)) for day in (first, last))
    step = next((s for s in MONTHS if stop // s - start // s < MOST_BINS), MONTHS[-1])
    months = step * np.arange(start // step, stop // step + 2)
    starts = months.astype("datetime64[M]")
    if step == 1:
        return starts, [str(month) for month in starts[:-1]]
    unit = "Y" if step % YEAR == 0 else "M"
    ends = (months[1:] - 1).astype("datetime64[M]").astype(f"datetime64[{unit}]")
    begins = starts[:-1].astype(f"datetime64[{unit}]")
    texts = [str(a) if a == b else f"{a}\u2013{b}" for a, b in zip(begins, ends, strict=True)]
    return starts, texts
