"""Compiled loops over sets of items that baskets hold: how many of these baskets share a sensitive item."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, Arrays, compiled
from sfumato.coding.kernels.item_sets import count_next, deal_next


@compiled
def most_shared(rows: Array, pointers: Array, low: int, high: int, sensitive: Arrays) -> int:
    """Count the baskets with the sensitive item that most of the pointed baskets have.

    `sensitive` holds where the sensitive items of every basket begin, these items, and a count for each of them, 0
    before and after.
    """
    begins, held, counts = sensitive
    most = 0
    for i in range(low, high):
        row = rows[pointers[i]]
        for q in range(begins[row], begins[row + 1]):
            counts[held[q]] += 1
            most = max(most, counts[held[q]])
    for i in range(low, high):
        row = rows[pointers[i]]
        for q in range(begins[row], begins[row + 1]):
            counts[held[q]] = 0
    return most


@compiled
def walk_shares(
    baskets: Arrays, postings: Arrays, firsts: Array, limits: Array, space: Arrays, sensitive: Arrays, told: Arrays
) -> None:
    """Walk all sets of a size that begin with some items, and judge the share of baskets with one sensitive item.

    Parameters
    ----------
    baskets, postings, firsts : as for `sfumato.coding.kernels.item_sets.walk_sets`.
    limits : the size of the sets, how many baskets must hold each, and the largest share as a fraction.
    space : as for `walk_sets`, with room for the pointers of every level.
    sensitive : as for `most_shared`.
    told : sets, sets that break a limit, the fewest baskets, and the largest share as a fraction; and how many broken
        sets each item is in.
    """
    counts, seen, begins, dealt, widths, at, chosen = space
    size, k, top, bottom = limits
    figures, blame = told
    level, at[0], widths[0] = 0, 0, len(firsts)
    while level >= 0:
        if at[level] == widths[level]:
            level -= 1
            continue
        g = at[level]
        at[level] += 1
        if level == 0:
            item, pointers = firsts[g], postings[1]
            low, high = postings[0][item], postings[0][item + 1]
        else:
            item, pointers = seen[level, g], dealt[level]
            low, high = begins[level, g], begins[level, g + 1]
        chosen[level] = item
        if level + 1 < size:
            width = count_next(baskets, pointers, low, high, counts[level + 1], seen[level + 1])
            ahead = counts[level + 1], seen[level + 1], begins[level + 1], dealt[level + 1]
            deal_next(baskets, pointers, low, high, ahead, width)
            level += 1
            at[level], widths[level] = 0, width
        elif high > low:
            shared = most_shared(baskets[2], pointers, low, high, sensitive)
            figures[0] += 1
            figures[2] = min(figures[2], high - low)
            if shared * figures[4] > figures[3] * (high - low):
                figures[3], figures[4] = shared, high - low
            if high - low < k or shared * bottom > top * (high - low):
                figures[1] += 1
                for j in range(size):
                    blame[chosen[j]] += 1
