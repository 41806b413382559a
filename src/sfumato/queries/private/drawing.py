"""Noisy counts as a picture: a bar for every cell, and the interval that contains the true count."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.exceptions import InvalidParameterError
from sfumato.neighbors import describe_epsilon
from sfumato.queries.private.answers import PrivateCounts

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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {NOISY_COUNT_WIDTH} {NOISY_COUNT_HEIGHT}" width="{NOISY_COUNT_WIDTH}" height="{NOISY_COUNT_HEIGHT}" '
        f'font-family="sans-serif" role="img">{head}{"".join(parts)}</svg>'
    )


def _counts_axis(zero: float, top: float, high: float) -> str:
    return (
        f'<path d="M{NOISY_COUNT_LEFT} {top:.1f}V{zero:.1f}H{NOISY_COUNT_WIDTH - NOISY_COUNT_RIGHT}" fill="none" stroke="currentColor"/>'
        f'<text x="{NOISY_COUNT_LEFT - 6}" y="{zero + 4:.1f}" font-size="11" text-anchor="end" fill="currentColor">0</text>'
        f'<text x="{NOISY_COUNT_LEFT - 6}" y="{top + 8:.1f}" font-size="11" text-anchor="end" fill="currentColor">{high:.4g}</text>'
    )


def _cell_label(x: float, words: str) -> str:
    shown = words if len(words) <= LETTERS else words[: LETTERS - 1] + "…"
    y = NOISY_COUNT_HEIGHT - NOISY_COUNT_BOTTOM + 16
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="10" text-anchor="end" fill="currentColor" '
        f'transform="rotate(-40 {x:.1f} {y})">{escape(shown)}</text>'
    )
