"""All graphs of a few persons, one after the other, to find the nearest one whose degrees occur k times each."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def nearest_anonymous_graph(pairs: Array, joined: Array, persons: int, k: int, adding: bool) -> Array:
    """Return which pairs are joined in the graph with fewest changes whose every degree occurs k times.

    All graphs are tried, each a single change from the one before; with `adding`, only those that keep all edges. Of
    several the first one wins. There is always one if there are k persons: the one in which everybody knows everybody.
    """
    degrees, counts = np.zeros(persons, dtype=np.int64), np.zeros(persons, dtype=np.int64)
    for place in np.flatnonzero(joined):
        degrees[pairs[place, 0]] += 1
        degrees[pairs[place, 1]] += 1
    for person in range(persons):
        counts[degrees[person]] += 1
    open_ = np.flatnonzero(~joined) if adding else np.arange(len(pairs))
    now, best = joined.copy(), joined.copy()
    changed, fewest = 0, len(pairs) + 1
    for turn in range(1 << len(open_)):
        if turn:
            place = open_[_lowest_bit(turn)]
            step = -1 if now[place] else 1
            for person in pairs[place]:
                counts[degrees[person]] -= 1
                degrees[person] += step
                counts[degrees[person]] += 1
            now[place] = not now[place]
            changed += 1 if now[place] != joined[place] else -1
        if changed < fewest and _all_frequent(counts, k):
            fewest = changed
            best[:] = now
    return best


@compiled
def _lowest_bit(number: int) -> int:
    bit = 0
    while not (number >> bit) & 1:
        bit += 1
    return bit


@compiled
def _all_frequent(counts: Array, k: int) -> bool:
    rare = 0
    for count in counts:
        rare += 0 < count < k
    return rare == 0
