"""Pictures of networks: degrees and candidates before and after, and super-nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network
from sfumato.networks.refinement import candidates
from sfumato.randomness import generator
from sfumato.reporting.drawing import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    QUIET,
    bar,
    dot,
    line,
    path,
    picture,
    words,
)

WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 16.0, 36.0, 44.0
SIZES = (1, 2, 5, 10, 20, 50)
MOST_NODES = 300
STEPS = 60
Numbers = npt.NDArray[np.float64]


def draw_degrees(before: Network, after: Network) -> str:
    """Draw how many persons have at least so many neighbors, before and after, both axes logarithmic."""
    most = float(max(before.degrees.max(), after.degrees.max(), 2)) + 1
    persons = float(max(len(before), len(after), 2))

    def place(degree: float, count: float) -> tuple[float, float]:
        right = np.log1p(degree) / np.log1p(most)
        up = np.log(max(count, 1)) / np.log(persons)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    shapes = []
    for count in (10**each for each in range(int(np.log10(persons)) + 1)):
        y = place(0, count)[1]
        shapes += [
            line(LEFT, y, WIDTH - RIGHT, y),
            words(LEFT - 6, y + 4, f"{count:,}", size=11, ink=QUIET, anchor="end"),
        ]
    for degree in (each for each in (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000) if each <= most):
        x = place(degree, 1)[0]
        shapes.append(words(x, HEIGHT - BOTTOM + 16, f"{degree:,}", size=11, ink=QUIET, anchor="middle"))
    for network, ink in ((before, BEFORE_EDGE), (after, AFTER)):
        values, counts = np.unique(network.degrees, return_counts=True)
        above = np.cumsum(counts[::-1])[::-1]
        points = [place(value, count) for value, count in zip(values.tolist(), above.tolist(), strict=True)]
        shapes.append(path(points, ink=ink, width=2))
    shapes.append(words((LEFT + WIDTH) / 2, HEIGHT - 8, "neighbors", size=12, anchor="middle"))
    shapes += _legend((("original", BEFORE_EDGE), ("published", AFTER)))
    told = f"{len(before):,} persons before, {len(after):,} after"
    return picture(WIDTH, HEIGHT, title="Persons with at least so many neighbors", description=told, shapes=shapes)


def draw_candidates(before: Network, after: Network) -> str:
    """Draw the share of persons with fewer candidates than some numbers, by what is known: H1, H2 and H3."""
    shapes, height = [], HEIGHT - TOP - BOTTOM
    room = (WIDTH - LEFT - RIGHT) / 3
    for share in (0, 0.5, 1):
        y = HEIGHT - BOTTOM - share * height
        shapes += [
            line(LEFT, y, WIDTH - RIGHT, y),
            words(LEFT - 6, y + 4, f"{share:.0%}", size=11, ink=QUIET, anchor="end"),
        ]
    for panel, knowledge in enumerate(("H1", "H2", "H3")):
        left, width = LEFT + panel * room, (room - 24) / len(SIZES)
        for side, (network, fill) in enumerate(((before, BEFORE), (after, AFTER))):
            found = candidates(network, knowledge=knowledge)
            for at, size in enumerate(SIZES):
                share = float((found <= size).mean())
                x = left + 12 + at * width + side * width / 2
                tip = f"{share:.1%} have at most {size} candidates by {knowledge}"
                shapes.append(
                    bar(x, HEIGHT - BOTTOM - share * height, width / 2 - 1, share * height, fill=fill, tip=tip)
                )
        for at, size in enumerate(SIZES):
            x = left + 12 + (at + 0.5) * width
            shapes.append(words(x, HEIGHT - BOTTOM + 15, f"≤{size}", size=10, ink=QUIET, anchor="middle"))
        shapes.append(words(left + room / 2, HEIGHT - 8, knowledge, size=12, anchor="middle"))
    shapes += _legend((("original", BEFORE_EDGE), ("published", AFTER)))
    told = "share of persons with at most so many candidates"
    return picture(WIDTH, HEIGHT, title="Candidates by what is known", description=told, shapes=shapes)


def draw_super_nodes(network: ClusteredNetwork) -> str:
    """Draw the largest super-nodes, at most 300, where springs along the published counts put them."""
    shown = np.argsort(-network.sizes, kind="stable")[:MOST_NODES]
    place = np.full(len(network.sizes), -1, dtype=np.int64)
    place[shown] = np.arange(len(shown))
    rows = network.between[(place[network.between[:, :2]] >= 0).all(axis=1)]
    ends, counts = place[rows[:, :2]], rows[:, 2].astype(np.float64)
    spots = _layout(len(shown), ends, counts) * [WIDTH - 40, HEIGHT + 60] + [20, 20]
    heaviest = np.argsort(-counts, kind="stable")[: 4 * MOST_NODES]
    shapes = [line(*spots[a], *spots[b], ink=FAINT) for a, b in ends[heaviest].tolist()]
    inner, _ = network.beliefs()
    for node, (x, y) in zip(shown.tolist(), spots.tolist(), strict=True):
        size, belief = int(network.sizes[node]), float(inner[node])
        fill = AFTER if belief < 1 else INK
        tip = f"{size:,} persons, {int(network.inner[node]):,} relations inside, belief {belief:.2f}"
        shapes.append(dot(x, y, 2 + np.sqrt(size) / 2, fill=fill, edge=FAINT, tip=tip))
    told = f"{len(shown):,} of {len(network.sizes):,} super-nodes; dark ones are cliques"
    return picture(WIDTH, HEIGHT + 100, title="Super-nodes", description=told, shapes=shapes)


def _layout(count: int, ends: npt.NDArray[np.int64], counts: Numbers) -> Numbers:
    """Place nodes in the unit square: all push each other away, edges pull."""
    rng = generator(0)
    spots = rng.random((count, 2))
    spring = np.sqrt(1 / max(count, 1))
    pull = np.zeros((count, count))
    pull[ends[:, 0], ends[:, 1]] = pull[ends[:, 1], ends[:, 0]] = counts / max(float(counts.max(initial=1)), 1)
    for step in range(STEPS):
        apart = spots[:, None, :] - spots[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-6)
        force = spring**2 / distance**2 - pull * distance / spring
        np.fill_diagonal(force, 0)
        moved = (apart * force[:, :, None]).sum(axis=1)
        length = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        spots += moved / length * np.minimum(length, 0.1 * (1 - step / STEPS))
    low, high = spots.min(axis=0, initial=0), spots.max(axis=0, initial=1)
    return np.asarray((spots - low) / np.maximum(high - low, 1e-9))


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    found, at = [], LEFT
    for label, ink in entries:
        found += [line(at, TOP - 18, at + 20, TOP - 18, ink=ink, width=3), words(at + 26, TOP - 14, label, size=12)]
        at += 60 + 7.0 * len(label)
    return found
