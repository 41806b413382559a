"""The picture of a comparison: every candidate as a dot, its risk from left to right, its loss from bottom to top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.reporting.drawing import AFTER, FAINT, QUIET, dot, line, picture, text_width, words
from sfumato.reporting.loss_scatter import VerticalAxis

LEFT, TOP, WIDTH, HEIGHT = 64.0, 30.0, 440.0, 300.0
NUMBER_ROW, LETTER = 19.0, 6.6
RADIUS, PAPER = 9.0, "#ffffff"
NEAR = 2 * RADIUS


@dataclass(frozen=True)
class Placed:
    """A candidate in the picture: its name, its risk and its loss, and whether no other beats it in both."""

    name: str
    risk: float
    loss: float
    front: bool


def draw_tradeoff(candidates: Sequence[Placed], *, risk: str, loss: str) -> str:
    """Draw candidates by risk and loss; the best corner is at the bottom left, and filled dots are beaten by none.

    Numbers in the dots are those of the list on the right, in order of risk.
    """
    ordered = sorted(candidates, key=lambda each: (each.risk, each.loss, each.name))
    across, up = (_axis([getattr(each, what) for each in ordered]) for what in ("risk", "loss"))
    shapes = [*_grid(across, up, risk, loss)]
    for number, (x, y) in enumerate(_places(ordered, across, up), start=1):
        each = ordered[number - 1]
        tip = f"{each.name}: {risk} {each.risk:.4g}, {loss} {each.loss:.4g}"
        shapes.append(dot(x, y, RADIUS, fill=AFTER if each.front else PAPER, edge=AFTER, width=1.5, tip=tip))
        ink = PAPER if each.front else AFTER
        shapes.append(words(x, y + 4, str(number), size=11, ink=ink, anchor="middle", weight=600))
    listed = LEFT + WIDTH + 28
    for number, each in enumerate(ordered, start=1):
        text = f"{number}  {each.name}"
        shapes.append(words(listed, TOP + NUMBER_ROW * (number - 0.3), text, weight=650 if each.front else 400))
    wide = max((text_width(each.name) for each in ordered), default=0) + 5
    tall = max(TOP + HEIGHT + 48, TOP + NUMBER_ROW * (len(ordered) + 1))
    told = "; ".join(f"{each.name} {each.risk:.3g} and {each.loss:.3g}" for each in ordered)
    return picture(
        listed + LETTER * wide,
        tall,
        title="Risk and loss of the candidates",
        description=f"{risk} and {loss}: {told}.",
        shapes=shapes,
    )


def _axis(values: Sequence[float]) -> VerticalAxis:
    """Choose an axis from 0, or below, to the largest value."""
    return VerticalAxis.over(np.array([0.0, *values]))


def _places(ordered: Sequence[Placed], across: VerticalAxis, up: VerticalAxis) -> Iterator[tuple[float, float]]:
    """Place the dots; one that would hide another moves to the right, so that both can be seen."""
    taken: list[tuple[float, float]] = []
    for each in ordered:
        x = LEFT + WIDTH * _share(across, each.risk)
        y = TOP + HEIGHT * (1 - _share(up, each.loss))
        while any(abs(x - other) < NEAR and abs(y - high) < NEAR for other, high in taken):
            x += NEAR / 2
        taken.append((x, y))
        yield x, y


def _share(axis: VerticalAxis, value: float) -> float:
    return (value - axis.low) / (axis.high - axis.low)


def _grid(across: VerticalAxis, up: VerticalAxis, risk: str, loss: str) -> Iterator[str]:
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    for value in _ticks(across):
        x = LEFT + WIDTH * _share(across, value)
        yield line(x, TOP, x, bottom, ink=FAINT)
        yield words(x, bottom + 18, f"{value:.4g}", size=11, ink=QUIET, anchor="middle")
    for value in _ticks(up):
        y = bottom - HEIGHT * _share(up, value)
        yield line(LEFT, y, right, y, ink=FAINT)
        yield words(LEFT - 8, y + 4, f"{value:.4g}", size=11, ink=QUIET, anchor="end")
    yield words(right, bottom + 38, f"{risk} →", ink=QUIET, anchor="end")
    yield words(LEFT - 40, TOP - 12, f"{loss} ↑", ink=QUIET)


def _ticks(axis: VerticalAxis) -> list[float]:
    return [axis.low + number * axis.step for number in range(round((axis.high - axis.low) / axis.step) + 1)]
