"""Boxes and worths by compiled loops; boxes are distributed among all processors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from sfumato._threads import count_workers
from sfumato.tables.algorithms.local._covering import ClosedBoxList, Flags, OpenedGroups, WeightedPoints
from sfumato.tables.algorithms.local._kernels import closed_boxes
from sfumato.tables.algorithms.local._regrouping import Ints, Nodes

NO_BOXES = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
VISITS_PER_CALL = 50  # of points for each that is listed


class CompiledBoxSearch:
    """Walk and look with compiled loops in several threads."""

    def cheapest(self, points: WeightedPoints, least: int, most: int) -> Ints | None:
        """Find for every point the price of the cheapest box with enough rows; nothing after `most` visits."""
        prices = np.where(points.weight >= least, 0, points.highest + 1)
        found, _ = _enumerate_boxes(closed_boxes.CHEAPEST, points, least, prices, most)
        return prices if found >= 0 else None

    def closed(self, points: WeightedPoints, least: int, caps: Ints, most: int) -> ClosedBoxList | None:
        """List closed boxes that have a price; nothing if they have more than `most` points together."""

        def listed(level: int) -> ClosedBoxList | None:
            boxes = np.zeros(most // 2 + 2, np.int64), np.empty(most, np.int32), np.empty(most // 2 + 1, np.int64)
            found, pairs = closed_boxes.enumerate_closed_boxes(
                closed_boxes.CLOSED,
                points.leaf,
                points.weight,
                points.trees,
                least,
                (level, level + 1),
                caps,
                VISITS_PER_CALL * most,
                boxes,
            )
            return (
                ClosedBoxList(boxes[0][: found + 1], boxes[1][:pairs].copy(), boxes[2][:found].copy())
                if found >= 0
                else None
            )

        with ThreadPoolExecutor(count_workers()) as pool:
            parts = list(pool.map(listed, range(int(points.trees[2][0]))))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or sum(len(part.members) for part in known) > most:
            return None
        return _concatenate_boxes(known)

    def feasible(self, points: WeightedPoints, least: int, worths: Ints, most: int) -> Ints | None:
        """Lower worths until they are feasible for all boxes that there are; nothing after `most` visits."""
        result = worths.copy()
        found, _ = _enumerate_boxes(closed_boxes.LOWERED, points, least, result, most)
        return result if found >= 0 else None

    def lowered(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, given: Ints) -> Ints:
        """Lower worths until they are feasible for the given boxes."""
        result = given.copy()
        closed_boxes.lower_all_gains(_arrays(boxes), result, points.weight, least)
        return result

    def look(
        self, points: WeightedPoints, boxes: ClosedBoxList, least: int, given: Ints, todo: Ints
    ) -> tuple[int, Ints, Flags]:
        """Look at some boxes: what their best choices of rows are worth beyond their prices, and whose these are."""
        near = np.empty(len(todo), dtype=np.bool_)
        edges = np.linspace(0, len(todo), count_workers() + 1).astype(int).tolist()

        def some(piece: tuple[int, int]) -> tuple[int, Ints]:
            taken = np.zeros(len(points), dtype=np.int64)
            return closed_boxes.score_boxes(
                todo, *piece, _arrays(boxes), given, points.weight, least, taken, near
            ), taken

        with ThreadPoolExecutor(count_workers()) as pool:
            beyond, taken = zip(*pool.map(some, pairwise(edges)), strict=True)
        return sum(beyond), np.sum(taken, axis=0), near

    def opened(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, given: Ints) -> OpenedGroups:
        """Open boxes, again and again the one whose most valuable free rows are worth most beyond its price."""
        entries = tuple(np.empty(int(points.weight.sum()), dtype=np.int64) for _ in range(3))
        _, count = closed_boxes.open_boxes(_arrays(boxes), given, points.weight, least, *entries)
        return OpenedGroups(*(each[:count].copy() for each in entries))


def _enumerate_boxes(mode: int, points: WeightedPoints, least: int, given: Ints, most: int) -> tuple[int, int]:
    levels = 0, int(points.trees[2][0])
    return closed_boxes.enumerate_closed_boxes(
        mode, points.leaf, points.weight, points.trees, least, levels, given, most, NO_BOXES
    )


def _arrays(boxes: ClosedBoxList) -> tuple[Ints, Nodes, Ints]:
    return boxes.offsets, boxes.members, boxes.prices


def _concatenate_boxes(parts: list[ClosedBoxList]) -> ClosedBoxList:
    before = np.cumsum([0, *(len(part.members) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, before[:-1], strict=True)]
    return ClosedBoxList(
        np.concatenate([[0], *offsets]).astype(np.int64),
        np.concatenate([part.members for part in parts]),
        np.concatenate([part.prices for part in parts]),
    )
