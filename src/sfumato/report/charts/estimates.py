"""Pictures of collected data: a reconstructed distribution, and estimated frequencies with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from sfumato._neighbors import describe_epsilon
from sfumato.dp.answers import PrivateCounts
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.local_dp.estimates import FrequencyEstimate
from sfumato.local_dp.reconstruction._axes import NumericAxis
from sfumato.local_dp.reconstruction.distribution import Reconstruction
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    QUIET,
    draw_line,
    polyline,
    rectangle,
    svg_document,
    text_line,
)

# Noisy counts as a picture: a bar for every cell, and the interval that contains the true count.

NOISY_COUNT_WIDTH, NOISY_COUNT_HEIGHT = 640, 300
NOISY_COUNT_LEFT, NOISY_COUNT_RIGHT, NOISY_COUNT_TOP, NOISY_COUNT_BOTTOM = 56, 12, 28, 60
BAR = "#0072B2"
MAX_LABELS = 24
MAX_BARS = 300
LETTERS = 14


def draw_noisy_counts(answer: PrivateCounts, *, truth: Sequence[float] | None = None) -> str:
    """Draw a histogram or contingency table as a picture (SVG).

    Parameters
    ----------
    answer : the answer to draw.
    truth : the true counts, drawn as dots. They are secret: draw them to see what noise does, never to publish.
    """
    cells = len(answer.cells)
    if cells > MAX_BARS:
        raise InvalidParameterError(f"A picture shows at most {MAX_BARS} cells, but this answer has {cells}.")
    if truth is not None and len(truth) != cells:
        raise InvalidParameterError(f"There must be one true count per cell, {cells} in all; got {len(truth)}.")
    dots = [] if truth is None else [float(each) for each in truth]
    low = min(0.0, float(answer.lower.min()), *dots)
    high = max(1.0, float(answer.upper.max()), *dots)
    scale = (NOISY_COUNT_HEIGHT - NOISY_COUNT_TOP - NOISY_COUNT_BOTTOM) / (high - low)
    step = (NOISY_COUNT_WIDTH - NOISY_COUNT_LEFT - NOISY_COUNT_RIGHT) / cells

    def y(count: float) -> float:
        return NOISY_COUNT_TOP + (high - count) * scale

    parts = [_counts_axis(y(0), y(high), high)]
    for place, count in enumerate(answer.counts.tolist()):
        x, wide = NOISY_COUNT_LEFT + place * step, step * 0.7
        top, bottom = sorted((y(count), y(0)))
        middle = x + step / 2
        parts.append(
            f'<rect x="{x + step * 0.15:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{bottom - top:.1f}" '
            f'fill="{BAR}" fill-opacity="0.55"/>'
            f'<path d="M{middle:.1f} {y(answer.lower[place]):.1f}V{y(answer.upper[place]):.1f}" stroke="currentColor"/>'
        )
        if dots:
            parts.append(f'<circle cx="{middle:.1f}" cy="{y(dots[place]):.1f}" r="2.5" fill="#D55E00"/>')
        if place % max(1, -(-cells // MAX_LABELS)) == 0:
            parts.append(_cell_label(middle, ", ".join(answer.cells[place])))
    title = (
        f"{answer.question}, {describe_epsilon(answer.epsilon, answer.neighbors)}, {answer.confidence:.0%} intervals"
    )
    head = f'<text x="{NOISY_COUNT_LEFT}" y="16" font-size="12" fill="currentColor">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {NOISY_COUNT_WIDTH} {NOISY_COUNT_HEIGHT}" '
        f'width="{NOISY_COUNT_WIDTH}" height="{NOISY_COUNT_HEIGHT}" '
        f'font-family="sans-serif" role="img">{head}{"".join(parts)}</svg>'
    )


def _counts_axis(zero: float, top: float, high: float) -> str:
    return (
        f'<path d="M{NOISY_COUNT_LEFT} {top:.1f}V{zero:.1f}H{NOISY_COUNT_WIDTH - NOISY_COUNT_RIGHT}" '
        'fill="none" stroke="currentColor"/>'
        f'<text x="{NOISY_COUNT_LEFT - 6}" y="{zero + 4:.1f}" font-size="11" text-anchor="end" '
        'fill="currentColor">0</text>'
        f'<text x="{NOISY_COUNT_LEFT - 6}" y="{top + 8:.1f}" font-size="11" text-anchor="end" '
        f'fill="currentColor">{high:.4g}</text>'
    )


def _cell_label(x: float, words: str) -> str:
    shown = words if len(words) <= LETTERS else words[: LETTERS - 1] + "…"
    y = NOISY_COUNT_HEIGHT - NOISY_COUNT_BOTTOM + 16
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="10" text-anchor="end" fill="currentColor" '
        f'transform="rotate(-40 {x:.1f} {y})">{escape(shown)}</text>'
    )


Numbers = npt.NDArray[np.float64]

DENSITY_WIDTH, DENSITY_HEIGHT = 640.0, 300.0
DENSITY_LEFT, DENSITY_RIGHT, DENSITY_TOP, DENSITY_BOTTOM = 52.0, 16.0, 34.0, 42.0
HEADROOM = 1.1
TICKS = 5


def draw_reconstruction(
    reconstruction: Reconstruction,
    *,
    observed: npt.ArrayLike | None = None,
    truth: npt.ArrayLike | None = None,
    bands: tuple[Numbers, Numbers] | None = None,
) -> str:
    """Draw the density of one attribute as SVG: the observations in gray, the reconstruction as a line.

    `truth`, if known, is drawn as a dashed line; `bands` are those of `Reconstruction.bands`.
    """
    axis = reconstruction.axes[0]
    if len(reconstruction.axes) > 1 or not isinstance(axis, NumericAxis):
        raise SchemaError("Only a single numeric attribute can be drawn as a density.")
    low, high = axis.observable_range
    seen = _density(observed, np.linspace(low, high, 61)) if observed is not None else np.zeros(0)
    known = _density(truth, axis.edges) if truth is not None else np.zeros(0)
    found = reconstruction.density
    top = HEADROOM * max(float(part.max()) for part in (found, seen, known) if len(part))
    frame = _PlotFrame(low, high, top)
    shapes = [*frame.shapes(), *_density_bars(frame, np.linspace(low, high, 61), seen)]
    if bands is not None:
        widths = np.diff(axis.edges)
        shapes += _interval_marks(frame, (axis.edges[:-1] + axis.edges[1:]) / 2, bands[0] / widths, bands[1] / widths)
    if len(known):
        shapes.append(_step_line(frame, axis.edges, known, ink=LINE, dashes="5 4"))
    shapes.append(_step_line(frame, axis.edges, found, ink=AFTER, dashes="none"))
    legend = [("observed", BEFORE_EDGE), ("reconstructed", AFTER), ("true", LINE)]
    shown = [entry for entry, there in zip(legend, (len(seen), 1, len(known)), strict=True) if there]
    shapes += _legend(shown)
    title = "Reconstructed density" + (f" of {axis.name}" if axis.name else "")
    description = f"{axis.cells} bins from {reconstruction.observations:,} observations"
    return svg_document(DENSITY_WIDTH, DENSITY_HEIGHT, title=title, description=description, shapes=shapes)


def draw_frequencies(estimate: FrequencyEstimate, *, truth: Sequence[float] | None = None) -> str:
    """Draw estimated counts as dots with their intervals, as SVG; true counts, if known, as short lines."""
    values = len(estimate.values)
    top = HEADROOM * max(float(estimate.high.max()), float(np.max(truth)) if truth is not None else 0.0)
    bottom = min(0.0, float(estimate.low.min()))
    frame = _PlotFrame(0.0, float(values), top, bottom)
    places = np.arange(values, dtype=np.float64) + 0.5
    shapes = [*frame.shapes(ticks=False), *_interval_marks(frame, places, estimate.low, estimate.high)]
    for place, count in zip(places, estimate.counts, strict=True):
        shapes.append(rectangle(frame.x(place) - 3, frame.y(count) - 3, 6, 6, fill=AFTER))
    for place, count in zip(places, truth if truth is not None else [], strict=False):
        shapes.append(
            draw_line(frame.x(place) - 9, frame.y(count), frame.x(place) + 9, frame.y(count), ink=LINE, width=2)
        )
    shapes += [
        text_line(
            frame.x(place), DENSITY_HEIGHT - DENSITY_BOTTOM + 16, str(value)[:12], size=11, ink=QUIET, anchor="middle"
        )
        for place, value in zip(places, estimate.values, strict=True)
        if values <= 20  # noqa: PLR2004 - more names would overlap
    ]
    shapes += _legend([("estimated", AFTER)] + ([("true", LINE)] if truth is not None else []))
    description = f"{values} values from {estimate.reports:,} reports, {estimate.confidence:.0%} intervals"
    return svg_document(
        DENSITY_WIDTH, DENSITY_HEIGHT, title=f"Frequencies, {estimate.step}", description=description, shapes=shapes
    )


class _PlotFrame:
    """Axes of a picture."""

    def __init__(self, low: float, high: float, top: float, bottom: float = 0.0) -> None:
        self.low, self.high, self.top, self.bottom = low, high, top, bottom

    def x(self, at: float) -> float:
        return DENSITY_LEFT + (at - self.low) / (self.high - self.low) * (DENSITY_WIDTH - DENSITY_LEFT - DENSITY_RIGHT)

    def y(self, at: float) -> float:
        return (
            DENSITY_HEIGHT
            - DENSITY_BOTTOM
            - (at - self.bottom) / (self.top - self.bottom) * (DENSITY_HEIGHT - DENSITY_TOP - DENSITY_BOTTOM)
        )

    def shapes(self, *, ticks: bool = True) -> list[str]:
        found = [draw_line(DENSITY_LEFT, self.y(0), DENSITY_WIDTH - DENSITY_RIGHT, self.y(0), ink=INK)]
        for height in _round_ticks(self.bottom, self.top):
            found.append(
                draw_line(DENSITY_LEFT, self.y(height), DENSITY_WIDTH - DENSITY_RIGHT, self.y(height), ink=FAINT)
            )
            found.append(
                text_line(DENSITY_LEFT - 6, self.y(height) + 4, f"{height:,.10g}", size=11, ink=QUIET, anchor="end")
            )
        if ticks:
            found += [
                text_line(
                    self.x(at), DENSITY_HEIGHT - DENSITY_BOTTOM + 16, f"{at:.4g}", size=11, ink=QUIET, anchor="middle"
                )
                for at in _round_ticks(self.low, self.high)
            ]
        return found


def _round_ticks(low: float, high: float) -> list[float]:
    """Choose some round numbers in a range.

    >>> _round_ticks(-7.0, 23.0)
    [0.0, 10.0, 20.0]
    """
    rough = (high - low) / TICKS
    size = 10.0 ** np.floor(np.log10(rough))
    step = size * min((each for each in (1, 2, 5, 10) if each * size >= rough * (1 - 1e-9)), default=10)
    first = int(np.ceil(low / step))
    return [float(place * step) for place in range(first, int(np.floor(high / step)) + 1)]


def _density(values: npt.ArrayLike, edges: Numbers) -> Numbers:
    numbers = np.asarray(values, dtype=np.float64)
    counts, _ = np.histogram(numbers, edges)
    return counts / max(len(numbers), 1) / np.diff(edges)


def _density_bars(frame: _PlotFrame, edges: Numbers, heights: Numbers) -> list[str]:
    return [
        rectangle(
            frame.x(low), frame.y(height), frame.x(high) - frame.x(low), frame.y(0) - frame.y(height), fill=BEFORE
        )
        for low, high, height in zip(edges[:-1], edges[1:], heights, strict=False)
    ]


def _step_line(frame: _PlotFrame, edges: Numbers, heights: Numbers, *, ink: str, dashes: str) -> str:
    points = [(edges[0], 0.0)]
    for low, high, height in zip(edges[:-1], edges[1:], heights, strict=True):
        points += [(low, height), (high, height)]
    points.append((edges[-1], 0.0))
    drawn = polyline(((frame.x(x), frame.y(y)) for x, y in points), ink=ink, width=2)
    return drawn.replace("<polyline ", f'<polyline stroke-dasharray="{dashes}" ')


def _interval_marks(frame: _PlotFrame, places: Numbers, low: Numbers, high: Numbers) -> list[str]:
    return [
        draw_line(frame.x(place), frame.y(below), frame.x(place), frame.y(above), ink=AFTER, width=1.5)
        for place, below, above in zip(places, low, high, strict=True)
    ]


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    found, at = [], DENSITY_LEFT
    for label, ink in entries:
        found.append(draw_line(at, DENSITY_TOP - 18, at + 20, DENSITY_TOP - 18, ink=ink, width=3))
        found.append(text_line(at + 26, DENSITY_TOP - 14, label, size=12))
        at += 60 + 7.0 * len(label)
    return found
