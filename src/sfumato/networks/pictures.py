"""Pictures of networks: degrees and candidates before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.network import Graph
from sfumato.networks.promise import PublishedGraph
from sfumato.networks.refinement import candidate_set_sizes
from sfumato.reporting.drawing import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    QUIET,
    draw_line,
    polyline,
    rectangle,
    svg_document,
    text_line,
)

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
