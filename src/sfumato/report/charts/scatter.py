"""The picture of a comparison: every candidate as a dot, its risk from left to right, its loss from bottom to top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._locale.messages import Messages
from sfumato._number_format import format_count, format_percent, rounded
from sfumato.report.charts.scales import Axis
from sfumato.report.charts.svg import AFTER, FAINT, INK, LINE, QUIET, circle, draw_line, svg_document, text_line
from sfumato.report.texts import ENGLISH

TRADEOFF_LEFT, TRADEOFF_TOP, TRADEOFF_WIDTH, TRADEOFF_HEIGHT = 64.0, 34.0, 560.0, 300.0
TRADEOFF_RIGHT, BELOW = 24.0, 48.0
TRADEOFF_RADIUS, PAPER = 5.5, "#ffffff"
CLOSE = (48.0, 16.0)  # nearer than that, labels would overlap
TURN = 0.7  # of the width; beyond it, numbers stand left of their dots


@dataclass(frozen=True)
class TradeoffPoint:
    """A candidate in the picture: its name, its risk and its loss, and whether no other beats it in both."""

    name: str
    risk: float
    loss: float
    front: bool


def sort_points(candidates: Sequence[TradeoffPoint]) -> list[TradeoffPoint]:
    """Return candidates as they are numbered in the picture, from 1: by risk, then by loss."""
    return sorted(candidates, key=lambda each: (each.risk, each.loss, each.name))


def draw_tradeoff(candidates: Sequence[TradeoffPoint], *, risk: str, loss: str, say: Messages = ENGLISH) -> str:
    """Draw candidates by risk and loss; the best corner is at the bottom left, and filled dots are beaten by none.

    Every dot stands where its figures say. Dots that are close to each other share one label with all their numbers.
    """
    ordered = sort_points(candidates)
    across, up = (_tradeoff_axis([getattr(each, what) for each in ordered]) for what in ("risk", "loss"))
    shapes = [*_tradeoff_grid(across, up, risk, loss)]
    places = [
        (
            TRADEOFF_LEFT + TRADEOFF_WIDTH * across.position(each.risk),
            TRADEOFF_TOP + TRADEOFF_HEIGHT * (1 - up.position(each.loss)),
        )
        for each in ordered
    ]
    for each, (x, y) in sorted(zip(ordered, places, strict=True), key=lambda pair: pair[0].front):
        tip = say("comparison.picture.tip", name=each.name, risk=risk, at=each.risk, loss=loss, lost=each.loss)
        shapes.append(
            circle(x, y, TRADEOFF_RADIUS, fill=AFTER if each.front else PAPER, edge=AFTER, width=1.5, tip=tip)
        )
    for (x, y), members in _cluster_labels(places).items():
        left = x > TRADEOFF_LEFT + TURN * TRADEOFF_WIDTH
        text, side = _number_ranges([at + 1 for at in members]), -1 if left else 1
        anchor = "end" if left else "start"
        shapes.append(text_line(x + 8 * side, y - 8, text, size=12, anchor=anchor, weight=600, halo=True))
    told = say("comparison.between").join(
        say("comparison.picture.each", number=number, name=each.name, at=each.risk, lost=each.loss)
        for number, each in enumerate(ordered, 1)
    )
    return svg_document(
        TRADEOFF_LEFT + TRADEOFF_WIDTH + TRADEOFF_RIGHT,
        TRADEOFF_TOP + TRADEOFF_HEIGHT + BELOW,
        title=say("comparison.picture.title"),
        description=say("comparison.picture.told", risk=risk, loss=loss, told=told),
        shapes=shapes,
    )


def _cluster_labels(places: Sequence[tuple[float, float]]) -> dict[tuple[float, float], list[int]]:
    """Gather places that are too close to be told apart, each with the first that it is close to."""
    found: dict[tuple[float, float], list[int]] = {}
    for at, (x, y) in enumerate(places):
        near = next((place for place in found if abs(place[0] - x) < CLOSE[0] and abs(place[1] - y) < CLOSE[1]), (x, y))
        found.setdefault(near, []).append(at)
    return found


def _number_ranges(numbers: Sequence[int]) -> str:
    """Write numbers, runs of three or more by their ends.

    >>> _number_ranges([1, 3, 4, 5, 6, 9])
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


def _tradeoff_axis(values: Sequence[float]) -> Axis:
    """Choose an axis from 0, or below, to the largest value."""
    return Axis.covering(np.array([0.0, *values]))


def _tradeoff_grid(across: Axis, up: Axis, risk: str, loss: str) -> Iterator[str]:
    bottom, right = TRADEOFF_TOP + TRADEOFF_HEIGHT, TRADEOFF_LEFT + TRADEOFF_WIDTH
    for value in across.ticks:
        x = TRADEOFF_LEFT + TRADEOFF_WIDTH * across.position(value)
        yield draw_line(x, TRADEOFF_TOP, x, bottom, ink=FAINT)
        yield text_line(x, bottom + 18, rounded(value), size=11, ink=QUIET, anchor="middle")
    for value in up.ticks:
        y = bottom - TRADEOFF_HEIGHT * up.position(value)
        yield draw_line(TRADEOFF_LEFT, y, right, y, ink=FAINT)
        yield text_line(TRADEOFF_LEFT - 8, y + 4, rounded(value), size=11, ink=QUIET, anchor="end")
    yield text_line(right, bottom + 38, f"{risk} →", ink=QUIET, anchor="end")
    yield text_line(TRADEOFF_LEFT - 40, TRADEOFF_TOP - 12, f"{loss} ↑", ink=QUIET)


