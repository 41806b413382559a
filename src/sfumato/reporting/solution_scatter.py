"""Solutions as dots: what they lose, and how many records they leave out; those of interest carry a letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.reporting.axes import Axis
from sfumato.reporting.drawing import AFTER, FAINT, INK, LINE, QUIET, circle, draw_line, svg_document, text_line
from sfumato.reporting.numbers import format_count, format_percent, rounded

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
