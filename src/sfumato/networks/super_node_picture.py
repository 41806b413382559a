"""A picture of super-nodes, placed by what is published alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.networks.clustered import ClusteredGraph
from sfumato.randomness import seeded_generator
from sfumato.reporting.drawing import AFTER, BEFORE_EDGE, INK, LINE, QUIET, circle, draw_line, svg_document, text_line

WIDTH, HEIGHT = 640.0, 540.0
EDGE, TOP, BOTTOM = 24.0, 68.0, 32.0
MAX_NODES = 300
LINES_PER_NODE = 4
STEPS = 120
Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def plot_super_nodes(network: ClusteredGraph) -> str:
    """Draw the largest super-nodes, at most 300, where springs along the published counts put them.

    The lines with the most relations are drawn, four for each super-node on average.
    """
    shown = np.argsort(-network.sizes, kind="stable")[:MAX_NODES]
    place = np.full(len(network.sizes), -1, dtype=np.int64)
    place[shown] = np.arange(len(shown))
    rows = network.between[(place[network.between[:, :2]] >= 0).all(axis=1)]
    ends, counts = place[rows[:, :2]], rows[:, 2].astype(np.float64)
    spots = spring_layout(len(shown), ends, counts)
    spots = spots * [WIDTH - 2 * EDGE, HEIGHT - TOP - BOTTOM] + [EDGE, TOP]
    heaviest = np.argsort(-counts, kind="stable")[: LINES_PER_NODE * len(shown)][::-1]
    widest = float(counts.max(initial=1))
    shapes = [
        draw_line(*spots[a], *spots[b], ink="#c3ccd6", width=round(0.5 + 2.5 * count / widest, 2))
        for (a, b), count in zip(ends[heaviest].tolist(), counts[heaviest].tolist(), strict=True)
    ]
    inner, _ = network.edge_probabilities()
    largest = float(np.clip(70 / np.sqrt(len(shown)), 4, 12))
    for node, (x, y) in zip(shown.tolist(), spots.tolist(), strict=True):
        size, belief = int(network.sizes[node]), float(inner[node])
        tip = f"{size:,} persons, {int(network.inner[node]):,} relations inside, belief {belief:.2f}"
        shapes.append(
            circle(
                x,
                y,
                largest * np.sqrt(size / network.sizes.max()),
                fill=probability_color(belief, size),
                edge="#ffffff",
                tip=tip,
            )
        )
    title = f"{len(shown):,} of {len(network.sizes):,} super-nodes, and where most relations between them are"
    told = "placed by the published counts; a circle is the larger, the more persons it stands for"
    return svg_document(WIDTH, HEIGHT, title=title, description=told, shapes=[*_super_node_title(title), *shapes])


def probability_color(belief: float, size: int) -> str:
    """Return the color of a super-node: the surer a relation inside it is, the darker; cliques stand out."""
    if size > 1 and belief >= 1:
        return LINE
    return next(
        color for limit, color in ((0.25, "#9cc3e4"), (0.5, "#5b98cd"), (1, AFTER), (2, AFTER)) if belief < limit
    )


def _super_node_title(title: str) -> list[str]:
    found, at = [text_line(EDGE, 18, title, size=13, weight=600)], EDGE + 4
    found.append(text_line(EDGE, 40, "relations inside are believed", size=12, ink=QUIET))
    at += 186
    for label, fill in (
        ("below 0.25", "#9cc3e4"),
        ("below 0.5", "#5b98cd"),
        ("0.5 or more", AFTER),
        ("surely: cliques", LINE),
    ):
        found += [circle(at, 36, 5, fill=fill, edge=BEFORE_EDGE), text_line(at + 10, 40, label, size=12, ink=INK)]
        at += 30 + 6.6 * len(label)
    return found


def spring_layout(count: int, ends: Integers, counts: Numbers) -> Numbers:
    """Place nodes in the unit square: all push each other away, and edges pull by their counts."""
    spots = seeded_generator(0).random((count, 2))
    spring = np.sqrt(1 / max(count, 1))
    pull = np.zeros((count, count))
    pull[ends[:, 0], ends[:, 1]] = pull[ends[:, 1], ends[:, 0]] = counts / max(float(counts.max(initial=1)), 1)
    for step in range(STEPS):
        apart = spots[:, None, :] - spots[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-6)
        force = spring**2 / distance**2 - pull * distance / spring
        np.fill_diagonal(force, 0)
        middle = 0.5 * (spots.mean(axis=0) - spots)  # parts without relations do not drift away
        moved = (apart * force[:, :, None]).sum(axis=1) + middle
        length = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        spots += moved / length * np.minimum(length, 0.1 * (1 - step / STEPS))
    low, high = (spots.min(axis=0), spots.max(axis=0)) if count else (np.zeros(2), np.ones(2))
    return np.asarray((spots - low) / np.maximum(high - low, 1e-9))
