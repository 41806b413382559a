"""Worths: how much every row must lose at least if all are to be recoded well, raised step by step.

A row that is hard to group is worth much. The sum of worths, less what the boxes' best choices of rows are worth beyond
their prices, is a lower bound for the loss; worths that raise it say which rows need which box. Worths follow its
subgradient: a row gains where no box wants it, and loses where several do. All numbers are whole and all sums exact, so
worths are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from sfumato.coding.covering.boxes import BoxSearch, ClosedBoxList, WeightedPoints
from sfumato.coding.regrouping.rows import Ints

STEPS, FULL = 80, 5  # every so many steps all boxes are looked at, otherwise those that are nearly worth their price
FEWER_STEPS, MANY_PAIRS = 40, 4_000_000
AIM, SLACK = 108, 1  # the bound to step toward, in percent of the best, and how far it is at least
PACE, SLOWER = 600, 700  # the length of a step, in thousandths, and how much of it is left when the bound does not rise
ONE, FASTEST = 1 << 10, 1 << 16  # the speed of a row that no box wants, and the largest speed
RATE_BITS, LARGEST_RATE = 20, 1 << 36


def raise_dual_prices(
    coverer: BoxSearch, points: WeightedPoints, boxes: ClosedBoxList, least: int, *, start: Ints, caps: Ints
) -> Ints:
    """Raise worths, none above its cap, as long as the bound for the given boxes rises, or nearly so."""
    worths, best, highest, pace = start, start, 0, PACE
    speed, everything = np.zeros(len(points), dtype=np.int64), np.arange(len(boxes))
    near = everything
    for step in range((STEPS if len(boxes.members) < MANY_PAIRS else FEWER_STEPS) + 1):
        full = step % FULL == 0
        beyond, taken, close = coverer.look(points, boxes, least, worths, everything if full else near)
        bound = int((worths * points.weight).sum()) - beyond
        if full:
            near = everything[close]
            pace = pace if bound > highest else pace * SLOWER // 1000
            best, highest = (worths, bound) if bound > highest else (best, highest)
        slope = (points.weight - taken) * ONE // points.weight
        speed = np.clip((speed + slope) // 2, -FASTEST, FASTEST)
        worths = np.clip(worths + _step_size(speed, points.weight, pace, highest, bound), 0, caps)
    return best


def _step_size(speed: Ints, weight: Ints, pace: int, highest: int, bound: int) -> Ints:
    """Return how far every worth goes: so far that the bound would reach the aim if it rose on as steeply."""
    steep = int((weight * speed * speed).sum())
    way = max(highest * AIM // 100 - bound, highest * SLACK // 100)
    rate = min((pace * way * ONE << RATE_BITS) // (1000 * max(steep, 1)), LARGEST_RATE)
    return np.asarray(rate * speed >> RATE_BITS)
