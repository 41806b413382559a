"""How the nodes of a lattice look in pictures, and how they are described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.full_domain.exploration import Exploration, NodeStatus
from sfumato.reporting.drawing import AFTER, BEFORE, BEFORE_EDGE, INK, text_width
from sfumato.reporting.numbers import format_count, rounded
from sfumato.words import Messages

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
