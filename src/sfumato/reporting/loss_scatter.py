"""The nodes of a large lattice as dots: their loss over their height."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.exploration import Exploration, NodeStatus
from sfumato.reporting.axes import Axis
from sfumato.reporting.drawing import FAINT, LINE, QUIET, circle, draw_line, rectangle, svg_document, text_line
from sfumato.reporting.node_looks import (
    LOOKS,
    PAPER,
    describe_best_node,
    describe_lattice,
    describe_node,
    describe_node_count,
    legend_positions,
)
from sfumato.reporting.numbers import rounded
from sfumato.words import Messages

WIDTH, HEIGHT = 760.0, 430.0
MARGIN = 16.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, WIDTH - MARGIN, 72.0, HEIGHT - 62
LOSS_SCATTER_LEGEND_ROW = 18.0
TIERS = 60  # of dots, stacked
WIDEST_STRIP = 0.3  # of the space of a height, for dots of one kind
TICK_WIDTH = 24.0
NODE_STYLES = (
    (NodeStatus.NOT_ANONYMOUS, False),
    (NodeStatus.BOUNDED, False),
    (NodeStatus.ANONYMOUS, False),
    (NodeStatus.ANONYMOUS, True),
)

Numbers = npt.NDArray[np.float64]


def draw_loss_by_height(explored: Exploration, say: Messages) -> str:
    """Draw how much nodes of every height lose: one dot for nodes of about the same loss, larger for more nodes.

    The height is the sum of a node's levels. If the loss is not known, its lower bound is drawn as a hollow dot.
    """
    heights = explored.levels.sum(axis=1, dtype=np.int64)
    shown = np.where(np.isnan(explored.loss), explored.bound, explored.loss)
    axis = Axis.covering(shown[np.isfinite(shown)])
    kinds = _node_styles(explored)
    step = (RIGHT - LEFT) / (sum(explored.heights) + 1)
    shapes = [rectangle(0, 0, WIDTH, HEIGHT, fill=PAPER), *_draw_axis(axis, explored.proof.objective)]
    shapes += _height_ticks(sum(explored.heights), step, say)
    x, strip_width = np.zeros(len(explored)), min(WIDEST_STRIP, 0.9 / max(len(kinds), 1))
    for strip, kind in enumerate(kinds):
        x[kind.nodes] = LEFT + (heights[kind.nodes] + 0.5 + strip_width * (strip - (len(kinds) - 1) / 2)) * step
        finite = kind.nodes[np.isfinite(shown[kind.nodes])]
        shapes += _merge_dots(x[finite], _y_positions(axis, shown[finite]), kind, strip_width * step / 2, say)
    if explored.best is not None:
        least = float(_y_positions(axis, shown[[explored.best]])[0])
        shapes.append(draw_line(LEFT, least, RIGHT, least, ink=LINE, dashes="4 4"))
        tip = describe_node(explored, explored.best, say)
        shapes.append(circle(float(x[explored.best]), least, 7, fill="none", edge=LINE, width=2.4, tip=tip))
    shapes += _draw_legend(explored, kinds, say)
    return svg_document(
        WIDTH, HEIGHT, title=say("lattice.over_height"), description=describe_lattice(explored, say), shapes=shapes
    )


class NodeStyle(NamedTuple):
    """Nodes that are drawn in the same way."""

    status: NodeStatus
    bound: bool
    fill: str
    edge: str
    nodes: npt.NDArray[np.intp]


def _y_positions(axis: Axis, values: Numbers) -> Numbers:
    """Return the vertical position of values in the picture."""
    return np.asarray(BOTTOM - axis.positions(values) * (BOTTOM - TOP))


def _draw_axis(axis: Axis, title: str) -> Iterator[str]:
    """Draw lines at round numbers."""
    for value in axis.ticks:
        y = float(_y_positions(axis, np.array([value]))[0])
        yield draw_line(LEFT, y, RIGHT, y, ink=FAINT)
        yield text_line(LEFT - 8, y + 4, rounded(value, 6), size=11, ink=QUIET, anchor="end")
    yield text_line(MARGIN, TOP - 12, title, size=12, ink=QUIET)


def _node_styles(explored: Exploration) -> list[NodeStyle]:
    known = ~np.isnan(explored.loss)
    kinds = []
    for status, judged in NODE_STYLES:
        looks = LOOKS[status]
        hollow = not judged and status is NodeStatus.ANONYMOUS
        nodes = np.flatnonzero((explored.status == status) & (known == judged))
        if len(nodes):
            kinds.append(NodeStyle(status, not judged, PAPER if hollow else looks.fill, looks.edge, nodes))
    return kinds


def _merge_dots(x: Numbers, y: Numbers, kind: NodeStyle, largest: float, say: Messages) -> Iterator[str]:
    """Merge nodes that would hide each other into one dot, larger for more nodes."""
    tall = (BOTTOM - TOP) / TIERS
    places, counts = np.unique(np.stack([x, np.round(y / tall)], axis=1), axis=0, return_counts=True)
    most = max(min(largest, tall), 1.2)
    for (column, tier), nodes in zip(places.tolist(), counts.tolist(), strict=True):
        radius = most * min(0.55 + 0.15 * log10(nodes), 1.0)
        tip = describe_node_count(nodes, kind.status, say, bound=kind.bound)
        yield circle(column, tier * tall, radius, fill=kind.fill, edge=kind.edge, width=0.8, tip=tip)


def _height_ticks(top: int, step: float, say: Messages) -> Iterator[str]:
    yield draw_line(LEFT, BOTTOM, RIGHT, BOTTOM, ink=QUIET)
    for height in range(0, top + 1, ceil(TICK_WIDTH / step)):
        yield text_line(LEFT + (height + 0.5) * step, BOTTOM + 18, str(height), size=11, ink=QUIET, anchor="middle")
    yield text_line((LEFT + RIGHT) / 2, BOTTOM + 38, say("lattice.height_axis"), ink=QUIET, anchor="middle")


def _draw_legend(explored: Exploration, kinds: Sequence[NodeStyle], say: Messages) -> Iterator[str]:
    entries = [
        (describe_node_count(len(kind.nodes), kind.status, say, bound=kind.bound), kind.fill, kind.edge, 1.0)
        for kind in kinds
    ]
    if explored.best is not None:
        entries.append((describe_best_node(explored, explored.best, say), "none", LINE, 2.4))
    places = legend_positions([text for text, *_ in entries], MARGIN, RIGHT, 15)
    for (x, row), (text, fill, edge, width) in zip(places, entries, strict=True):
        y = 16 + row * LOSS_SCATTER_LEGEND_ROW
        yield circle(x + 5, y, 5, fill=fill, edge=edge, width=width)
        yield text_line(x + 15, y + 4, text, size=11)
