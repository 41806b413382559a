"""Boxes and worths with NumPy alone: the twin of the compiled loops, for small tables and for tests."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sfumato.tables.algorithms.local._covering import ClosedBoxList, Flags, OpenedGroups, WeightedPoints
from sfumato.tables.algorithms.local._regrouping import Ints, Nodes

NEAR_PARTS, NEAR_WHOLE = 3, 4  # as in sfumato.tables.algorithms.local._kernels.closed_boxes


class _Found(NamedTuple):
    """Points in boxes under one combination of levels: the box of every point, and its price."""

    levels: tuple[int, ...]
    members: Ints
    box: Ints
    price: Ints


Chosen = Callable[[Ints, Ints, Ints], Flags]


class NumpyBoxSearch:
    """Walk and look with NumPy; walks never give up."""

    def cheapest(self, points: WeightedPoints, least: int, most: int) -> Ints | None:  # noqa: ARG002 - tables are small
        """Find for every point the price of the cheapest box with enough rows."""
        prices = np.where(points.weight >= least, 0, points.highest + 1)
        for found in _iter_closed(points, least, _choose_promising(prices)):
            prices[found.members] = np.minimum(prices[found.members], found.price)
        return prices

    def closed(self, points: WeightedPoints, least: int, caps: Ints, most: int) -> ClosedBoxList | None:
        """List closed boxes that have a price; nothing if they have more than `most` points together."""
        walked = _iter_closed(points, least, lambda members, _box, price: caps[members] >= price)
        boxes = _list_boxes(points, (_select(found, found.price > 0) for found in walked))
        return boxes if len(boxes.members) <= most else None

    def feasible(self, points: WeightedPoints, least: int, worths: Ints, most: int) -> Ints | None:  # noqa: ARG002 - as above
        """Lower worths until they are feasible for all boxes that there are."""
        return self.lowered(
            points, _list_boxes(points, _iter_closed(points, least, _choose_promising(worths))), least, worths
        )

    def lowered(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints) -> Ints:
        """Lower worths until they are feasible for the given boxes."""
        result = worths.copy()
        _, totals = _best_choices(boxes, worths, points.weight, least)
        for box in np.flatnonzero(totals > least * boxes.prices).tolist():
            members, price = _inside(boxes, box), int(boxes.prices[box])
            _, _, total = _most_valuable(members, result, points.weight, least)
            if total > least * price:
                result[members] = result[members] * (least * price) // total
        return result

    def look(
        self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints, todo: Ints
    ) -> tuple[int, Ints, Flags]:
        """Look at some boxes: what their best choices of rows are worth beyond their prices, and whose these are."""
        rows, totals = _best_choices(boxes, worths, points.weight, least)
        meant = np.zeros(len(boxes), dtype=np.bool_)
        meant[todo] = totals[todo] > least * boxes.prices[todo]
        box = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
        more = worths[boxes.members] - boxes.prices[box]
        rows = np.where(more > 0, points.weight[boxes.members], rows) * meant[box]
        taken = np.zeros(len(points), dtype=np.int64)
        np.add.at(taken, boxes.members, rows)
        return int((rows * more).sum()), taken, NEAR_WHOLE * totals[todo] >= NEAR_PARTS * least * boxes.prices[todo]

    def opened(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints) -> OpenedGroups:
        """Open boxes, again and again the one whose most valuable free rows are worth most beyond its price."""
        free, groups = points.weight.copy(), 0
        _, totals = _best_choices(boxes, worths, free, least)
        heap = [(-score, box) for box, score in enumerate((totals - least * boxes.prices).tolist())]
        heapq.heapify(heap)
        entries: list[tuple[int, int, int]] = []
        while heap:
            before, box = heap[0]
            members, price = _inside(boxes, box), int(boxes.prices[box])
            chosen, rows, total = _most_valuable(members, worths, free, least)
            if total < 0:
                heapq.heappop(heap)
            elif least * price - total > before:
                heapq.heapreplace(heap, (least * price - total, box))
            else:
                entries += zip([groups] * len(chosen), members[chosen].tolist(), rows.tolist(), strict=True)
                free[members[chosen]] -= rows
                worthy = members[(free[members] > 0) & (worths[members] >= price)]
                entries += zip([groups] * len(worthy), worthy.tolist(), free[worthy].tolist(), strict=True)
                free[worthy] = 0
                groups += 1
        return OpenedGroups(*np.array(entries, dtype=np.int64).reshape(-1, 3).T)


def _choose_promising(worths: Ints) -> Chosen:
    """Choose the points of boxes in which somebody is worth more than the price."""

    def chosen(members: Ints, box: Ints, price: Ints) -> Flags:
        hope = np.zeros(int(box.max()) + 1, dtype=np.bool_)
        hope[box[worths[members] > price]] = True
        return np.asarray(hope[box])

    return chosen


def _iter_closed(points: WeightedPoints, least: int, chosen: Chosen) -> Iterator[_Found]:
    """Walk through all combinations of levels, and yield the closed boxes of each that have enough chosen rows."""
    everything, nothing = np.arange(len(points)), np.zeros(len(points), dtype=np.int64)
    waiting = [_Found((), everything, nothing, nothing)]
    while waiting:
        here = waiting.pop()
        depth = len(here.levels)
        if depth == len(points.leaf):
            yield here
            continue
        for level in range(int(points.trees[2][depth]) - 1, -1, -1):
            found = _narrow(points, here, level, least, chosen)
            if len(found.members):
                waiting.append(found)


def _narrow(points: WeightedPoints, here: _Found, level: int, least: int, chosen: Chosen) -> _Found:
    """Split boxes by the nodes of one level of the next tree, and keep what is chosen, large enough and closed."""
    depth, cost = len(here.levels), points.trees[3]
    node = points.above(depth, level)[points.leaf[depth, here.members]].astype(np.int64)
    _, box = np.unique(here.box * len(cost) + node, return_inverse=True)
    found = _Found((*here.levels, level), here.members, box.ravel(), here.price + cost[node])
    found = _select(found, chosen(found.members, found.box, found.price))
    rows = np.bincount(found.box, weights=points.weight[found.members])
    found = _select(found, rows[found.box] >= least)
    for tree, height in enumerate(found.levels):
        if height > 0 and len(found.members):
            under = points.above(tree, height - 1)[points.leaf[tree, found.members]]
            low, high = np.full(int(found.box.max()) + 1, len(cost)), np.full(int(found.box.max()) + 1, -1)
            np.minimum.at(low, found.box, under)
            np.maximum.at(high, found.box, under)
            found = _select(found, low[found.box] < high[found.box])
    return found


def _select(found: _Found, which: Flags) -> _Found:
    return _Found(found.levels, found.members[which], found.box[which], found.price[which])


def _list_boxes(points: WeightedPoints, walked: Iterator[_Found]) -> ClosedBoxList:
    """List boxes in lexical order of their nodes; their points are in ascending order."""
    boxes: list[tuple[tuple[int, ...], Nodes, int]] = []
    for found in walked:
        for box in np.unique(found.box).tolist():
            inside = np.flatnonzero(found.box == box)
            members = np.sort(found.members[inside])
            leaf = points.leaf[:, members[0]]
            nodes = tuple(int(points.above(j, level)[leaf[j]]) for j, level in enumerate(found.levels))
            boxes.append((nodes, members.astype(np.int32), int(found.price[inside[0]])))
    boxes.sort(key=lambda box: box[0])
    return ClosedBoxList(
        np.cumsum([0, *(len(members) for _, members, _ in boxes)]),
        np.concatenate([np.zeros(0, dtype=np.int32), *(members for _, members, _ in boxes)]),
        np.array([price for _, _, price in boxes], dtype=np.int64),
    )


def _inside(boxes: ClosedBoxList, box: int) -> Nodes:
    return boxes.members[boxes.offsets[box] : boxes.offsets[box + 1]]


def _best_choices(boxes: ClosedBoxList, worths: Ints, amount: Ints, least: int) -> tuple[Ints, Ints]:
    """Find for every point in every box how many of its rows are among the most valuable, and the worth of those."""
    if not len(boxes):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    box = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    order = np.lexsort([-worths[boxes.members], box])
    size = amount[boxes.members[order]]
    before = np.cumsum(size) - size
    before -= before[boxes.offsets[:-1]][box]
    rows = np.empty_like(size)
    rows[order] = np.clip(least - before, 0, size)
    return rows, np.add.reduceat(rows * worths[boxes.members], boxes.offsets[:-1])


def _most_valuable(members: Nodes, worths: Ints, amount: Ints, least: int) -> tuple[Ints, Ints, int]:
    """Find the `least` rows of largest worth: which members, how many rows of each, and their worth or -1."""
    order = np.argsort(-worths[members], kind="stable")
    order = order[amount[members[order]] > 0]
    before = np.cumsum(amount[members[order]]) - amount[members[order]]
    order = order[before < least]
    rows = np.minimum(amount[members[order]], least - before[before < least])
    enough = rows.sum() >= least
    return order, rows, int((worths[members[order]] * rows).sum()) if enough else -1
