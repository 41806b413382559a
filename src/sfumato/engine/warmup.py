"""Compile all loops for the arrays that large tables bring, so that none of them has to wait."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.engine.axes import Axes
from sfumato.engine.compiled_cutter import PIECE_ROWS, CompiledCutter
from sfumato.engine.containment import PLAIN_PAIRS, Boxes, Contents, match
from sfumato.engine.grouping import COMPILED_ROWS, group_keys
from sfumato.engine.kernels import condensing, containment, cutting, gathering, grouping, regrouping
from sfumato.engine.local_compiled import CompiledRegrouper
from sfumato.engine.local_regrouping import Grouping, Visits
from sfumato.engine.partition import Records, Rule

CODE_TYPES: tuple[type[np.unsignedinteger], ...] = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, kw_only=True)
class Warmth:
    """How many loops stand ready, how many variants of them were compiled now, and how long it took."""

    loops: int
    compiled: int
    seconds: float


def warm_up() -> Warmth:
    """Run every compiled loop once on each kind of arrays; what is in the cache is only loaded."""
    begin = time.perf_counter()
    before = _compiled()
    group_keys(np.arange(COMPILED_ROWS, dtype=np.int64))
    for codes, extra in itertools.product(CODE_TYPES, repeat=2):
        _cut_once(codes, extra)
    _match_once()
    _regroup_once()
    _condense_once()
    return Warmth(
        loops=len(list(_loops())),
        compiled=_compiled() - before,
        seconds=time.perf_counter() - begin,
    )


def _condense_once() -> None:
    """Let two records join one group."""
    records, labels = np.array([[0.0], [1.0]]), np.zeros(2, dtype=np.int64)
    whole = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1)
    state = np.zeros(1, dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1, 1))
    condensing.absorb(records, 0, 1, -1, whole, state, labels)


def _cut_once(codes: type[np.unsignedinteger], extra: type[np.unsignedinteger]) -> None:
    """Cut two halves of equal codes apart by force: one segment of several pieces, with ties to share."""
    rows = 2 * PIECE_ROWS
    records = Records(
        codes=np.repeat(np.array([[0, 1]], dtype=codes), rows // 2, axis=1),
        extra=np.zeros((1, rows), dtype=extra),
        weight=np.ones(rows, dtype=np.int32),
        origin=np.arange(rows, dtype=np.int32),
        offsets=np.array([0, rows], dtype=np.int64),
    )
    cutter, axes, whole = CompiledCutter(), _one_axis(), np.zeros(1, dtype=np.int64)
    ranges = cutter.ranges(records, axes)
    cuts = cutter.propose(records, axes, Rule(1, relaxed=True, missing_rides=False), ranges, whole, whole)
    halves = cutter.split(records, whole, cutter.sides(records, whole, cuts))
    cutter.number(halves, np.arange(halves.segments), 0, np.empty(rows, dtype=np.int32))


def _match_once() -> None:
    """Match so many points with as many boxes, each with its own, that no matrix of pairs is made."""
    count = math.isqrt(PLAIN_PAIRS) + 1
    codes = np.arange(count, dtype=np.int32)
    boxes = Boxes(
        low=codes[:, None],
        high=codes[:, None],
        member_rows=np.full((count, 1), -1, dtype=np.int64),
        members=np.zeros(0, dtype=np.bool_),
    )
    contents = Contents(
        sizes=np.ones(count),
        offsets=np.arange(count + 1, dtype=np.int64),
        columns=np.zeros(count, dtype=np.int64),
        amounts=np.ones(count),
    )
    match(codes[None, :], np.zeros((1, count), dtype=np.int64), boxes, contents)


def _regroup_once() -> None:
    """Gather four rows under a tree of two leaves, part them badly, and look for better groups."""
    leaves = np.array([[0], [0], [1], [1]], dtype=np.int32)
    first, stop = np.array([0, 1, 0], dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
    trees = first, stop, np.array([2, 2, -1], dtype=np.int32), np.array([0, 0, 1], dtype=np.int64)
    nothing = np.zeros(1, dtype=np.int64)
    marks = np.array([1, 2], dtype=np.uint64)
    visits = Visits(marks, np.zeros(2, dtype=np.int64), np.zeros((1, 1), dtype=np.int64), nothing, nothing)
    label = np.full(4, -1, dtype=np.int64)
    regrouper = CompiledRegrouper()
    regrouper.gather(np.ascontiguousarray(leaves.T), visits, np.arange(4), label, 2).finish(0)
    grouping = Grouping.of(leaves, trees, np.array([0, 1, 0, 1]))
    regrouper.partners(grouping, np.arange(2))
    regrouper.propose(grouping, np.arange(2), 1)


def _one_axis() -> Axes:
    nothing = np.zeros(1, dtype=np.int64)
    return Axes(
        leaves=np.array([2], dtype=np.int64),
        heights=nothing,
        places=nothing,
        positions=np.array([0.0, 1.0]),
        trees=nothing,
        nodes=np.zeros(0, dtype=np.int32),
        shares=np.zeros(0, dtype=np.float64),
    )


def _loops() -> Iterator[Any]:
    for module in (condensing, containment, cutting, gathering, grouping, regrouping):
        yield from (value for value in vars(module).values() if hasattr(value, "signatures"))


def _compiled() -> int:
    return sum(sum(loop.stats.cache_misses.values()) for loop in _loops())
