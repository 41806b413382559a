"""Compiled cuts: ranges, proposals, sides and splits, each over one run of segments or pieces of segments."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

ALL_TIES = np.iinfo(np.int64).max
SHORT = 128
PARTING, MIXED = 3.0, 2.0  # as in sfumato.tables.algorithms._segments.cuts


@compiled
def find_ranges(
    codes: Array,
    leaves: Array,
    starts: Array,
    stops: Array,
    first: int,
    last: int,
    low: Array,
    high: Array,
    missing: Array,
) -> None:
    """Find the smallest and largest code of the pieces first..last on every axis."""
    for piece in range(first, last):
        start, stop = starts[piece], stops[piece]
        for j in range(codes.shape[0]):
            column = codes[j]
            least = column[start]
            greatest = column[start]
            if stop - start < SHORT:
                for i in range(start, stop):
                    least = min(least, column[i])
                    greatest = max(greatest, column[i])
            else:  # vectorized, which pays off only for longer runs
                least = column[start:stop].min()
                greatest = column[start:stop].max()
            low[piece, j] = least
            missing[piece, j] = greatest == leaves[j]
            if missing[piece, j]:
                top = -1
                for i in range(start, stop):
                    code = nb.int64(column[i])
                    if code < leaves[j] and code > top:
                        top = code
                high[piece, j] = top
            else:
                high[piece, j] = greatest


@compiled
def common_level(nodes: Array, tree: int, leaves: int, height: int, low: int, high: int) -> int:
    """Find the lowest level at which two leaves of a tree share a node."""
    level = 0
    while level < height and nodes[tree + level * leaves + low] != nodes[tree + level * leaves + high]:
        level += 1
    return level


@compiled
def order_cuts_by_width(
    low: Array, high: Array, missing: Array, axes: tuple[Array, ...], width: Array, order: Array
) -> None:
    """Order the ways to cut one segment by width, widest first; see `cuts.measure_widths`."""
    leaves, heights, places, positions, trees, nodes, shares = axes
    count = len(leaves)
    for j in range(count):
        width[j], width[count + j] = 0.0, 0.0
        if high[j] > low[j]:
            if heights[j] > 0:
                level = common_level(nodes, trees[j], leaves[j], heights[j], low[j], high[j])
                width[count + j] = shares[trees[j] + level * leaves[j] + low[j]]
            else:
                width[count + j] = positions[places[j] + high[j]] - positions[places[j] + low[j]]
        if missing[j] and high[j] >= low[j]:
            width[j] = PARTING
            if high[j] > low[j]:
                width[count + j] = MIXED
    for way in range(2 * count):
        place = way
        while place > 0 and width[order[place - 1]] < width[way]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = way


@compiled
def sort_codes(codes: Array, counts: Array, length: int) -> None:
    """Sort codes with their counts, by insertion over ever smaller distances: next to nothing to compile."""
    gap = 1
    while gap < length // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, length):
            code, count, at = codes[place], counts[place], place
            while at >= gap and codes[at - gap] > code:
                codes[at], counts[at] = codes[at - gap], counts[at - gap]
                at -= gap
            codes[at], counts[at] = code, count
        gap //= 3


@compiled
def count_codes(column: Array, weight: Array, low: int, high: int, scratch: Array, codes: Array, counts: Array) -> int:
    """Sum the weights of every code from low to high that occurs, ascending; return how many there are."""
    rows, found = len(column), 0
    if high - low < 16 * rows + 1024:
        for code in range(low, high + 1):
            scratch[code] = 0
        for i in range(rows):
            scratch[column[i]] += weight[i]
        for code in range(low, high + 1):
            if scratch[code] > 0:
                codes[found], counts[found] = code, scratch[code]
                found += 1
        return found
    known = 0
    for i in range(rows):
        if column[i] <= high:
            codes[known], counts[known] = column[i], weight[i]
            known += 1
    sort_codes(codes, counts, known)
    for place in range(known):
        code, count = codes[place], counts[place]
        if found == 0 or codes[found - 1] != code:
            codes[found], counts[found] = code, 0
            found += 1
        counts[found - 1] += count
    return found


@compiled
def balanced_cut(codes: Array, counts: Array, found: int, total: int, node_of: Array) -> tuple[int, int]:
    """Find the code after which a cut is most balanced, among cuts between different nodes; and the weight up to it."""
    best, best_code, best_left, until = -1, codes[0], 0, 0
    for place in range(found - 1):
        until += counts[place]
        lesser = min(until, total - until)
        if lesser > best and node_of[codes[place]] != node_of[codes[place + 1]]:
            best, best_code, best_left = lesser, codes[place], until
    return best_code, best_left


@compiled
def halving_cut(codes: Array, counts: Array, found: int, total: int) -> tuple[int, int]:
    """Find the code at which half of the weight is reached, and how much of its own weight goes left for that."""
    until = 0
    for place in range(found):
        if until + counts[place] >= total // 2:
            return codes[place], total // 2 - until
        until += counts[place]
    return codes[found - 1], 0


@compiled
def find_cut_on_axis(
    column: Array,
    weight: Array,
    low: int,
    high: int,
    parting: bool,
    total: int,
    halve: bool,
    node_of: Array,
    room: tuple[Array, ...],
) -> tuple[int, int, int]:
    """Find the best cut of one segment on one axis: code, ties, and the weight that goes left."""
    scratch, codes, counts = room
    if parting:  # missing values have the largest code
        left = 0
        for i in range(len(column)):
            if column[i] <= high:
                left += weight[i]
        return high, ALL_TIES, left
    found = count_codes(column, weight, low, high, scratch, codes, counts)
    if halve:
        code, ties = halving_cut(codes, counts, found, total)
        return code, ties, total // 2
    code, left = balanced_cut(codes, counts, found, total, node_of)
    return code, ALL_TIES, left


@compiled
def list_codes(leaves: Array) -> Array:
    """Return all codes of the axis that has most, which is also what parts every code from all others."""
    most = 1
    for j in range(len(leaves)):
        most = max(most, leaves[j] + 1)
    return np.arange(most).astype(np.int32)


@compiled
def propose_cuts(
    codes: Array,
    weight: Array,
    offsets: Array,
    segments: Array,
    first_rank: Array,
    axes: tuple[Array, ...],
    found: tuple[Array, ...],
    rule: tuple[int, bool],
    first: int,
    last: int,
    cuts: tuple[Array, ...],
) -> None:
    """Propose a cut for the segments first..last of those named."""
    leaves, heights, trees, nodes = axes[0], axes[1], axes[4], axes[5]
    low, high, missing = found
    smallest, relaxed = rule
    cut_axis, cut_code, cut_ties, cut_left, cut_total, cut_rank = cuts
    ways = 2 * len(leaves)
    width, order = np.empty(ways), np.empty(ways, dtype=np.int64)
    apart = list_codes(leaves)
    most = len(apart)
    room = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for q in range(first, last):
        segment = segments[q]
        start, stop = offsets[segment], offsets[segment + 1]
        rank, total = first_rank[q], 0
        for i in range(start, stop):
            total += weight[i]
        cut_axis[q], cut_total[q] = -1, total
        if total < 2 * smallest:
            cut_rank[q] = ways
            continue
        order_cuts_by_width(low[segment], high[segment], missing[segment], axes, width, order)
        while rank < ways and width[order[rank]] > 0:
            j, parting = order[rank] % len(leaves), order[rank] < len(leaves)
            bottom, top = low[segment, j], high[segment, j]
            node_of = apart
            if heights[j] > 0 and top > bottom:
                level = common_level(nodes, trees[j], leaves[j], heights[j], bottom, top) - 1
                node_of = nodes[trees[j] + level * leaves[j] : trees[j] + (level + 1) * leaves[j]]
            halve = relaxed and heights[j] == 0 and not missing[segment, j]
            code, ties, left = find_cut_on_axis(
                codes[j, start:stop], weight[start:stop], bottom, top, parting, total, halve, node_of, room
            )
            if min(left, total - left) >= smallest:
                cut_axis[q], cut_code[q], cut_ties[q], cut_left[q] = j, code, ties, left
                break
            rank += 1
        cut_rank[q] = rank


@compiled
def count_ties(
    codes: Array, starts: Array, stops: Array, axis: Array, code: Array, first: int, last: int, ties: Array
) -> None:
    """Count the records at the cut in the pieces first..last."""
    for piece in range(first, last):
        column, cut = codes[axis[piece]], code[piece]
        for i in range(starts[piece], stops[piece]):
            if column[i] == cut:
                ties[piece] += 1


@compiled
def assign_sides(
    codes: Array,
    starts: Array,
    stops: Array,
    axis: Array,
    code: Array,
    quota: Array,
    targets: Array,
    first: int,
    last: int,
    left: Array,
) -> None:
    """Decide for every record of the pieces first..last whether it goes left."""
    for piece in range(first, last):
        column, cut, ties = codes[axis[piece]], code[piece], quota[piece]
        shift = targets[piece] - starts[piece]
        if ties == ALL_TIES:
            for i in range(starts[piece], stops[piece]):
                left[i + shift] = column[i] <= cut
        else:
            for i in range(starts[piece], stops[piece]):
                value = column[i]
                left[i + shift] = value < cut or (value == cut and ties > 0)
                ties -= value == cut


@compiled
def count_left(left: Array, starts: Array, stops: Array, first: int, last: int, counts: Array) -> None:
    """Count the records of the pieces first..last that go left."""
    for piece in range(first, last):
        count = 0
        for i in range(starts[piece], stops[piece]):
            count += left[i]
        counts[piece] = count


@compiled
def count_halves(
    column: Array, left: Array, runs: tuple[Array, ...], values: int, first: int, last: int, halves: tuple[Array, ...]
) -> None:
    """Count the records on both sides of the segments first..last, and those with the most frequent value there."""
    starts, stops, flags = runs
    sizes, largest = halves
    room = np.zeros((2, values), dtype=np.int64)
    for segment in range(first, last):
        begin, shift = starts[segment], flags[segment] - starts[segment]
        for i in range(begin, stops[segment]):
            side = 0 if left[i + shift] else 1
            room[side, column[i]] += 1
            sizes[segment, side] += 1
            largest[segment, side] = max(largest[segment, side], room[side, column[i]])
        if stops[segment] - begin > values:
            room[:] = 0
        else:
            for i in range(begin, stops[segment]):
                room[0, column[i]] = room[1, column[i]] = 0


@compiled
def scatter(source: Array, target: Array, result: Array) -> None:
    """Move every element to its target."""
    for i in range(len(source)):
        result[target[i]] = source[i]


@compiled
def split_segments(
    records: tuple[Array, ...],
    starts: Array,
    stops: Array,
    flags: Array,
    left: Array,
    places: Array,
    first: int,
    last: int,
    result: tuple[Array, ...],
) -> None:
    """Move the records of the pieces first..last to their new places, left sides first, in their order."""
    codes, extra, weight, origin = records
    new_codes, new_extra, new_weight, new_origin = result
    longest = 0
    for piece in range(first, last):
        longest = max(longest, stops[piece] - starts[piece])
    target = np.empty(longest, dtype=np.uint32)  # unsigned: no test for negative places
    for piece in range(first, last):
        start, count = starts[piece], stops[piece] - starts[piece]
        to_left, to_right, shift = places[piece, 0], places[piece, 1], flags[piece]
        for i in range(count):  # no branch: sides are as unpredictable as random ones
            goes_left = nb.int64(left[shift + i])
            target[i] = to_right + goes_left * (to_left - to_right)
            to_left += goes_left
            to_right += 1 - goes_left
        for j in range(codes.shape[0]):
            scatter(codes[j, start : start + count], target, new_codes[j])
        for j in range(extra.shape[0]):
            scatter(extra[j, start : start + count], target, new_extra[j])
        scatter(weight[start : start + count], target, new_weight)
        scatter(origin[start : start + count], target, new_origin)


@compiled
def number_pieces(
    origin: Array, starts: Array, stops: Array, numbers: Array, first: int, last: int, result: Array
) -> None:
    """Write at the origin of every record of the pieces first..last the number of its piece."""
    for piece in range(first, last):
        for i in range(starts[piece], stops[piece]):
            result[origin[i]] = numbers[piece]


# Compiled passes over batches of codes: down a tree of cuts to segments, and counts of codes per segment.

BLOCK = 4096  # rows whose nodes stay in the fastest memory


@compiled
def descend_rows(codes: Array, begin: int, rows: int, tree: tuple[Array, ...], depth: int, nodes: Array) -> None:
    """Find the leaf of some rows. A leaf is its own child, so all rows take as many steps and no step branches."""
    axis, code, children = tree
    nodes[:rows] = 0
    for _ in range(depth):
        for i in range(rows):
            node = nodes[i]
            right = nb.int64(codes[axis[node], begin + i]) > code[node]
            nodes[i] = children[2 * node + nb.int64(right)]


@compiled
def descend(codes: Array, tree: tuple[Array, ...], depth: int, number: Array, result: Array) -> None:
    """Write the number of every row's leaf."""
    nodes = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, codes.shape[1], BLOCK):
        rows = min(BLOCK, codes.shape[1] - begin)
        descend_rows(codes, begin, rows, tree, depth, nodes)
        for i in range(rows):
            result[begin + i] = number[nodes[i]]


