"""How the nodes of a lattice look in pictures, and how they are described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.full_domain.exploration import Exploration, Status
from sfumato.reporting.drawing import AFTER, BEFORE, BEFORE_EDGE, INK, text_width
from sfumato.reporting.numbers import count

PAPER = "#ffffff"
LEGEND_LETTER = 6.9  # the approximate width of a letter in a legend
LEGEND_GAP = 16.0
STATUS_WORDS = {
    Status.ANONYMOUS: "anonymous",
    Status.NOT_ANONYMOUS: "not anonymous",
    Status.BOUNDED: "not checked, cannot be better",
}


class Looks(NamedTuple):
    """The colors and the outline of a node."""

    fill: str
    ink: str
    edge: str
    dashes: str = "none"
    width: float = 1.2


LOOKS = {
    Status.ANONYMOUS: Looks(AFTER, PAPER, AFTER),
    Status.NOT_ANONYMOUS: Looks(PAPER, INK, BEFORE_EDGE),
    Status.BOUNDED: Looks(BEFORE, INK, BEFORE_EDGE, "3 2"),
}


def node_words(explored: Exploration, node: int) -> str:
    """Describe what is known about a node."""
    levels = ", ".join(f"{name} {level}" for name, level in zip(explored.names, explored.node(node), strict=True))
    parts = [f"{levels}: {STATUS_WORDS[Status(int(explored.status[node]))]}"]
    if not np.isnan(explored.loss[node]):
        parts.append(f"{explored.proof.objective} {explored.loss[node]:.4g}")
    if explored.suppressed[node] >= 0:
        parts.append(f"{count(int(explored.suppressed[node]))} records suppressed")
    return ", ".join(parts)


def best_title(explored: Exploration, best: int) -> str:
    """Describe what the best node loses."""
    return f"best: {explored.proof.objective} {explored.loss[best]:.4g}"


def lattice_words(explored: Exploration) -> str:
    """Describe how many nodes there are of every kind, and which is best."""
    counts = [
        f"{count(int(np.count_nonzero(explored.status == status)))} {text}" for status, text in STATUS_WORDS.items()
    ]
    best = "" if explored.best is None else f" Best: {node_words(explored, explored.best)}."
    return f"{count(len(explored))} nodes over {', '.join(explored.names)}: {', '.join(counts)}.{best}"


def legend_places(texts: Iterable[str], left: float, right: float, sign: float) -> Iterator[tuple[float, int]]:
    """Place the entries of a legend, each after a marker of some width, in as many rows as needed.

    >>> list(legend_places(["anonymous", "not anonymous"], 0, 150, 20))
    [(0, 0), (0, 1)]
    """
    x, row = left, 0
    for text in texts:
        wide = sign + text_width(text) * LEGEND_LETTER
        if x > left and x + wide > right:
            x, row = left, row + 1
        yield x, row
        x += wide + LEGEND_GAP
