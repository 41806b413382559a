"""Compiled loops over the sets of items that baskets hold: how many baskets hold each, and what to generalize.

Sets of a size are walked by their first items, then by their second ones, and so on, always over the baskets that hold
the items so far. Only the counts of the next item are kept, so memory grows with the occurrences, not with the sets.
"""

from __future__ import annotations

from sfumato.core._kernels.compilation import Array, Arrays, compiled


@compiled
def count_next(baskets: Arrays, pointers: Array, low: int, high: int, counts: Array, seen: Array) -> int:
    """Count the items that follow the pointed ones in their baskets; `seen` lists them, the result says how many."""
    codes, offsets, rows = baskets
    found = 0
    for i in range(low, high):
        place = pointers[i]
        for q in range(place + 1, offsets[rows[place] + 1]):
            code = codes[q]
            if counts[code] == 0:
                seen[found] = code
                found += 1
            counts[code] += 1
    return found


@compiled
def project_next(baskets: Arrays, pointers: Array, low: int, high: int, level: Arrays, width: int) -> None:
    """Put pointers to the items that follow into the next level, item by item, and clear the counts."""
    codes, offsets, rows = baskets
    counts, seen, begins, dealt = level
    begins[0] = 0
    for g in range(width):
        begins[g + 1] = begins[g] + counts[seen[g]]
        counts[seen[g]] = begins[g]
    for i in range(low, high):
        place = pointers[i]
        for q in range(place + 1, offsets[rows[place] + 1]):
            dealt[counts[codes[q]]] = q
            counts[codes[q]] += 1
    for g in range(width):
        counts[seen[g]] = 0


@compiled
def covering(chosen: Array, size: int, cover: Arrays, enough: int) -> int:
    """Count the baskets that have, for every chosen item, it or a wider one; stop when there are enough.

    `cover` holds the next wider item of each, where the baskets of each begin, these baskets, and a stamp for each
    basket, whose largest value comes last and is moved on.
    """
    within, begins, held, stamps = cover
    base, last = stamps[-1], size - 1
    stamps[-1] = base + size
    found = 0
    for j in range(size):
        item = chosen[j]
        while item >= 0:
            for i in range(begins[item], begins[item + 1]):
                row = held[i]
                stamps[row] = max(stamps[row], base)
                if stamps[row] == base + j:
                    stamps[row] = base + j + 1
                    if j == last:
                        found += 1
                        if found >= enough:
                            return found
            item = within[item]
    return found


@compiled
def mark_rare(baskets: Arrays, pointers: Array, low: int, high: int, counts: Array, k: int, marks: Array) -> None:
    """Mark the baskets that hold one of the sets that fewer than k hold."""
    codes, offsets, rows = baskets
    for i in range(low, high):
        place = pointers[i]
        for q in range(place + 1, offsets[rows[place] + 1]):
            if counts[codes[q]] < k:
                marks[rows[place]] = True


@compiled
def evaluate_next(
    chosen: Array, last: int, seen: Array, width: int, counts: Array, k: int, cover: Arrays, told: Array
) -> None:
    """Tell of the sets of the chosen items and one more: how many there are, how many are rare, the fewest baskets."""
    mixed = len(cover[0]) > 0
    for g in range(width):
        found = counts[seen[g]]
        if mixed and (found < k or found < told[2]):
            chosen[last] = seen[g]
            found = covering(chosen, last + 1, cover, max(k, told[2]))
        told[0] += 1
        if found < k:
            told[1] += 1
        told[2] = min(told[2], found)


@compiled
def generalize_node(chosen: Array, size: int, ranks: Array, tree: Arrays, cut: Arrays) -> None:
    """Raise the node of a set whose parent adds least to what is paid, with everything below that parent.

    `tree` holds parents, the first leaf and the number of leaves of every node, and the penalty of an occurrence there.
    `cut` holds the node above each leaf, what is paid below every node, the occurrences there, which ranks are stale,
    the rank of each leaf, and the number of raises.
    """
    parents, first, leaves, penalty = tree
    above, paid, weight, stale, rank_of, raises = cut
    best, cheapest = -1, 0
    for j in range(size):
        parent = parents[ranks[chosen[j]]]
        if parent >= 0:
            added = weight[parent] * penalty[parent] - paid[parent]
            if best < 0 or added < cheapest or (added == cheapest and parent < best):
                best, cheapest = parent, added
    if best < 0:
        return
    for leaf in range(first[best], first[best] + leaves[best]):
        above[leaf] = best
        if rank_of[leaf] >= 0:
            stale[rank_of[leaf]] = True
    raises[0] += 1
    node = best
    while node >= 0:
        paid[node] += cheapest
        node = parents[node]


