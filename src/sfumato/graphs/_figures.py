"""Pictures of networks: degrees and candidates before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.vertex_refinement import candidate_set_sizes
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    INK,
    LINE,
    QUIET,
    circle,
    draw_line,
    polyline,
    rectangle,
    svg_document,
    text_line,
)

Integers = npt.NDArray[np.int64]


CHART_WIDTH, CHART_HEIGHT = 640.0, 340.0
LEFT, RIGHT, CHART_TOP, CHART_BOTTOM = 56.0, 16.0, 56.0, 64.0
AXIS = CHART_HEIGHT - 28  # where the name of an axis stands
SIZES = (1, 2, 5, 10, 20, 50)
TICKS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
KNOWLEDGE_LABELS = {"H1": "her degree", "H2": "those of neighbors", "H3": "those of theirs"}


def plot_degrees(before: Graph, after: Graph) -> str:
    """Draw how many persons have at least so many neighbors, before and after, both axes logarithmic."""
    most = float(max(before.degrees.max(), after.degrees.max(), 2)) + 1
    persons = float(max(len(before), len(after), 2))

    def place(degree: float, count: float) -> tuple[float, float]:
        right = np.log1p(degree) / np.log1p(most)
        up = np.log(max(count, 1)) / np.log(persons)
        return LEFT + right * (CHART_WIDTH - LEFT - RIGHT), CHART_HEIGHT - CHART_BOTTOM - up * (
            CHART_HEIGHT - CHART_TOP - CHART_BOTTOM
        )

    shapes = []
    for count in (10**each for each in range(int(np.log10(persons)) + 1)):
        y = place(0, count)[1]
        shapes += [
            draw_line(LEFT, y, CHART_WIDTH - RIGHT, y),
            text_line(LEFT - 6, y + 4, f"{count:,}", size=11, ink=QUIET, anchor="end"),
        ]
    for degree in (each for each in TICKS if each <= most):
        x = place(degree, 1)[0]
        shapes.append(
            text_line(x, CHART_HEIGHT - CHART_BOTTOM + 16, f"{degree:,}", size=11, ink=QUIET, anchor="middle")
        )
    for network, ink in ((before, BEFORE_EDGE), (after, AFTER)):
        values, counts = np.unique(network.degrees, return_counts=True)
        above = np.cumsum(counts[::-1])[::-1]
        points = [place(value, count) for value, count in zip(values.tolist(), above.tolist(), strict=True)]
        shapes.append(polyline(points, ink=ink, width=2))
    shapes.append(text_line((LEFT + CHART_WIDTH) / 2, AXIS, "neighbors", size=12, anchor="middle"))
    title = "How many persons have at least so many neighbors"
    shapes += _chart_title(title, (("original", BEFORE_EDGE), ("published", AFTER)))
    told = f"{len(before):,} persons before, {len(after):,} after"
    return svg_document(CHART_WIDTH, CHART_HEIGHT, title=title, description=told, shapes=shapes)


def plot_candidates(before: Graph, after: PublishedGraph) -> str:
    """Draw the share of persons with at most some candidates, by what is known: H1, H2 and H3.

    Everybody in a super-node looks alike, whatever is known of the structure.
    """
    shapes, height = [], CHART_HEIGHT - CHART_TOP - CHART_BOTTOM
    room = (CHART_WIDTH - LEFT - RIGHT) / len(KNOWLEDGE_LABELS)
    for share in (0, 0.5, 1):
        y = CHART_HEIGHT - CHART_BOTTOM - share * height
        shapes += [
            draw_line(LEFT, y, CHART_WIDTH - RIGHT, y),
            text_line(LEFT - 6, y + 4, f"{share:.0%}", size=11, ink=QUIET, anchor="end"),
        ]
    for panel, (knowledge, told) in enumerate(KNOWLEDGE_LABELS.items()):
        left, width = LEFT + panel * room, (room - 24) / len(SIZES)
        for side, (network, fill) in enumerate(((before, BEFORE), (after, AFTER))):
            found = _candidate_curve(network, knowledge)
            for at, size in enumerate(SIZES):
                share = float((found <= size).mean())
                x = left + 12 + at * width + side * width / 2
                tip = f"{share:.1%} have at most {size} candidates by {knowledge}"
                shapes.append(
                    rectangle(
                        x,
                        CHART_HEIGHT - CHART_BOTTOM - share * height,
                        width / 2 - 1,
                        share * height,
                        fill=fill,
                        tip=tip,
                    )
                )
        for at, size in enumerate(SIZES):
            x = left + 12 + (at + 0.5) * width
            shapes.append(
                text_line(x, CHART_HEIGHT - CHART_BOTTOM + 15, f"≤{size}", size=10, ink=QUIET, anchor="middle")
            )
        shapes.append(text_line(left + room / 2, AXIS, f"{knowledge}: {told}", size=12, anchor="middle"))
    title = "Share of persons with at most so many candidates, by what is known"
    shapes += _chart_title(title, (("original", BEFORE), ("published", AFTER)))
    told = "H1 is the number of her neighbors, H2 the numbers of neighbors of these, H3 one step further"
    return svg_document(CHART_WIDTH, CHART_HEIGHT, title=title, description=told, shapes=shapes)


def _candidate_curve(network: PublishedGraph, knowledge: str) -> npt.NDArray[np.int64]:
    if isinstance(network, ClusteredGraph):
        return network.sizes[network.cluster]
    return candidate_set_sizes(network, knowledge=knowledge)


def _chart_title(title: str, entries: Sequence[tuple[str, str]]) -> list[str]:
    """Write the title of a picture, and what its colors stand for."""
    found, at = [text_line(LEFT, 18, title, size=13, weight=600)], LEFT
    for label, ink in entries:
        found += [draw_line(at, 36, at + 20, 36, ink=ink, width=4), text_line(at + 26, 40, label, size=12)]
        at += 46 + 7.0 * len(label)
    return found


# A picture of super-nodes, placed by what is published alone.

WIDTH, HEIGHT = 640.0, 540.0
EDGE, TOP, BOTTOM = 24.0, 68.0, 32.0
MAX_NODES = 300
LINES_PER_NODE = 4
STEPS = 120
Numbers = npt.NDArray[np.float64]


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
