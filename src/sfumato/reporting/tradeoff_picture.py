"""The picture of a comparison: every candidate as a dot, its risk from left to right, its loss from bottom to top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.reporting.axes import Axis
from sfumato.reporting.drawing import AFTER, FAINT, QUIET, dot, line, picture, words
from sfumato.reporting.numbers import rounded
from sfumato.reporting.words import ENGLISH
from sfumato.words import Words

LEFT, TOP, WIDTH, HEIGHT = 64.0, 34.0, 560.0, 300.0
RIGHT, BELOW = 24.0, 48.0
RADIUS, PAPER = 5.5, "#ffffff"
CLOSE = (48.0, 16.0)  # nearer than that, labels would overlap
TURN = 0.7  # of the width; beyond it, numbers stand left of their dots


@dataclass(frozen=True)
class Placed:
    """A candidate in the picture: its name, its risk and its loss, and whether no other beats it in both."""

    name: str
    risk: float
    loss: float
    front: bool


def in_order(candidates: Sequence[Placed]) -> list[Placed]:
    """Return candidates as they are numbered in the picture, from 1: by risk, then by loss."""
    return sorted(candidates, key=lambda each: (each.risk, each.loss, each.name))


def draw_tradeoff(candidates: Sequence[Placed], *, risk: str, loss: str, say: Words = ENGLISH) -> str:
    """Draw candidates by risk and loss; the best corner is at the bottom left, and filled dots are beaten by none.

    Every dot stands where its figures say. Dots that are close to each other share one label with all their numbers.
    """
    ordered = in_order(candidates)
    across, up = (_axis([getattr(each, what) for each in ordered]) for what in ("risk", "loss"))
    shapes = [*_grid(across, up, risk, loss)]
    places = [(LEFT + WIDTH * across.share(each.risk), TOP + HEIGHT * (1 - up.share(each.loss))) for each in ordered]
    for each, (x, y) in sorted(zip(ordered, places, strict=True), key=lambda pair: pair[0].front):
        tip = say("comparison.picture.tip", name=each.name, risk=risk, at=each.risk, loss=loss, lost=each.loss)
        shapes.append(dot(x, y, RADIUS, fill=AFTER if each.front else PAPER, edge=AFTER, width=1.5, tip=tip))
    for (x, y), members in _close_together(places).items():
        left = x > LEFT + TURN * WIDTH
        text, side = _numbers([at + 1 for at in members]), -1 if left else 1
        anchor = "end" if left else "start"
        shapes.append(words(x + 8 * side, y - 8, text, size=12, anchor=anchor, weight=600, halo=True))
    told = say("comparison.between").join(
        say("comparison.picture.each", number=number, name=each.name, at=each.risk, lost=each.loss)
        for number, each in enumerate(ordered, 1)
    )
    return picture(
        LEFT + WIDTH + RIGHT,
        TOP + HEIGHT + BELOW,
        title=say("comparison.picture.title"),
        description=say("comparison.picture.told", risk=risk, loss=loss, told=told),
        shapes=shapes,
    )


def _close_together(places: Sequence[tuple[float, float]]) -> dict[tuple[float, float], list[int]]:
    """Gather places that are too close to be told apart, each with the first that it is close to."""
    found: dict[tuple[float, float], list[int]] = {}
    for at, (x, y) in enumerate(places):
        near = next((place for place in found if abs(place[0] - x) < CLOSE[0] and abs(place[1] - y) < CLOSE[1]), (x, y))
        found.setdefault(near, []).append(at)
    return found


def _numbers(numbers: Sequence[int]) -> str:
    """Write numbers, runs of three or more by their ends.

    >>> _numbers([1, 3, 4, 5, 6, 9])
    '1, 3-6, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    pairs = 2
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > pairs else ", ".join(map(str, run)) for run in runs)


def _axis(values: Sequence[float]) -> Axis:
    """Choose an axis from 0, or below, to the largest value."""
    return Axis.over(np.array([0.0, *values]))


def _grid(across: Axis, up: Axis, risk: str, loss: str) -> Iterator[str]:
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    for value in across.ticks:
        x = LEFT + WIDTH * across.share(value)
        yield line(x, TOP, x, bottom, ink=FAINT)
        yield words(x, bottom + 18, rounded(value), size=11, ink=QUIET, anchor="middle")
    for value in up.ticks:
        y = bottom - HEIGHT * up.share(value)
        yield line(LEFT, y, right, y, ink=FAINT)
        yield words(LEFT - 8, y + 4, rounded(value), size=11, ink=QUIET, anchor="end")
    yield words(right, bottom + 38, f"{risk} →", ink=QUIET, anchor="end")
    yield words(LEFT - 40, TOP - 12, f"{loss} ↑", ink=QUIET)
