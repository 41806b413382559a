"""Compiled cuts: ranges, proposals, sides and splits, each over one run of segments or pieces of segments."""

from __future__ import annotations

import numba as nb
import numpy as np

ALL_TIES = np.iinfo(np.int64).max


@nb.njit(cache=True, nogil=True)
def ranges(codes, leaves, starts, stops, first, last, low, high, missing):  # noqa: ANN001, ANN201 - compiled for the arrays it meets
    """Find least and greatest code of the pieces first..last on every axis."""
    for piece in range(first, last):
        start, stop = starts[piece], stops[piece]
        for j in range(codes.shape[0]):
            column = codes[j]
            least = column[start]
            greatest = column[start]
            for i in range(start, stop):
                least = min(least, column[i])
                greatest = max(greatest, column[i])
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


@nb.njit(cache=True, nogil=True)
def common_level(nodes, tree, leaves, height, low, high):  # noqa: ANN001, ANN201
    """Find the lowest level at which two leaves of a tree share a node."""
    level = 0
    while level < height and nodes[tree + level * leaves + low] != nodes[tree + level * leaves + high]:
        level += 1
    return level


@nb.njit(cache=True, nogil=True)
def order_axes(low, high, missing, axes, rides, width, order):  # noqa: ANN001, ANN201
    """Order the axes of one segment by width, widest first; equal widths in their given order."""
    leaves, heights, places, positions, trees, nodes, shares = axes
    for j in range(len(leaves)):
        width[j] = 0.0
        if high[j] > low[j]:
            if heights[j] > 0:
                level = common_level(nodes, trees[j], leaves[j], heights[j], low[j], high[j])
                width[j] = shares[trees[j] + level * leaves[j] + low[j]]
            else:
                width[j] = positions[places[j] + high[j]] - positions[places[j] + low[j]]
        if not rides and missing[j] and high[j] >= low[j]:
            width[j] = 2.0
        place = j
        while place > 0 and width[order[place - 1]] < width[j]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j


@nb.njit(cache=True, nogil=True)
def best_cut(column, weight, start, stop, low, high, leaf, scratch, tree, relaxed):  # noqa: ANN001, ANN201
    """Find the most balanced cut of one segment on one axis: code, ties, weight of the left side, total weight."""
    nodes, offset, leaves, level = tree
    total = np.int64(0)
    for i in range(start, stop):
        total += weight[i]
    dense = high - low < 4 * (stop - start) + 64
    if dense:
        scratch[low : high + 1] = 0
        for i in range(start, stop):
            scratch[column[i]] += weight[i]
        rows = high - low + 1
        order = np.empty(0, dtype=np.int64)
    else:
        order = np.argsort(column[start:stop], kind="mergesort")
        rows = stop - start
    best, best_code, best_left = np.int64(-1), np.int64(low), np.int64(0)
    until, previous = np.int64(0), np.int64(-1)
    for place in range(rows):
        if dense:
            code = nb.int64(low + place)
            added = scratch[code]
            if added == 0:
                continue
        else:
            code = nb.int64(column[start + order[place]])
            added = nb.int64(weight[start + order[place]])
            if code == leaf:
                break
        if previous >= 0 and code != previous:
            apart = level < 0 or nodes[offset + level * leaves + previous] != nodes[offset + level * leaves + code]
            if not relaxed and apart and min(until, total - until) > best:
                best, best_code, best_left = min(until, total - until), previous, until
        if relaxed and until < total // 2:
            if code != previous:
                best_left = until
            best_code = code
        until += added
        previous = code
    if relaxed:
        return best_code, total // 2 - best_left, total // 2, total
    return best_code, ALL_TIES, best_left, total


@nb.njit(cache=True, nogil=True)
def propose(codes, weight, offsets, segments, first_rank, axes, found, rule, first, last, cuts):  # noqa: ANN001, ANN201
    """Propose a cut for the segments first..last of those named."""
    leaves, heights, places, positions, trees, nodes, shares = axes
    low, high, missing = found
    smallest, relaxed, rides = rule
    cut_axis, cut_code, cut_ties, cut_left, cut_rank = cuts
    width, order = np.empty(len(leaves)), np.empty(len(leaves), dtype=np.int64)
    scratch = np.empty(leaves.max() + 1, dtype=np.int64)
    for q in range(first, last):
        segment = segments[q]
        start, stop = offsets[segment], offsets[segment + 1]
        order_axes(low[segment], high[segment], missing[segment], axes, rides, width, order)
        rank = first_rank[q]
        cut_axis[q] = -1
        while rank < len(leaves) and width[order[rank]] > 0:
            j = order[rank]
            bottom, top = nb.int64(low[segment, j]), nb.int64(high[segment, j])
            if missing[segment, j] and not rides:
                total, left = np.int64(0), np.int64(0)
                for i in range(start, stop):
                    total += weight[i]
                    if codes[j, i] < leaves[j]:
                        left += weight[i]
                code, ties = top, ALL_TIES
            else:
                level = np.int64(-1)
                if heights[j] > 0:
                    level = common_level(nodes, trees[j], leaves[j], heights[j], bottom, top) - 1
                tree = (nodes, trees[j], leaves[j], level)
                halve = relaxed and heights[j] == 0 and not missing[segment, j]
                code, ties, left, total = best_cut(
                    codes[j], weight, start, stop, bottom, top, leaves[j], scratch, tree, halve
                )
            if min(left, total - left) >= smallest:
                cut_axis[q], cut_code[q], cut_ties[q], cut_left[q] = j, code, ties, left
                break
            rank += 1
        cut_rank[q] = rank


@nb.njit(cache=True, nogil=True)
def count_ties(codes, starts, stops, axis, code, first, last, ties):  # noqa: ANN001, ANN201
    """Count the records at the cut in the pieces first..last."""
    for piece in range(first, last):
        column, cut = codes[axis[piece]], code[piece]
        for i in range(starts[piece], stops[piece]):
            if column[i] == cut:
                ties[piece] += 1


@nb.njit(cache=True, nogil=True)
def sides(codes, starts, stops, axis, code, quota, targets, first, last, left):  # noqa: ANN001, ANN201
    """Tell for every record of the pieces first..last whether it goes left."""
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


@nb.njit(cache=True, nogil=True)
def move(source, target, result):  # noqa: ANN001, ANN201
    """Move every element to its target."""
    for i in range(len(source)):
        result[target[i]] = source[i]


@nb.njit(cache=True, nogil=True)
def split(records, starts, stops, flags, left, places, first, last, result):  # noqa: ANN001, ANN201
    """Move the records of the pieces first..last to their new places, left sides first, order kept."""
    codes, extra, weight, origin = records
    new_codes, new_extra, new_weight, new_origin = result
    longest = 0
    for piece in range(first, last):
        longest = max(longest, stops[piece] - starts[piece])
    target = np.empty(longest, dtype=np.uint32)  # unsigned: no test for negative places
    for piece in range(first, last):
        start, count = starts[piece], stops[piece] - starts[piece]
        to_left, to_right, shift = places[piece, 0], places[piece, 1], flags[piece]
        for i in range(count):  # no branch: sides are as good as random
            goes_left = nb.int64(left[shift + i])
            target[i] = to_right + goes_left * (to_left - to_right)
            to_left += goes_left
            to_right += 1 - goes_left
        for j in range(codes.shape[0]):
            move(codes[j, start : start + count], target, new_codes[j])
        for j in range(extra.shape[0]):
            move(extra[j, start : start + count], target, new_extra[j])
        move(weight[start : start + count], target, new_weight)
        move(origin[start : start + count], target, new_origin)
