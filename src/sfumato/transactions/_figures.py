"""Pictures of baskets before and after: how many items they hold, and how many baskets hold each item."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

import numpy as np
import numpy.typing as npt

from sfumato.report.charts.svg import (
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
from sfumato.transactions.transactions import Transactions

WIDTH, HEIGHT, LEFT, TOP = 460.0, 160.0, 56.0, 18.0
BINS = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, 128), (129, None))
POINTS = 60  # of a line


def plot_lengths(original: Transactions, published: Transactions) -> str:
    """Draw the share of baskets by the number of their items, before and after."""
    shares = [_binned(each.lengths) for each in (original, published)]
    most = max(max(each) for each in shares)
    wide = WIDTH / len(BINS)
    shapes = [draw_line(LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT)]
    for at, (low, high) in enumerate(BINS):
        label = f"{low}" if high == low else f"{low}+" if high is None else f"{low}-{high}"
        x = LEFT + at * wide
        for side, (share, fill) in enumerate(zip((shares[0][at], shares[1][at]), (BEFORE, AFTER), strict=True)):
            tall = HEIGHT * share / most
            where = x + 4 + side * (wide - 8) / 2
            shapes.append(rectangle(where, TOP + HEIGHT - tall, (wide - 8) / 2, tall, fill=fill, tip=f"{share:.1%}"))
        shapes.append(text_line(x + wide / 2, TOP + HEIGHT + 16, label, ink=QUIET, anchor="middle", size=11))
    shapes += _legend("items in a basket")
    return svg_document(
        LEFT + WIDTH + 20,
        TOP + HEIGHT + 52,
        title="Baskets by the number of their items",
        description=f"At most {most:.0%} of the baskets in one bar; gray before, blue after.",
        shapes=shapes,
    )


def plot_supports(original: Transactions, published: Transactions) -> str:
    """Draw how many baskets hold the items, from the most frequent one, before and after, both on scales of powers."""
    sides = [np.sort(each.supports)[::-1] for each in (original, published)]
    tallest = max(log10(max(int(each[0]), 10)) for each in sides)
    widest = max(log10(max(len(each), 10)) for each in sides)
    shapes = [draw_line(LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT), draw_line(LEFT, TOP, LEFT, TOP + HEIGHT)]
    for power in range(int(tallest) + 1):
        y = TOP + HEIGHT * (1 - power / tallest)
        shapes += [
            draw_line(LEFT, y, LEFT + WIDTH, y),
            text_line(LEFT - 6, y + 4, f"{10**power:,}", ink=QUIET, anchor="end"),
        ]
    for power in range(int(widest) + 1):
        x = LEFT + WIDTH * power / widest
        shapes.append(text_line(x, TOP + HEIGHT + 16, f"{10**power:,}", ink=QUIET, anchor="middle", size=11))
    for supports, ink in zip(sides, (BEFORE_EDGE, AFTER), strict=True):
        shapes.append(polyline(_curve(supports, widest, tallest), ink=ink, width=2))
    shapes += _legend("rank of an item; how many baskets hold it")
    return svg_document(
        LEFT + WIDTH + 20,
        TOP + HEIGHT + 52,
        title="How many baskets hold the items",
        description="Items from the most frequent one; gray before, blue after.",
        shapes=shapes,
    )


def _binned(lengths: npt.NDArray[np.int64]) -> list[float]:
    total = max(len(lengths), 1)
    return [
        float(((lengths >= low) & (lengths <= (high or lengths.max(initial=0)))).sum() / total) for low, high in BINS
    ]


def _curve(supports: npt.NDArray[np.int64], widest: float, tallest: float) -> Iterator[tuple[float, float]]:
    ranks = np.unique(np.geomspace(1, len(supports), POINTS).astype(np.int64))
    for rank in ranks.tolist():
        x = LEFT + WIDTH * log10(rank) / widest
        yield x, TOP + HEIGHT * (1 - log10(max(int(supports[rank - 1]), 1)) / tallest)


def _legend(said: str) -> list[str]:
    y = TOP + HEIGHT + 40
    return [
        rectangle(LEFT, y - 9, 14, 10, fill=BEFORE),
        text_line(LEFT + 20, y, "before", ink=QUIET),
        rectangle(LEFT + 80, y - 9, 14, 10, fill=AFTER),
        text_line(LEFT + 100, y, "after", ink=QUIET),
        text_line(LEFT + WIDTH, y, said, ink=QUIET, anchor="end"),
    ]
