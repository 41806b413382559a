"""Pictures of an explored lattice: every node of a small one, loss over height of a large one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato._locale.messages import Messages
from sfumato._number_format import format_count, rounded
from sfumato.report.charts.scales import Axis
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    QUIET,
    circle,
    draw_line,
    escape_xml,
    rectangle,
    svg_document,
    text_line,
    text_width,
    wrap_text,
)
from sfumato.tables.algorithms.full_domain._lattice import Exploration, NodeStatus

# How the nodes of a lattice look in pictures, and how they are described.

PAPER = "#ffffff"
LEGEND_LETTER = 6.9  # the approximate width of a letter in a legend
LEGEND_GAP = 16.0
STATUS_KEYS = {NodeStatus.ANONYMOUS: "solution", NodeStatus.NOT_ANONYMOUS: "no_solution", NodeStatus.BOUNDED: "bounded"}


class MarkStyle(NamedTuple):
    """The colors and the outline of a node."""

    fill: str
    ink: str
    edge: str
    dashes: str = "none"
    width: float = 1.2


LOOKS = {
    NodeStatus.ANONYMOUS: MarkStyle(AFTER, PAPER, AFTER),
    NodeStatus.NOT_ANONYMOUS: MarkStyle(PAPER, INK, BEFORE_EDGE),
    NodeStatus.BOUNDED: MarkStyle(BEFORE, INK, BEFORE_EDGE, "3 2"),
}


def describe_node(explored: Exploration, node: int, say: Messages) -> str:
    """Describe what is known about a node."""
    between = say("lattice.between")
    levels = between.join(f"{name} {level}" for name, level in zip(explored.names, explored.node(node), strict=True))
    status = say(f"lattice.one.{STATUS_KEYS[NodeStatus(int(explored.status[node]))]}")
    parts = [say("lattice.node", levels=levels, status=status)]
    if not np.isnan(explored.loss[node]):
        parts.append(f"{explored.proof.objective} {rounded(float(explored.loss[node]))}")
    if explored.suppressed[node] >= 0:
        parts.append(say("lattice.suppressed", n=int(explored.suppressed[node])))
    return between.join(parts)


def describe_best_node(explored: Exploration, best: int, say: Messages) -> str:
    """Describe what the best node loses."""
    return say("lattice.best", objective=explored.proof.objective, loss=rounded(float(explored.loss[best])))


def describe_node_count(nodes: int, status: NodeStatus, say: Messages, *, bound: bool = False) -> str:
    """Describe how many nodes there are of a kind; `bound` if only a lower bound of their loss is known."""
    told = say("lattice.counted", count=format_count(nodes), status=say(f"lattice.status.{STATUS_KEYS[status]}"))
    return say("lattice.bound", status=told) if bound else told


def describe_lattice(explored: Exploration, say: Messages) -> str:
    """Describe how many nodes there are of every kind, and which is best."""
    between = say("lattice.between")
    counts = [
        describe_node_count(int(np.count_nonzero(explored.status == status)), status, say) for status in STATUS_KEYS
    ]
    told = say("lattice.told", n=len(explored), names=say.join_items(explored.names), counts=between.join(counts))
    if explored.best is None:
        return told
    return f"{told} {say('lattice.told_best', node=describe_node(explored, explored.best, say))}"


def legend_positions(texts: Iterable[str], left: float, right: float, sign: float) -> Iterator[tuple[float, int]]:
    """Place the entries of a legend, each after a marker of some width, in as many rows as needed.

    >>> list(legend_positions(["solutions", "not solutions"], 0, 150, 20))
    [(0, 0), (0, 1)]
    """
    x, row = left, 0
    for text in texts:
        wide = sign + text_width(text) * LEGEND_LETTER
        if x > left and x + wide > right:
            x, row = left, row + 1
        yield x, row
        x += wide + LEGEND_GAP


# The nodes of a large lattice as dots: their loss over their height.

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


MAX_NODES = 200
NARROWEST, WIDEST = 640.0, 2400.0
MANY_ATTRIBUTES = 5  # from which labels omit commas, if all levels have one digit
MAX_DIGIT = 9
LETTER = 6.2  # the approximate width of a digit in a label
PILL_HEIGHT, GAP, ROW = 22.0, 14.0, 66.0
MARGIN, NAMED = 16.0, 62.0  # around everything, and for the heights on the left
LATTICE_LEGEND_ROW = 28.0
CAPTION_ROW = 20.0
EDGE = "#b9c3cf"
SWEEPS = 8
FRONTIER = LOOKS[NodeStatus.ANONYMOUS]._replace(edge=INK, width=2.6)
BEST = LOOKS[NodeStatus.ANONYMOUS]._replace(edge=LINE, width=3.6)


def draw_lattice(explored: Exploration, minimal: npt.NDArray[np.bool_], say: Messages) -> str:
    """Draw the nodes of a lattice: each of them if they are few, otherwise how many lose how much at every height.

    Parameters
    ----------
    explored : the nodes and what is known about each.
    minimal : which of them are minimal solutions.
    say : the words of a language.
    """
    diagram = LatticeDiagram(explored, minimal, say)
    return diagram.draw() if diagram.fits else draw_loss_by_height(explored, say)


@dataclass(frozen=True, eq=False)
class LatticeDiagram:
    """Nodes as pills in rows by height, the most general at the top, with lines between direct neighbors."""

    explored: Exploration
    minimal: npt.NDArray[np.bool_]
    say: Messages

    @property
    def fits(self) -> bool:
        """Whether all nodes can be shown side by side, with readable labels."""
        return len(self.explored) <= MAX_NODES and self._width <= WIDEST

    def draw(self) -> str:
        """Draw the diagram."""
        places = self._positions
        shapes = [rectangle(0, 0, self._width, self._height, fill=PAPER), *self._legend(), *self._row_titles()]
        shapes += [draw_line(*places[low], *places[high], ink=EDGE) for low, high in self._edges]
        shapes += [
            _draw_node(
                *places[node],
                self._pill_width,
                label,
                looks=self._style(node),
                tip=describe_node(self.explored, node, self.say),
            )
            for node, label in enumerate(self._labels)
        ]
        shapes += self._caption()
        title, told = self.say("lattice.title"), describe_lattice(self.explored, self.say) + self._frontier_text()
        return svg_document(self._width, self._height, title=title, description=told, shapes=shapes)

    @cached_property
    def _labels(self) -> list[str]:
        many = len(self.explored.names) >= MANY_ATTRIBUTES and max(self.explored.heights) <= MAX_DIGIT
        return [("" if many else ",").join(map(str, levels)) for levels in self.explored.levels.tolist()]

    @cached_property
    def _rows(self) -> list[list[int]]:
        """The nodes of every height, ordered so that neighbors are close to each other."""
        levels = self.explored.levels.tolist()
        rows = [
            sorted(
                np.flatnonzero(self._heights == height).tolist(), key=lambda node: [-level for level in levels[node]]
            )
            for height in self._span
        ]
        for sweep in range(SWEEPS):
            _reduce_crossings(rows if sweep % 2 else rows[::-1], self._neighbors)
        return rows

    @cached_property
    def _heights(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.explored.levels.sum(axis=1, dtype=np.int64))

    @property
    def _span(self) -> range:
        """The heights that are drawn."""
        heights = self._heights
        return range(int(heights.min()), int(heights.max()) + 1) if len(heights) else range(0)

    @cached_property
    def _edges(self) -> list[tuple[int, int]]:
        place = {tuple(levels): node for node, levels in enumerate(self.explored.levels.tolist())}
        return [
            (node, place[above])
            for levels, node in place.items()
            for j in range(len(levels))
            if (above := (*levels[:j], levels[j] + 1, *levels[j + 1 :])) in place
        ]

    @cached_property
    def _neighbors(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {node: [] for node in range(len(self.explored))}
        for low, high in self._edges:
            found[low].append(high)
            found[high].append(low)
        return found

    @property
    def _pill_width(self) -> float:
        return max(map(len, self._labels), default=1) * LETTER + 14

    @property
    def _width(self) -> float:
        widest = max(map(len, self._rows), default=1) * (self._pill_width + GAP)
        return max(2 * MARGIN + NAMED + widest, NARROWEST)

    @property
    def _height(self) -> float:
        return self._top + len(self._rows) * ROW + CAPTION_ROW * len(self._caption_lines)

    @cached_property
    def _positions(self) -> dict[int, tuple[float, float]]:
        middle, step = NAMED + (self._width - NAMED) / 2, self._pill_width + GAP
        return {
            node: (middle + (at - (len(row) - 1) / 2) * step, self._row_middle(number))
            for number, row in enumerate(self._rows)
            for at, node in enumerate(row)
        }

    def _row_middle(self, row: int) -> float:
        return self._top + (len(self._rows) - row - 0.5) * ROW

    def _row_titles(self) -> Iterator[str]:
        for row, height in enumerate(self._span):
            yield text_line(
                MARGIN, self._row_middle(row) + 4, self.say("lattice.height", height=height), size=11, ink=QUIET
            )

    def _style(self, node: int) -> MarkStyle:
        if node == self.explored.best:
            return BEST
        return FRONTIER if self.minimal[node] else LOOKS[NodeStatus(int(self.explored.status[node]))]

    @cached_property
    def _entries(self) -> list[tuple[str, MarkStyle]]:
        """The entries of the legend."""
        shown = set(self.explored.status.tolist())
        entries = [
            (self.say(f"lattice.status.{key}"), LOOKS[status]) for status, key in STATUS_KEYS.items() if status in shown
        ]
        if set(np.flatnonzero(self.minimal).tolist()) - {self.explored.best}:
            entries.append((self.say("lattice.below"), FRONTIER))
        if self.explored.best is not None:
            entries.append((describe_best_node(self.explored, self.explored.best, self.say), BEST))
        return entries

    @property
    def _entry_positions(self) -> list[tuple[float, int]]:
        return list(legend_positions([text for text, _ in self._entries], MARGIN, self._width - MARGIN, 33))

    @property
    def _top(self) -> float:
        """The height of the legend."""
        return LATTICE_LEGEND_ROW * (1 + max((row for _, row in self._entry_positions), default=0)) + MARGIN

    def _legend(self) -> Iterator[str]:
        for (x, row), (text, looks) in zip(self._entry_positions, self._entries, strict=True):
            y = 20 + row * LATTICE_LEGEND_ROW
            yield _draw_node(x + 13, y, 26, "", looks=looks)
            yield text_line(x + 33, y + 4, text, size=11.5)

    @property
    def _caption_lines(self) -> list[str]:
        names = self.explored.names
        text = self.say(f"lattice.{'levels' if len(names) > 1 else 'level'}", names=self.say.join_items(names))
        return wrap_text(text, int((self._width - 2 * MARGIN) / LEGEND_LETTER), 3)

    def _caption(self) -> Iterator[str]:
        start = self._top + len(self._rows) * ROW + 6
        for at, text in enumerate(self._caption_lines):
            yield text_line(MARGIN, start + CAPTION_ROW * at, text, size=12, ink=QUIET)

    def _frontier_text(self) -> str:
        frontier = "; ".join(self._labels[node] for node in np.flatnonzero(self.minimal).tolist())
        return f" {self.say('lattice.told_minimal', nodes=frontier)}" if frontier else ""


def _reduce_crossings(rows: Sequence[list[int]], neighbors: dict[int, list[int]]) -> None:
    """Order every row by the positions of its nodes' neighbors in the row before."""
    for before, row in pairwise(rows):
        place = {node: at - (len(before) - 1) / 2 for at, node in enumerate(before)}
        pulls = {node: [place[near] for near in neighbors[node] if near in place] for node in row}
        middle = {node: sum(pull) / len(pull) if pull else 0.0 for node, pull in pulls.items()}
        row.sort(key=middle.__getitem__)


def _draw_node(x: float, y: float, long: float, text: str, *, looks: MarkStyle, tip: str = "") -> str:
    inside = f"<title>{escape_xml(tip)}</title>" if tip else ""
    label = text_line(x, y + 4, text, size=11, ink=looks.ink, anchor="middle", weight=600) if text else ""
    return (
        f'<g>{inside}<rect x="{x - long / 2:.2f}" y="{y - PILL_HEIGHT / 2:.2f}" width="{long:.2f}" '
        f'height="{PILL_HEIGHT:g}" rx="{PILL_HEIGHT / 2:g}" fill="{looks.fill}" stroke="{looks.edge}" '
        f'stroke-width="{looks.width:g}" stroke-dasharray="{looks.dashes}"/>{label}</g>'
    )
