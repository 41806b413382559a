"""The nodes of a large lattice as dots: their loss over their height."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.exploration import Exploration, Status
from sfumato.reporting.axes import Axis
from sfumato.reporting.drawing import FAINT, LINE, QUIET, bar, dot, line, picture, words
from sfumato.reporting.node_looks import (
    LOOKS,
    PAPER,
    best_title,
    counted_words,
    lattice_words,
    legend_places,
    node_words,
)
from sfumato.reporting.numbers import rounded
from sfumato.words import Words

WIDTH, HEIGHT = 760.0, 430.0
MARGIN = 16.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, WIDTH - MARGIN, 72.0, HEIGHT - 62
LEGEND_ROW = 18.0
TIERS = 60  # of dots, stacked
WIDEST_STRIP = 0.3  # of the space of a height, for dots of one kind
TICK_WIDTH = 24.0
KINDS = (
    (Status.NOT_ANONYMOUS, False),
    (Status.BOUNDED, False),
    (Status.ANONYMOUS, False),
    (Status.ANONYMOUS, True),
)

Numbers = npt.NDArray[np.float64]


def loss_over_height(explored: Exploration, say: Words) -> str:
    """Draw how much nodes of every height lose: one dot for nodes of about the same loss, larger for more nodes.

    The height is the sum of a node's levels. If the loss is not known, its lower bound is drawn as a hollow dot.
    """
    heights = explored.levels.sum(axis=1, dtype=np.int64)
    shown = np.where(np.isnan(explored.loss), explored.bound, explored.loss)
    axis = Axis.over(shown[np.isfinite(shown)])
    kinds = _kinds(explored)
    step = (RIGHT - LEFT) / (sum(explored.heights) + 1)
    shapes = [bar(0, 0, WIDTH, HEIGHT, fill=PAPER), *_axis_drawn(axis, explored.proof.objective)]
    shapes += _height_ticks(sum(explored.heights), step, say)
    x, strip_width = np.zeros(len(explored)), min(WIDEST_STRIP, 0.9 / max(len(kinds), 1))
    for strip, kind in enumerate(kinds):
        x[kind.nodes] = LEFT + (heights[kind.nodes] + 0.5 + strip_width * (strip - (len(kinds) - 1) / 2)) * step
        finite = kind.nodes[np.isfinite(shown[kind.nodes])]
        shapes += _dots(x[finite], _placed(axis, shown[finite]), kind, strip_width * step / 2, say)
    if explored.best is not None:
        least = float(_placed(axis, shown[[explored.best]])[0])
        shapes.append(line(LEFT, least, RIGHT, least, ink=LINE, dashes="4 4"))
        tip = node_words(explored, explored.best, say)
        shapes.append(dot(float(x[explored.best]), least, 7, fill="none", edge=LINE, width=2.4, tip=tip))
    shapes += _legend(explored, kinds, say)
    return picture(
        WIDTH, HEIGHT, title=say("lattice.over_height"), description=lattice_words(explored, say), shapes=shapes
    )


class NodeKind(NamedTuple):
    """Nodes that are drawn in the same way."""

    status: Status
    bound: bool
    fill: str
    edge: str
    nodes: npt.NDArray[np.intp]


def _placed(axis: Axis, values: Numbers) -> Numbers:
    """Return the vertical position of values in the picture."""
    return np.asarray(BOTTOM - axis.shares(values) * (BOTTOM - TOP))


def _axis_drawn(axis: Axis, title: str) -> Iterator[str]:
    """Draw lines at round numbers."""
    for value in axis.ticks:
        y = float(_placed(axis, np.array([value]))[0])
        yield line(LEFT, y, RIGHT, y, ink=FAINT)
        yield words(LEFT - 8, y + 4, rounded(value, 6), size=11, ink=QUIET, anchor="end")
    yield words(MARGIN, TOP - 12, title, size=12, ink=QUIET)


def _kinds(explored: Exploration) -> list[NodeKind]:
    known = ~np.isnan(explored.loss)
    kinds = []
    for status, judged in KINDS:
        looks = LOOKS[status]
        hollow = not judged and status is Status.ANONYMOUS
        nodes = np.flatnonzero((explored.status == status) & (known == judged))
        if len(nodes):
            kinds.append(NodeKind(status, not judged, PAPER if hollow else looks.fill, looks.edge, nodes))
    return kinds


def _dots(x: Numbers, y: Numbers, kind: NodeKind, largest: float, say: Words) -> Iterator[str]:
    """Merge nodes that would hide each other into one dot, larger for more nodes."""
    tall = (BOTTOM - TOP) / TIERS
    places, counts = np.unique(np.stack([x, np.round(y / tall)], axis=1), axis=0, return_counts=True)
    most = max(min(largest, tall), 1.2)
    for (column, tier), nodes in zip(places.tolist(), counts.tolist(), strict=True):
        radius = most * min(0.55 + 0.15 * log10(nodes), 1.0)
        tip = counted_words(nodes, kind.status, say, bound=kind.bound)
        yield dot(column, tier * tall, radius, fill=kind.fill, edge=kind.edge, width=0.8, tip=tip)


def _height_ticks(top: int, step: float, say: Words) -> Iterator[str]:
    yield line(LEFT, BOTTOM, RIGHT, BOTTOM, ink=QUIET)
    for height in range(0, top + 1, ceil(TICK_WIDTH / step)):
        yield words(LEFT + (height + 0.5) * step, BOTTOM + 18, str(height), size=11, ink=QUIET, anchor="middle")
    yield words((LEFT + RIGHT) / 2, BOTTOM + 38, say("lattice.height_axis"), ink=QUIET, anchor="middle")


def _legend(explored: Exploration, kinds: Sequence[NodeKind], say: Words) -> Iterator[str]:
    entries = [
        (counted_words(len(kind.nodes), kind.status, say, bound=kind.bound), kind.fill, kind.edge, 1.0)
        for kind in kinds
    ]
    if explored.best is not None:
        entries.append((best_title(explored, explored.best, say), "none", LINE, 2.4))
    places = legend_places([text for text, *_ in entries], MARGIN, RIGHT, 15)
    for (x, row), (text, fill, edge, width) in zip(places, entries, strict=True):
        y = 16 + row * LEGEND_ROW
        yield dot(x + 5, y, 5, fill=fill, edge=edge, width=width)
        yield words(x + 15, y + 4, text, size=11)
