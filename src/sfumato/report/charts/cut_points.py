"""The records of a column along its axis, with the limits of the intervals that are to hide them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count as count_from
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato._number_format import format_count
from sfumato.encoding.domain import to_axis
from sfumato.hierarchies._interval_limits import list_limits
from sfumato.hierarchies.preview import count_values
from sfumato.io._values import format_value
from sfumato.report.charts.scales import Bins, Numbers, choose_bins
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    QUIET,
    draw_line,
    rectangle,
    svg_document,
    text_line,
    text_width,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.hierarchies.intervals import Intervals, Point

HEIGHT = 190
TOP, BOTTOM, SIDE = 12, 24, 14
BAR_WIDTH = 9
LETTER = 6.2
TICK = 8
CLOSE, CLOSEST = 12, 4  # limits nearer than this become marks on the axis, or are not drawn

Marks = list[tuple[float, str]]


@dataclass(frozen=True, eq=False)
class CutPointChart:
    """A picture and what it shows: records per bin, and the place of the axis in it.

    `left` and `right` are the ends of the axis in the picture; `low` and `high` are the numbers there (of dates: days,
    of moments: microseconds since 1970).
    """

    svg: str
    bars: tuple[tuple[str, int], ...]
    left: float
    right: float
    low: float
    high: float


def draw_cut_points(
    column: pa.Array | pa.ChunkedArray,
    intervals: Intervals | None = None,
    *,
    title: str,
    description: str = "",
    width: float = 700,
) -> CutPointChart | None:
    """Draw a histogram of numbers or dates with the limits of intervals; None where there is nothing to draw.

    The limits of the widest level are lines, those of the next are dashed, those of the others are marks on the axis.
    Around limits that are typed there is room to get hold of them.

    Parameters
    ----------
    column : the values, one per record; missing ones are left out.
    intervals : whose limits to draw; by default none.
    title : what a screen reader calls the picture.
    description : what it says about it.
    width : of the picture, which also says how many bars have room.
    """
    values, records = count_values(column)
    if pa.types.is_floating(values.type):
        finite = np.isfinite(values.to_numpy(zero_copy_only=False))
        values, records = values.filter(pa.array(finite)), records[finite]
    bins = choose_bins(values, records, most=max(int((width - 2 * SIDE) / BAR_WIDTH), 2)) if len(values) else None
    if bins is None:
        return None
    counts = bins.count(to_axis(values), records)
    scale = _Scale.over(bins, width)
    points = () if intervals is None else list_limits(intervals, values)
    levels = tuple(_cut_marks(each, values.type, bins.half) for each in points)
    shapes = [
        *_bars(scale, bins, counts),
        *_draw_cut_lines(scale, levels, grips=intervals is not None and intervals.cuts is not None),
        *_ticks(scale, values, levels),
    ]
    svg = svg_document(width, HEIGHT, title=title, description=description, shapes=shapes)
    texts = _bin_texts(scale, bins)
    bars = tuple((label, int(number)) for label, number in zip(texts, counts.tolist(), strict=True))
    return CutPointChart(svg, bars, SIDE, width - SIDE, scale.low + bins.half, scale.high + bins.half)


@dataclass(frozen=True, eq=False)
class _Scale:
    """Edges as they are drawn: an open bin at either end is as wide as its neighbor."""

    edges: Numbers
    width: float
    below: bool
    above: bool

    @classmethod
    def over(cls, bins: Bins, width: float) -> _Scale:
        edges = bins.edges.copy()
        below = above = False
        if len(bins) > 2:  # noqa: PLR2004 - two bins have no third one to compare with
            below, above = bins.texts[0].startswith("below "), bins.texts[-1].endswith(" or more")
            edges[0] = 2 * edges[1] - edges[2] if below else edges[0]
            edges[-1] = 2 * edges[-2] - edges[-3] if above else edges[-1]
        if edges[0] == edges[-1]:
            edges = edges + np.array([-0.5, 0.5])
        return cls(edges, width, below, above)

    @property
    def low(self) -> float:
        return float(self.edges[0])

    @property
    def high(self) -> float:
        return float(self.edges[-1])

    def x(self, place: float) -> float:
        return SIDE + (place - self.low) / (self.high - self.low) * (self.width - 2 * SIDE)

    def shows(self, place: float) -> bool:
        return self.low <= place <= self.high

    def distance(self, marks: Marks) -> float:
        """Return how far marks stand from each other, on average."""
        shown = sorted(place for place, _ in marks if self.shows(place))
        return self.width if len(shown) < 2 else (self.x(shown[-1]) - self.x(shown[0])) / (len(shown) - 1)  # noqa: PLR2004 - one stands alone

    def middle(self, place: float, label: str) -> float:
        """Return the middle of a label, moved inward where it would leave the picture."""
        half = text_width(label) * LETTER / 2
        return min(max(self.x(place), half), self.width - half)

    def labels_fit(self, marks: Marks) -> bool:
        spans = sorted((self.middle(*mark), text_width(mark[1]) * LETTER) for mark in marks)
        return all(one + wide / 2 + TICK < other - wider / 2 for (one, wide), (other, wider) in pairwise(spans))


def _bin_texts(scale: _Scale, bins: Bins) -> list[str]:
    """Name the bins without words, which differ by language."""
    texts = [text.replace(" to ", " \u2026 ") for text in bins.texts]
    if scale.below:
        texts[0] = "< " + bins.texts[0].removeprefix("below ")
    if scale.above:
        texts[-1] = "\u2265 " + bins.texts[-1].removesuffix(" or more")
    return texts


def _bars(scale: _Scale, bins: Bins, counts: Numbers) -> Iterator[str]:
    tallest, room = float(counts.max()) or 1, HEIGHT - TOP - BOTTOM
    for (low, high), number, label in zip(pairwise(scale.edges.tolist()), counts, _bin_texts(scale, bins), strict=True):
        height = room * float(number) / tallest
        left, right = scale.x(low) + 0.5, scale.x(high) - 0.5
        tip = f"{label}: {format_count(number)}"
        yield rectangle(left, HEIGHT - BOTTOM - height, right - left, height, fill=BEFORE, edge=BEFORE_EDGE, tip=tip)
    yield draw_line(SIDE, HEIGHT - BOTTOM, scale.width - SIDE, HEIGHT - BOTTOM, ink=BEFORE_EDGE)


def _draw_cut_lines(scale: _Scale, levels: tuple[Marks, ...], *, grips: bool) -> Iterator[str]:
    drawn: set[str] = set()
    foot, rank = HEIGHT - BOTTOM, 0
    for marks in reversed(levels):
        apart = scale.distance(marks)
        if apart < CLOSEST:
            continue
        lines = rank < 2 and apart >= CLOSE  # noqa: PLR2004 - two levels have lines, others only marks
        for place, label in marks:
            if label not in drawn and scale.shows(place):
                x, top = scale.x(place), TOP if lines else foot - TICK
                dashes = "3 3" if lines and rank else "none"
                shape = draw_line(x, top, x, foot, ink=AFTER, width=1 if rank else 2, dashes=dashes)
                grip = rectangle(x - TICK, TOP, 2 * TICK, foot - TOP, fill="transparent") if grips else ""
                yield f'<g class="limit" data-limit="{label}">{shape}{grip}</g>'
        drawn |= {label for _, label in marks}
        rank += 1


def _ticks(scale: _Scale, values: pa.Array, levels: tuple[Marks, ...]) -> Iterator[str]:
    """Name the limits of the widest levels, or else some values, as far as there is room."""
    named: Marks = []
    for marks in reversed(levels):
        more = [mark for mark in marks if scale.shows(mark[0]) and mark not in named]
        if scale.labels_fit([*named, *more]):
            named += more
        elif not named:
            named = next(some for step in count_from(2) if scale.labels_fit(some := more[::step]))
    if not named:
        shown = values.take(pa.array(np.unique(np.linspace(0, len(values) - 1, 6).astype(np.int64))))
        some = [(float(at), format_value(value)) for at, value in zip(to_axis(shown), shown.to_pylist(), strict=True)]
        some = [mark for mark in some if scale.shows(mark[0])]
        named = some if scale.labels_fit(some) else some[:1]
    for place, label in named:
        yield draw_line(scale.x(place), HEIGHT - BOTTOM, scale.x(place), HEIGHT - BOTTOM + 4, ink=BEFORE_EDGE)
        yield text_line(scale.middle(place, label), HEIGHT - 6, label, size=11, ink=QUIET, anchor="middle")


def _cut_marks(points: tuple[Point, ...], type_: pa.DataType, half: float) -> Marks:
    return [(_axis_position(point, type_) - half, format_value(point)) for point in points]


def _axis_position(point: Point, type_: pa.DataType) -> float:
    if not isinstance(point, str):
        return float(point)
    unit = "D" if pa.types.is_date(type_) else "us"
    return float(np.datetime64(point).astype(f"datetime64[{unit}]").astype(np.int64))
