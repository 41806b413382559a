"""Pictures of an explored lattice: every node of a small one, loss over height of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.exploration import Exploration, NodeStatus
from sfumato.reporting.drawing import (
    INK,
    LINE,
    QUIET,
    draw_line,
    escape_xml,
    rectangle,
    svg_document,
    text_line,
    wrap_text,
)
from sfumato.reporting.loss_scatter import draw_loss_by_height
from sfumato.reporting.node_looks import (
    LEGEND_LETTER,
    LOOKS,
    PAPER,
    STATUS_KEYS,
    MarkStyle,
    describe_best_node,
    describe_lattice,
    describe_node,
    legend_positions,
)
from sfumato.words import Messages

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