@compiled
def add_row_counts(
    columns: Array, begin: int, chosen: Array, found: int, starts: Array, weights: Array, place: Array, counts: Array
) -> None:
    """Count the codes of a block's chosen rows in flat counts, each from the row's place and its column's start."""
    for j in range(columns.shape[0]):
        column, start = columns[j, begin:], starts[j]
        if len(weights):
            for i in range(found):
                counts[place[i] + start + nb.int64(column[chosen[i]])] += weights[begin + chosen[i]]
        else:
            for i in range(found):
                counts[place[i] + start + nb.int64(column[chosen[i]])] += 1


@compiled
def count_batch(
    codes: Array,
    watched: Array,
    weights: Array,
    tree: tuple[Array, ...],
    depth: int,
    slot: Array,
    starts: tuple[Array, Array],
    counts: tuple[Array, Array],
) -> None:
    """Add the codes of a batch to the counts of the segments that have a slot.

    `starts` and `counts` are those of the axes and of the watched attributes; a slot is a row of both counts. Without
    `weights` every row counts once.
    """
    nodes, chosen = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    slots, place = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, codes.shape[1], BLOCK):
        rows = min(BLOCK, codes.shape[1] - begin)
        descend_rows(codes, begin, rows, tree, depth, nodes)
        found = 0
        for i in range(rows):  # no branch: what is counted is as unpredictable as any side of a cut
            chosen[found], slots[found] = i, slot[nodes[i]]
            found += nb.int64(slot[nodes[i]] >= 0)
        place[:found] = slots[:found] * counts[0].shape[1]
        add_row_counts(codes, begin, chosen, found, starts[0], weights, place, counts[0].reshape(-1))
        place[:found] = slots[:found] * counts[1].shape[1]
        add_row_counts(watched, begin, chosen, found, starts[1], weights, place, counts[1].reshape(-1))