# Solutions as dots: what they lose, and how many records they leave out; those of interest carry a letter.

SOLUTION_SCATTER_WIDTH, SOLUTION_SCATTER_HEIGHT = 680.0, 360.0
SOLUTION_SCATTER_LEFT, SOLUTION_SCATTER_RIGHT, SOLUTION_SCATTER_TOP, BOTTOM = (
    62.0,
    SOLUTION_SCATTER_WIDTH - 20,
    40.0,
    SOLUTION_SCATTER_HEIGHT - 54,
)
SOLUTION_SCATTER_RADIUS = 4.0
GRAIN = 3.0  # nodes nearer to each other than this become one dot
MIN_SHARE = 0.01  # of records left out, that the axis shows


@dataclass(frozen=True, kw_only=True)
class ScatterLabels:
    """What the picture says: its title, its description, and its axes; numbers are written by the picture."""

    title: str
    description: str
    loss: str
    suppressed: str


def draw_solution_scatter(
    nodes: Sequence[Mapping[str, Any]], rows: int, *, marked: Mapping[str, int], said: ScatterLabels
) -> str:
    """Draw solutions: loss to the right, suppressed records upward; near the corner is better.

    Parameters
    ----------
    nodes : `levels`, `loss` and `suppressed` of every solution.
    rows : the number of records.
    marked : the places of nodes that carry a letter, by letter.
    said : the words of the picture.
    """
    loss = np.array([each["loss"] for each in nodes], dtype=np.float64)
    shares = np.array([each["suppressed"] for each in nodes], dtype=np.float64) / max(rows, 1)
    across = Axis.covering(np.append(loss, 0.0))
    upward = Axis.covering(np.append(shares, (0.0, MIN_SHARE)))
    x = SOLUTION_SCATTER_LEFT + across.positions(loss) * (SOLUTION_SCATTER_RIGHT - SOLUTION_SCATTER_LEFT)
    y = BOTTOM - upward.positions(shares) * (BOTTOM - SOLUTION_SCATTER_TOP)
    shapes = [*_solution_grid(across, upward, said)]
    places = np.stack([np.round(x / GRAIN), np.round(y / GRAIN)], axis=1)
    _, first, counted = np.unique(places, axis=0, return_index=True, return_counts=True)
    for node, many in zip(first.tolist(), counted.tolist(), strict=True):
        levels = ", ".join(f"{name} {level}" for name, level in nodes[node]["levels"].items())
        more = f" (+{format_count(many - 1)})" if many > 1 else ""
        tip = f"{levels}: {rounded(float(loss[node]))}, {format_percent(float(shares[node]))}{more}"
        shapes.append(
            circle(
                float(x[node]),
                float(y[node]),
                SOLUTION_SCATTER_RADIUS,
                fill=f"{AFTER}99",
                edge=AFTER,
                width=0.8,
                tip=tip,
            )
        )
    shapes += _draw_marks(marked, x, y)
    return svg_document(
        SOLUTION_SCATTER_WIDTH, SOLUTION_SCATTER_HEIGHT, title=said.title, description=said.description, shapes=shapes
    )


def _draw_marks(marked: Mapping[str, int], x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> Iterator[str]:
    """Draw a ring and a letter at every marked node; letters that would meet stand side by side."""
    taken: list[tuple[float, float]] = []
    for letter, node in marked.items():
        at, high = float(x[node]), float(y[node])
        yield circle(at, high, 9, fill="none", edge=LINE, width=2.2)
        spot = (at - 11, high - 13)
        while any(abs(spot[0] - other[0]) < 12 and abs(spot[1] - other[1]) < 12 for other in taken):  # noqa: PLR2004 - the size of a letter
            spot = (spot[0] + 14, spot[1])
        taken.append(spot)
        yield text_line(*spot, letter, size=13, ink=INK, weight=700, anchor="middle", halo=True)


def _solution_grid(across: Axis, upward: Axis, said: ScatterLabels) -> Iterator[str]:
    for value in upward.ticks:
        y = BOTTOM - upward.position(value) * (BOTTOM - SOLUTION_SCATTER_TOP)
        yield draw_line(SOLUTION_SCATTER_LEFT, y, SOLUTION_SCATTER_RIGHT, y, ink=FAINT)
        yield text_line(
            SOLUTION_SCATTER_LEFT - 8,
            y + 4,
            rounded(value) if value > 1 else f"{100 * value:.4g}%",
            size=12,
            ink=QUIET,
            anchor="end",
        )
    for value in across.ticks:
        x = SOLUTION_SCATTER_LEFT + across.position(value) * (SOLUTION_SCATTER_RIGHT - SOLUTION_SCATTER_LEFT)
        yield draw_line(x, BOTTOM, x, BOTTOM + 4, ink=QUIET)
        text = rounded(value)
        anchor = "end" if x + len(text) * 4 > SOLUTION_SCATTER_WIDTH else "middle"
        yield text_line(x, BOTTOM + 20, text, size=12, ink=QUIET, anchor=anchor)
    yield text_line(SOLUTION_SCATTER_LEFT, SOLUTION_SCATTER_TOP - 20, said.suppressed, size=12, ink=QUIET)
    yield text_line(
        (SOLUTION_SCATTER_LEFT + SOLUTION_SCATTER_RIGHT) / 2,
        BOTTOM + 42,
        said.loss,
        size=12,
        ink=QUIET,
        anchor="middle",
    )
