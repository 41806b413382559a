"""Split buckets into groups whose boxes are small: halve them again and again, all values at the same count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.balancing import NOBODY, Seats, in_order, in_random_order, in_turn
from sfumato.coding.codes import CodedColumn
from sfumato.coding.cutting.axes import axes_of
from sfumato.randomness import Stream

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
APART = 2.0  # where missing cells are, on axes from 0 to 1: who mixes them with values is published as suppressed


def halve(seats: Seats, quasi: Sequence[CodedColumn], span: int, stream: Stream) -> Ints:
    """Split every bucket into groups with one seat of every value, whose persons are near; return each seat's group.

    A bucket with a seats of each value is cut into two of floor(a/2) and the rest, until a is 1. For every
    quasi-identifier the persons of each value are sorted along it and cut at this count; the one with the smallest sum
    of normalized widths of both halves is taken, the first of several. Persons who are equal there are in random order.
    Seats of nobody have no place and go where one is missing in the end.

    Parameters
    ----------
    seats : the seats; all values of a signature have equally many, and one of them only seats of persons.
    quasi : the quasi-identifiers of all rows.
    span : values of seats are below it.
    stream : where bits come from that nobody can repeat.
    """
    key = seats.signature * span + seats.value
    order = in_random_order(key, int(key.max(initial=0)) + 1, stream)
    group = in_turn(seats, key, order)
    if not quasi or not len(seats):
        return group
    first, size = _signature_groups(seats, group)
    there = order[seats.row[order] != NOBODY]  # ordered by signature and value
    places = _places(quasi, seats.row[there])
    leaf = _leaves(seats.signature[there], seats.value[there], places, first, size, span)
    group[there] = leaf
    lost = order[seats.row[order] == NOBODY]
    group[lost] = _free(seats, there, lost, group, first, size, span)
    return group


def _signature_groups(seats: Seats, group: Ints) -> tuple[Ints, Ints]:
    """Return the first group of every signature, and how many it has."""
    signatures = int(seats.signature.max()) + 1
    first, last = np.full(signatures, np.iinfo(np.int64).max), np.full(signatures, -1)
    np.minimum.at(first, seats.signature, group)
    np.maximum.at(last, seats.signature, group)
    return np.where(last < 0, 0, first), np.where(last < 0, 0, last - first + 1)


def _places(quasi: Sequence[CodedColumn], rows: Ints) -> list[tuple[Ints, Floats]]:
    """Return for every quasi-identifier the codes of some rows, and the place of every code on an axis from 0 to 1."""
    axes = axes_of([column.domain for column in quasi])
    found = []
    for at, column in enumerate(quasi):
        leaves = axes.positions[axes.places[at] : axes.places[at] + axes.leaves[at]]
        found.append((column.codes[rows].astype(np.int64), np.append(leaves, APART)))
    return found


def _leaves(
    signature: Ints, value: Ints, places: list[tuple[Ints, Floats]], first: Ints, size: Ints, span: int
) -> Ints:
    """Halve all buckets together, depth by depth; a part is named by its first group."""
    leaf, count = first[signature], size[signature]
    at = np.flatnonzero(count > 1)
    while len(at):
        order = at[in_order(leaf[at] * span + value[at], int(leaf.max() + 1) * span)]
        part, half = leaf[order], count[order] // 2
        run = _numbered(part * span + value[order])
        node = _numbered(part)
        upper = _best_cut(run, node, half, [(codes[order], positions) for codes, positions in places])
        leaf[order] = np.where(upper, part + half, part)
        count[order] = np.where(upper, count[order] - half, half)
        at = order[count[order] > 1]
    return leaf


def _numbered(keys: Ints) -> Ints:
    """Number equal keys, which stand together, from 0 on."""
    return np.cumsum(np.append(0, keys[1:] != keys[:-1]))


def _best_cut(run: Ints, node: Ints, half: Ints, places: list[tuple[Ints, Floats]]) -> npt.NDArray[np.bool_]:
    """Return who is in the upper half of her part, by the attribute that leaves the narrowest halves."""
    starts = np.searchsorted(run, np.arange(int(run[-1]) + 1))
    turn = np.arange(len(run)) - starts[run]
    best = np.full(int(node[-1]) + 1, np.inf)
    chosen = np.zeros(len(run), dtype=np.bool_)
    for codes, positions in places:
        sorted_rows = in_order(run * len(positions) + codes, (int(run[-1]) + 1) * len(positions))
        upper = np.empty(len(run), dtype=np.bool_)
        upper[sorted_rows] = turn >= half
        width = _widths(2 * node + upper, 2 * len(best), places)
        better = width < best
        best = np.where(better, width, best)
        chosen = np.where(better[node], upper, chosen)
    return chosen


def _widths(side: Ints, sides: int, places: list[tuple[Ints, Floats]]) -> Floats:
    """Sum the widths of both sides of every part over all attributes."""
    order = in_order(side, sides)
    present = np.flatnonzero(np.bincount(side, minlength=sides))
    starts = np.searchsorted(side[order], present)
    width = np.zeros(sides)
    for codes, positions in places:
        ordered = codes[order]
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        width[present] += positions[high] - positions[low]
    return width.reshape(-1, 2).sum(axis=1)


def _free(seats: Seats, there: Ints, lost: Ints, group: Ints, first: Ints, size: Ints, span: int) -> Ints:
    """Find for seats of nobody, ordered by signature and value, the groups that lack their value, each once."""
    if not len(lost):
        return np.zeros(0, dtype=np.int64)
    key = seats.signature * span + seats.value
    wanted = np.unique(key[lost])
    sizes = size[wanted // span]
    all_keys = np.repeat(wanted, sizes)
    turns = np.arange(len(all_keys)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    groups = np.repeat(first[wanted // span], sizes) + turns
    span_of_groups = int(group.max()) + 1
    taken = np.isin(all_keys * span_of_groups + groups, key[there] * span_of_groups + group[there])
    return groups[~taken]
