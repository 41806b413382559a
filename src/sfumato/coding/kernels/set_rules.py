"""Compiled loops over sets of items and how often each sensitive item comes with them."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, compiled
from sfumato.coding.kernels.item_sets import count_next, deal_next

SETS, BROKEN, WORST, OF, LISTED = 0, 1, 2, 3, 4


@compiled
def list_rule(found: Array, chosen: Array, size: int, item: int, told: Array) -> Array:
    """Add a set, and the sensitive item that breaks it or -1, to those that are listed; return the list, grown."""
    if told[LISTED] == len(found):
        grown = np.empty((2 * len(found), size + 1), dtype=found.dtype)
        grown[: len(found)] = found
        found = grown
    for j in range(size):
        found[told[LISTED], j] = chosen[j]
    found[told[LISTED], size] = item
    told[LISTED] += 1
    return found


@compiled
def judge_rules(
    held: Array, low: int, high: int, chosen: Array, size: int, rule: tuple[int, int, int, bool], sensitive: Arrays,
    counted: Arrays, told: Array, found: Array,
) -> Array:  # fmt: skip
    """Judge a set by the baskets that hold it: too few of them, or too many with a sensitive item that is not in it."""
    k, part, whole, every = rule
    codes, offsets = sensitive
    counts, seen = counted
    support, many = high - low, 0
    for i in range(low, high):
        for q in range(offsets[held[i]], offsets[held[i] + 1]):
            if counts[codes[q]] == 0:
                seen[many] = codes[q]
                many += 1
            counts[codes[q]] += 1
    told[SETS] += 1
    broken = support < k
    if broken and not every:
        found = list_rule(found, chosen, size, -1, told)
    for i in range(many):
        item, count = seen[i], counts[seen[i]]
        counts[item] = 0
        own = False
        for j in range(size):
            own = own or chosen[j] == item
        if own:
            continue
        if count * told[OF] > told[WORST] * support:
            told[WORST], told[OF] = count, support
        if count * whole > part * support:
            if every or not broken:
                found = list_rule(found, chosen, size, item, told)
            broken = True
    if broken:
        told[BROKEN] += 1
    return found


@compiled
def walk_rules(
    baskets: Arrays, postings: Arrays, size: int, rule: tuple[int, int, int, bool], sensitive: Arrays, space: Arrays,
    counted: Arrays, most: int, told: Array,
) -> Array:  # fmt: skip
    """Walk all sets of a size that baskets hold, judge each, and list what is broken.

    Parameters
    ----------
    baskets : codes of items that may be known, ascending in every basket; offsets; the basket of each code.
    postings : where the places of every item begin, and its places in `codes`.
    rule : how many baskets must hold a set; of these, the largest share with a sensitive item as two whole numbers; and
        whether every sensitive item that breaks it is listed, or the set once.
    sensitive : the sensitive items of every basket, as codes and offsets.
    space : for every level counts, items seen, where their pointers begin, pointers; for every level the number of
        groups, which is next, and the item chosen.
    counted : a count and a place for every item.
    most : the walk stops beyond so many sets.
    told : sets, broken sets, the worst share as two whole numbers, and how many are listed.
    """
    counts, seen, begins, dealt, widths, at, chosen = space
    found = np.empty((16, size + 1), dtype=np.int64)
    held = np.empty(max(dealt.shape[1], len(postings[1])), dtype=np.int64)
    rows = baskets[2]
    level, at[0], widths[0] = 0, 0, len(postings[0]) - 1
    while level >= 0 and told[SETS] <= most:
        if at[level] == widths[level]:
            level -= 1
            continue
        g = at[level]
        at[level] += 1
        item = g if level == 0 else seen[level, g]
        pointers = postings[1] if level == 0 else dealt[level]
        low = postings[0][g] if level == 0 else begins[level, g]
        high = postings[0][g + 1] if level == 0 else begins[level, g + 1]
        if low == high:
            continue
        chosen[level] = item
        if level + 1 < size:
            width = count_next(baskets, pointers, low, high, counts[level + 1], seen[level + 1])
            ahead = counts[level + 1], seen[level + 1], begins[level + 1], dealt[level + 1]
            deal_next(baskets, pointers, low, high, ahead, width)
            level += 1
            at[level], widths[level] = 0, width
            continue
        for i in range(low, high):
            held[i] = rows[pointers[i]]
        found = judge_rules(held, low, high, chosen, size, rule, sensitive, counted, told, found)
    return found[: told[LISTED]]


@compiled
def holds_all(codes: Array, first: int, last: int, wanted: Array, count: int, but: int) -> bool:
    """Return whether a basket, the run of `codes`, holds all wanted items but one."""
    q = first
    for j in range(count):
        if wanted[j] == but:
            continue
        while q < last and codes[q] < wanted[j]:
            q += 1
        if q == last or codes[q] != wanted[j]:
            return False
    return True


@compiled
def judge_closed(
    baskets: Arrays, postings: Arrays, closed: Array, count: int, support: int, rule: tuple[int, int], flags: Array,
    told: Array,
) -> None:  # fmt: skip
    """Judge a closed set: for each of its sensitive items, in how many of the baskets with all others it is."""
    codes, offsets, rows = baskets
    begins, places = postings
    part, whole = rule
    broken = False
    for j in range(count):
        if not flags[closed[j]]:
            continue
        rarest = -1
        for i in range(count):
            if i != j and (
                rarest < 0
                or begins[closed[i] + 1] - begins[closed[i]] < begins[closed[rarest] + 1] - begins[closed[rarest]]
            ):
                rarest = i
        if rarest < 0:
            continue
        others = 0
        for at in range(begins[closed[rarest]], begins[closed[rarest] + 1]):
            row = rows[places[at]]
            if holds_all(codes, offsets[row], offsets[row + 1], closed, count, closed[j]):
                others += 1
        if support * told[OF] > told[WORST] * others:
            told[WORST], told[OF] = support, others
        broken = broken or support * whole > part * others
    told[SETS] += 1
    if broken:
        told[BROKEN] += 1


@compiled
def extend_closed(
    baskets: Arrays, held: Array, item: int, core: Array, size: int, occ: Array, counts: Array, seen: Array, out: Array
) -> tuple[int, int]:
    """Close a closed set and one more item; return the size of the closure and how many baskets hold it.

    The size is -1 if an item before the new one joins that was not in the set, since the closure is then found
    elsewhere. `held` are the baskets with the set, `occ` gets those with the closure, `out` the closure.
    """
    codes, offsets = baskets[0], baskets[1]
    found = many = 0
    for i in range(len(held)):
        row = held[i]
        low, high = offsets[row], offsets[row + 1]
        inside = False
        for q in range(low, high):
            inside = inside or codes[q] == item
        if inside:
            occ[found] = row
            found += 1
            for q in range(low, high):
                if counts[codes[q]] == 0:
                    seen[many] = codes[q]
                    many += 1
                counts[codes[q]] += 1
    count = before = 0
    for i in range(many):
        if counts[seen[i]] == found:
            out[count] = seen[i]
            count += 1
            if seen[i] < item:
                before += 1
        counts[seen[i]] = 0
    out[:count].sort()
    old = 0
    for j in range(size):
        if core[j] < item:
            old += 1
    return (count, found) if before == old else (-1, found)


@compiled
def next_item(baskets: Arrays, held: Array, closed: Array, size: int, tried: int, items: int) -> int:
    """Find the first item after the one tried that is not in a closed set, but in a basket with it; `items` if none."""
    codes, offsets = baskets[0], baskets[1]
    following = items
    for i in range(len(held)):
        low, high = offsets[held[i]], offsets[held[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if codes[middle] <= tried:
                low = middle + 1
            else:
                high = middle
        while low < offsets[held[i] + 1] and codes[low] < following:
            own = False
            for j in range(size):
                own = own or closed[j] == codes[low]
            if not own:
                following = codes[low]
                break
            low += 1
        if following == tried + 1:
            break
    return following


@compiled
def walk_closed(
    baskets: Arrays,
    postings: Arrays,
    items: int,
    longest: int,
    rule: tuple[int, int],
    flags: Array,
    most: int,
    told: Array,
) -> None:
    """Judge all closed sets: sets that no other item joins without losing a basket. The walk stops beyond so many.

    Every closed set is reached once, from the one before it that its last new item extends (Uno and others, 2004).
    """
    codes, offsets = baskets[0], baskets[1]
    rows = len(offsets) - 1
    counts, seen = np.zeros(items, dtype=np.int64), np.empty(items, dtype=np.int64)
    occ = np.empty((longest + 2, rows), dtype=np.int32)
    sizes, many = np.zeros(longest + 2, dtype=np.int64), np.zeros(longest + 2, dtype=np.int64)
    sets = np.zeros((longest + 2, longest), dtype=np.int64)
    for row in range(rows):
        occ[0, row] = row
    many[0] = rows
    rows_of = np.empty(len(codes), dtype=np.int32)  # the baskets of each item
    for at in range(len(codes)):
        rows_of[at] = baskets[2][postings[1][at]]
    for item in range(items):  # what all baskets hold is the first closed set
        if postings[0][item + 1] - postings[0][item] == rows:
            sets[0, sizes[0]] = item
            sizes[0] += 1
    if sizes[0] > 0:
        judge_closed(baskets, postings, sets[0], sizes[0], rows, rule, flags, told)
    tried = np.full(longest + 2, -1)
    level = 0
    while level >= 0 and told[SETS] <= most:
        if level == 0:  # every item occurs
            following = tried[0] + 1
            while following < items and postings[0][following + 1] - postings[0][following] == rows:
                following += 1
        else:
            following = next_item(baskets, occ[level, : many[level]], sets[level], sizes[level], tried[level], items)
        if following == items:
            level -= 1
            continue
        tried[level] = following
        held = occ[level, : many[level]]
        if level == 0:
            held = rows_of[postings[0][following] : postings[0][following + 1]]
        size, found = extend_closed(
            baskets, held, following, sets[level], sizes[level], occ[level + 1], counts, seen,
            sets[level + 1],
        )  # fmt: skip
        if size < 0:
            continue
        sizes[level + 1], many[level + 1] = size, found
        judge_closed(baskets, postings, sets[level + 1], size, found, rule, flags, told)
        tried[level + 1] = following
        level += 1