@compiled
def generalize_rare(
    chosen: Array, last: int, seen: Array, width: int, counts: Array, k: int, raised: tuple[Array, Arrays, Arrays]
) -> None:
    """Raise a node of every rare set of the chosen items and one more that no earlier raise has touched."""
    ranks, tree, cut = raised
    stale = cut[3]
    for g in range(width):
        if counts[seen[g]] < k and not stale[seen[g]]:
            chosen[last] = seen[g]
            generalize_node(chosen, last + 1, ranks, tree, cut)
            for j in range(last):
                if stale[chosen[j]]:
                    return


@compiled
def finish_itemsets(
    baskets: Arrays,
    where: tuple[Array, int, int],
    chosen: Array,
    last: int,
    following: Arrays,
    width: int,
    k: int,
    judged: tuple[Arrays, Array, Array],
    raised: tuple[Array, Arrays, Arrays],
) -> None:
    """Judge the sets of the chosen items and one more, or raise nodes of the rare ones, and clear their counts."""
    counts, seen = following
    cover, marks, told = judged
    if len(raised[0]):
        generalize_rare(chosen, last, seen, width, counts, k, raised)
    else:
        evaluate_next(chosen, last, seen, width, counts, k, cover, told)
        if len(marks):
            pointers, low, high = where
            mark_rare(baskets, pointers, low, high, counts, k, marks)
    for i in range(width):
        counts[seen[i]] = 0


@compiled
def count_itemsets(
    baskets: Arrays,
    postings: Arrays,
    firsts: Array,
    size: int,
    k: int,
    space: Arrays,
    judged: tuple[Arrays, Array, Array],
    raised: tuple[Array, Arrays, Arrays],
) -> None:
    """Walk all sets of a size (at least 2) that begin with some items, and judge them, or raise nodes of rare ones.

    Parameters
    ----------
    baskets, postings : codes, ascending in every basket, offsets, the basket of each code; where the places of every
        item begin, and its places in `codes`.
    firsts, size, k : the items that sets begin with, the size of the sets, and how many baskets must hold each.
    space : for every level counts, items seen, where their pointers begin, pointers; for every level the number of
        groups, which is next, and the item chosen.
    judged : the cover of `covering`, empty if no item is wider than another; marks of baskets, empty if not wanted; and
        what is told: sets, rare sets, fewest baskets.
    raised : the tree node of each item, and what `generalize_node` takes; without nodes, sets are judged.
    """
    counts, seen, begins, dealt, widths, at, chosen = space
    stale, last = raised[2][3], size - 1
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
        if len(stale) and stale[item]:
            continue
        width = count_next(baskets, pointers, low, high, counts[level + 1], seen[level + 1])
        if level + 1 < last:
            ahead = counts[level + 1], seen[level + 1], begins[level + 1], dealt[level + 1]
            project_next(baskets, pointers, low, high, ahead, width)
            level += 1
            at[level], widths[level] = 0, width
            continue
        following = counts[last], seen[last]
        finish_itemsets(baskets, (pointers, low, high), chosen, last, following, width, k, judged, raised)


@compiled
def recode(codes: Array, offsets: Array, rank_of: Array, kept: Array, ends: Array) -> None:
    """Give every leaf the rank of its node, which never falls from leaf to leaf; keep equal ones of a basket once."""
    done = 0
    ends[0] = 0
    for row in range(len(offsets) - 1):
        last = -1
        for q in range(offsets[row], offsets[row + 1]):
            rank = rank_of[codes[q]]
            if rank != last:
                kept[done] = rank
                done += 1
                last = rank
        ends[row + 1] = done


@compiled
def count_matches(items: Array, offsets: Array, cover: Arrays, counts: Array) -> None:
    """Count the baskets that cover all items of each set; the count of an empty set stays as it is."""
    for i in range(len(offsets) - 1):
        if offsets[i] < offsets[i + 1]:
            counts[i] = covering(items[offsets[i] : offsets[i + 1]], offsets[i + 1] - offsets[i], cover, counts[i] + 1)
