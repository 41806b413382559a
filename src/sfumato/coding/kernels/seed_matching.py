"""Match the persons of two networks: by the degrees of their neighbors, or from a few who are known."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, Number, compiled

UNMATCHED = -1


@compiled
def row_distances(mine: Array, offsets: Array, rows: Array) -> Array:
    """Return how far a row of ascending numbers is from all rows, the shorter one filled up with zeros in front."""
    found = np.zeros(len(offsets) - 1, dtype=np.int64)
    for person in range(len(found)):
        size = offsets[person + 1] - offsets[person]
        total = 0
        for back in range(1, max(size, len(mine)) + 1):
            one = mine[len(mine) - back] if back <= len(mine) else 0
            other = rows[offsets[person + 1] - back] if back <= size else 0
            total += abs(one - other)
        found[person] = total
    return found


@compiled
def _best_match(
    one: Arrays, other: Arrays, to: Array, back: Array, person: Number, also: Number, work: Arrays
) -> tuple[Number, Number]:
    """Score the free persons of another network by the mapped neighbors of a person, and return the best.

    Free are those whom nobody is mapped to, and `also`, so that somebody who is mapped can be mapped anew.
    A score is the number of neighbors whose images are neighbors, over the square root of the degree. Returned are the
    best person, and by how many standard deviations of all scores, zeros included, she is better than the second.
    """
    size, found, shared, touched = len(other[0]) - 1, 0, work[0], work[1]
    for place in range(one[0][person], one[0][person + 1]):
        image = to[one[1][place]]
        if image < 0:
            continue
        for step in range(other[0][image], other[0][image + 1]):
            there = other[1][step]
            if shared[there] == 0:
                touched[found] = there
                found += 1
            shared[there] += 1
    best, first, second, total, squares = UNMATCHED, 0.0, 0.0, 0.0, 0.0
    for place in range(found):
        there = touched[place]
        if back[there] < 0 or there == also:
            score = shared[there] / np.sqrt(other[0][there + 1] - other[0][there])
            total += score
            squares += score * score
            if score > first:
                best, first, second = there, score, first
            elif score > second:
                second = score
        shared[there] = 0
    spread = np.sqrt(max(squares / size - (total / size) ** 2, 0.0))
    return best, (first - second) / spread if spread > 0 else 0.0


@compiled
def _mutual_match(
    one: Arrays, other: Arrays, to: Array, back: Array, person: Number, theta: float, work: Arrays
) -> Number:
    """Return who sticks out for a person, if this person sticks out for her, too; -1 if nobody does."""
    there, ahead = _best_match(one, other, to, back, person, to[person], work)
    if there < 0 or ahead < theta:
        return UNMATCHED
    again, ahead = _best_match(other, one, back, to, there, person, work)
    return there if again == person and ahead >= theta else UNMATCHED


@compiled
def propagate_seeds(one: Arrays, other: Arrays, to: Array, back: Array, theta: float, orders: Array) -> Number:
    """Map persons from those mapped so far, and back; return the number of rounds until nothing changed.

    `orders` has a row for each round: the order in which persons are visited. Everybody but the seeds is visited in
    every round, and who does not stick out any more is mapped to nobody again: errors of the first rounds would
    otherwise stay and lead to others.
    """
    size = max(len(to), len(back))
    work = np.zeros(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    fixed = to >= 0
    for turn in range(len(orders)):
        changed = 0
        for person in orders[turn]:
            if fixed[person]:
                continue
            there = _mutual_match(one, other, to, back, person, theta, work)
            if there == to[person]:
                continue
            if to[person] >= 0:
                back[to[person]] = UNMATCHED
            to[person] = there
            if there >= 0:
                back[there] = person
            changed += 1
        if changed == 0:
            return turn + 1
    return len(orders)
