"""Compiled loops over sets of items and how often each sensitive item comes with them."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled
from sfumato.transactions._kernels.itemsets import count_next, project_next

SETS, BROKEN, WORST, OF, LISTED = 0, 1, 2, 3, 4


@compiled
def append_rule(found: Array, chosen: Array, size: int, item: int, told: Array) -> Array:
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
def count_sensitive(held: Array, low: int, high: int, sensitive: Arrays, counted: Arrays) -> int:
    """Count the sensitive items of baskets; return how many there are."""
    codes, offsets = sensitive
    counts, seen = counted
    many = 0
    for i in range(low, high):
        for q in range(offsets[held[i]], offsets[held[i] + 1]):
            if counts[codes[q]] == 0:
                seen[many] = codes[q]
                many += 1
            counts[codes[q]] += 1
    return many


@compiled
def contains(item: int, items: Array, size: int) -> bool:
    """Return whether an item is among the first of a list."""
    found = False
    for j in range(size):
        if items[j] == item:
            found = True
            break
    return found


@compiled
def evaluate_rules(
    held: Array, low: int, high: int, chosen: Array, size: int, rule: tuple[int, int, int, bool], sensitive: Arrays,
    counted: Arrays, told: Array, found: Array,
) -> Array:  # fmt: skip
    """Judge a set by the baskets that hold it: too few of them, or too many with a sensitive item that is not in it."""
    k, part, whole, every = rule
    counts, seen = counted
    support, many = high - low, count_sensitive(held, low, high, sensitive, counted)
    told[SETS] += 1
    broken = support < k
    if broken and not every:
        found = append_rule(found, chosen, size, -1, told)
    for i in range(many):
        item, count = seen[i], counts[seen[i]]
        counts[item] = 0
        if contains(item, chosen, size):
            continue
        if count * told[OF] > told[WORST] * support:
            told[WORST], told[OF] = count, support
        if count * whole > part * support:
            if every or not broken:
                found = append_rule(found, chosen, size, item, told)
            broken = True
    if broken:
        told[BROKEN] += 1
    return found


@compiled
def count_rules(
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
            project_next(baskets, pointers, low, high, ahead, width)
            level += 1
            at[level], widths[level] = 0, width
            continue
        for i in range(low, high):
            held[i] = rows[pointers[i]]
        found = evaluate_rules(held, low, high, chosen, size, rule, sensitive, counted, told, found)
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
def rarest_other(postings: Arrays, closed: Array, count: int, but: int) -> int:
    """Return the place of the rarest item of a set that is not at one place; -1 if there is none."""
    begins = postings[0]
    rarest, least = -1, 0
    for i in range(count):
        support = begins[closed[i] + 1] - begins[closed[i]]
        if i != but and (rarest < 0 or support < least):
            rarest, least = i, support
    return rarest


@compiled
def evaluate_closed(
    baskets: Arrays, postings: Arrays, closed: Array, count: int, support: int, rule: tuple[int, int], flags: Array,
    told: Array,
) -> None:  # fmt: skip
    """Judge a closed set: for each of its sensitive items, in how many of the baskets with all others it is."""
    codes, offsets, rows = baskets
    begins, places = postings
    part, whole = rule
    broken = False
    for j in range(count):
        rarest = rarest_other(postings, closed, count, j) if flags[closed[j]] else -1
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
def count_holders(baskets: Arrays, held: Array, item: int, occ: Array, counts: Array, seen: Array) -> tuple[int, int]:
    """List the baskets that hold an item, and count their items; return how many baskets and items there are."""
    codes, offsets = baskets[0], baskets[1]
    found = many = 0
    for row in held:
        low, high = offsets[row], offsets[row + 1]
        if not contains(item, codes[low:high], high - low):
            continue
        occ[found] = row
        found += 1
        for q in range(low, high):
            if counts[codes[q]] == 0:
                seen[many] = codes[q]
                many += 1
            counts[codes[q]] += 1
    return found, many


@compiled
def extend_closed(
    baskets: Arrays, held: Array, item: int, core: Array, size: int, occ: Array, counts: Array, seen: Array, out: Array
) -> tuple[int, int]:
    """Close a closed set and one more item; return the size of the closure and how many baskets hold it.

    The size is -1 if an item before the new one joins that was not in the set, since the closure is then found
    elsewhere. `held` are the baskets with the set, `occ` gets those with the closure, `out` the closure.
    """
    found, many = count_holders(baskets, held, item, occ, counts, seen)
    count = before = 0
    for i in range(many):
        if counts[seen[i]] == found:
            out[count] = seen[i]
            count += 1
            if seen[i] < item:
                before += 1
        counts[seen[i]] = 0
    out[:count].sort()
    for j in range(size):
        if core[j] < item:
            before -= 1
    return (count, found) if before == 0 else (-1, found)


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
            if not contains(codes[low], closed, size):
                following = codes[low]
                break
            low += 1
        if following == tried + 1:
            break
    return following


@compiled
def items_in_all(postings: Arrays, items: int, rows: int, out: Array) -> int:
    """List the items that all baskets hold, the first closed set; return how many there are."""
    found = 0
    for item in range(items):
        if postings[0][item + 1] - postings[0][item] == rows:
            out[found] = item
            found += 1
    return found


@compiled
def count_closed_rules(
    baskets: Arrays,
    postings: Arrays,
    items: int,
    longest: int,
    rule: tuple[int, int],
    flags: Array,
    most: int,
    told: Array,
) -> None:
    """Judge all closed sets: sets that no other item joins without losing a basket.

    The walk stops beyond so many, and at a sensitive item that is certain, since nothing is worse.

    Every closed set is reached once, from the one before it that its last new item extends (Uno and others, 2004).
    """
    rows = len(baskets[1]) - 1
    counts, seen = np.zeros(items, dtype=np.int64), np.empty(items, dtype=np.int64)
    occ = np.empty((longest + 2, rows), dtype=np.int32)
    sizes, many = np.zeros(longest + 2, dtype=np.int64), np.zeros(longest + 2, dtype=np.int64)
    sets, tried = np.zeros((longest + 2, longest), dtype=np.int64), np.full(longest + 2, -1)
    sizes[0] = items_in_all(postings, items, rows, sets[0])
    if sizes[0] > 0:
        evaluate_closed(baskets, postings, sets[0], sizes[0], rows, rule, flags, told)
    holders = baskets[2][postings[1]].astype(np.int32)
    level = 0
    while level >= 0 and told[SETS] <= most and told[WORST] < told[OF]:
        held = occ[level, : many[level]]
        if level == 0:  # every item occurs
            following = tried[0] + 1
            while following < items and contains(following, sets[0], sizes[0]):
                following += 1
        else:
            following = next_item(baskets, held, sets[level], sizes[level], tried[level], items)
        if following == items:
            level -= 1
            continue
        if level == 0:
            held = holders[postings[0][following] : postings[0][following + 1]]
        tried[level] = tried[level + 1] = following
        ahead = sets[level + 1]
        size, found = extend_closed(
            baskets, held, following, sets[level], sizes[level], occ[level + 1], counts, seen, ahead
        )
        if size < 0:
            continue
        level += 1
        sizes[level], many[level] = size, found
        evaluate_closed(baskets, postings, ahead, size, found, rule, flags, told)
