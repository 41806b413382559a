"""Compile all loops for the arrays of large tables ahead of time."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.core._kernels import code_set_loops
from sfumato.core._kernels.code_sets import CODE_TYPES
from sfumato.core._kernels.grouping import group_by_hashing, radix_argsort
from sfumato.core._kernels.readiness import PACKAGE, kernel_files, mark_ready
from sfumato.encoding._counts import sum_bucket_contents
from sfumato.graphs._warmup import warm_up_graphs
from sfumato.synthesis import _kernels as synthesis_kernels
from sfumato.tables.algorithms._segments._compiled_cutter import PIECE_ROWS, CompiledCutter
from sfumato.tables.algorithms._segments.cuts import Axes, CuttingRule, Records
from sfumato.tables.algorithms._segments.streamed import LONG_BATCH, Batch, CodeLayout, CutTree, count_segments
from sfumato.tables.algorithms.bucketization._bisection import Bisection, bisect_compiled
from sfumato.tables.algorithms.bucketization._kernels import cross_buckets
from sfumato.tables.algorithms.full_domain import _kernels as full_domain_kernels
from sfumato.tables.algorithms.full_domain._combinations import CombinationKeys
from sfumato.tables.algorithms.local._compiled_covering import CompiledBoxSearch
from sfumato.tables.algorithms.local._compiled_regrouping import CompiledRegrouper
from sfumato.tables.algorithms.local._covering import WeightedPoints
from sfumato.tables.algorithms.local._regrouping import LevelVisits, RowGroups
from sfumato.tables.algorithms.microaggregation._kernels import class_growing
from sfumato.tables.algorithms.microaggregation._point_clusters import (
    CodedAxes,
    GrowthCandidates,
    Points,
    TreeAxes,
    find_nearest_points,
)
from sfumato.tables.algorithms.microaggregation._tree_clusters import (
    cluster_by_k_member,
    cluster_by_mdav,
    cluster_by_v_mdav,
)
from sfumato.tables.masking import _kernels as masking_kernels
from sfumato.tables.models import _kernels as models_kernels
from sfumato.tables.published._containment import (
    NUMPY_PAIRS,
    BoxContents,
    Boxes,
    count_points,
    list_containment_pairs,
    match_points,
)
from sfumato.tables.series import _kernels as series_kernels
from sfumato.trajectories._warmup import warm_up_trajectories
from sfumato.transactions._warmup import warm_up_transactions


@dataclass(frozen=True, kw_only=True)
class WarmupResult:
    """The number of compiled loops, the number of variants compiled now, and the time it took."""

    loops: int
    compiled: int
    seconds: float


def warm_up() -> WarmupResult:
    """Run every compiled loop once on each kind of arrays; cached loops are only loaded."""
    begin = time.perf_counter()
    before = _count_compilations()
    _run_containment()  # first: for large tables nothing else can do it
    group_by_hashing(np.arange(2, dtype=np.int64))
    radix_argsort(np.zeros(2, dtype=np.int64), 2)
    for codes, extra in itertools.product(CODE_TYPES, repeat=2):
        _run_partitioning(codes, extra)
    _run_bucket_sums()
    _run_bisection()
    _run_earth_mover()
    _run_record_selection()
    for codes in CODE_TYPES:
        _run_code_sets(codes)
        _run_streamed_partitioning(codes)
        _run_set_ordering(codes)
    _run_regrouping()
    _run_closed_boxes()
    _run_condensation()
    _run_clustering()
    _run_class_growing()
    _run_swapping()
    _run_lattice_search()
    _run_cell_counting()
    _run_propagation()
    warm_up_transactions()
    warm_up_graphs()
    warm_up_trajectories()
    mark_ready()
    return WarmupResult(
        loops=len(list(_iter_loops())),
        compiled=_count_compilations() - before,
        seconds=time.perf_counter() - begin,
    )


def _run_code_sets(codes: type[np.unsignedinteger]) -> None:
    """Collect the codes of two groups, and find them again."""
    group, coded, some = np.arange(2, dtype=np.int32), np.arange(2, dtype=codes), np.arange(2)
    known = np.zeros(2, dtype=np.bool_)
    code_set_loops.mark_codes(group, coded, np.zeros(2, dtype=np.int64))
    code_set_loops.scatter_codes(group, coded, np.arange(2), np.zeros(2, dtype=np.int64))
    code_set_loops.sort_and_deduplicate(np.arange(2), np.arange(3), np.zeros(3, dtype=np.int64))
    code_set_loops.test_membership((some, some, known), (some, np.arange(3), some), 2, group, coded, known.copy())


def _run_swapping() -> None:
    """Let two ranks change places, and two units of one profile."""
    masking_kernels.pair_ranks(2, 1, np.frombuffer(bytes(16), dtype=np.uint64))  # as a stream gives them: read only
    units, profile = np.arange(2), np.zeros(2, dtype=np.int64)
    pools = units, np.arange(3), units, np.array([0, 2])
    masking_kernels.pair_units(units[:1], np.zeros(2), profile, units, pools, np.ones(2, dtype=np.int64), units - 2)


def _run_cell_counting() -> None:
    """Count two combinations of one pack, of every width of codes."""
    for codes in CODE_TYPES:
        keys = CombinationKeys([np.arange(2, dtype=codes)], [np.arange(2)], 2)
        keys.count(np.ones(2))
        keys.last_places(2)


def _run_propagation() -> None:
    """Give two members of a group two values."""
    both, masks = np.arange(2), np.full((2, 1), 3, dtype=np.uint64)
    cells = np.array([0, 2]), both, np.ones(2, dtype=np.int64)
    units = np.ones(2, dtype=np.int64), np.arange(3), np.zeros(2, dtype=np.int64)
    series_kernels.propagate((np.array([0, 2]), both), units, cells, masks, np.zeros(1, dtype=np.bool_))


def _run_lattice_search() -> None:
    """Merge two groups in one column of two values, and judge them on both levels."""
    one, both = np.ones(1, dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
    columns = one - 1, one, one
    ladders = np.array([0, 1, 0, 0], dtype=np.int32), np.array([[0, 2]]), np.array([0, 1, 0], dtype=np.int32)
    rules = 1, 0, np.array([1, 2]), one, np.ones(1), np.zeros(1, dtype=np.bool_), np.ones(3, dtype=np.int64)
    space = (
        np.zeros((3, 2), dtype=np.int64),
        np.ones((3, 2), dtype=np.int32),
        np.ones((3, 2, 2), dtype=np.int32),
        np.zeros(16, dtype=np.int32),
        np.zeros(3, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2),
    )
    tables = columns, (*ladders, np.array([[0, 2]]), np.array([[2, 1]])), (np.zeros(3), both)
    found = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(2)
    full_domain_kernels.search_lattice(2, 0, one - 1, tables, rules, np.arange(3), space, found)
    full_domain_kernels.merge_groups(
        tuple(each[0] for each in space[:3]), 2, 0, 1, one - 1, space[3], tuple(e[1] for e in space[:3])
    )


def _run_earth_mover() -> None:
    """Compare a group of one value with a table of as many."""
    none, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    models_kernels.measure_surplus((np.arange(2), none.astype(np.int32), one), none[None], one[None], 1, none, one - 1)


def _run_bucket_sums() -> None:
    """Mix a bucket of one value into one group."""
    contents = np.arange(2), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.int64)
    sum_bucket_contents(np.zeros(1, dtype=np.int32), 1, np.zeros(1, dtype=np.int64), contents, 1)


def _run_bisection() -> None:
    """Halve a part of two records of one run."""
    none, two = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    bisect_compiled(Bisection(two, none, none + 2, np.zeros((1, 2), dtype=np.int32), np.zeros(1), none))


def _run_record_selection() -> None:
    """Pick the only record of a single block."""
    nothing, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    rooms = nothing.copy(), np.zeros(2, dtype=np.int64), nothing.copy()
    picked, sizes, state = nothing.copy(), nothing.copy(), np.zeros(3, dtype=np.int64)
    stacks, left, counts = np.zeros((3, 1), dtype=np.int64), nothing.copy(), nothing.copy()
    tree = -one, nothing, one
    cross_buckets.select_from_blocks(
        tree, nothing, left, counts, 0, 1, (1, 1, 1, 1), stacks, rooms, picked, sizes, state
    )


def _run_set_ordering(codes: type[np.unsignedinteger]) -> None:
    """Order two records in a set of two groups."""
    none, two, rows = np.zeros(1, dtype=np.int64), np.array([2]), np.arange(2)
    some = np.zeros((1, 2), dtype=codes)
    cross_buckets.order_sets(some, _single_axis().arrays, (none, two, two), 0, 1, rows, rows.copy())


def _run_condensation() -> None:
    """Let two records join one group."""
    records, labels = np.array([[0.0], [1.0]]), np.zeros(2, dtype=np.int64)
    whole = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1)
    state = np.zeros(1, dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1, 1))
    synthesis_kernels.condense_stream(records, 0, 1, -1, whole, state, labels)


def _run_clustering() -> None:
    """Cluster four points on a line and on a tree of two leaves in every way."""
    one, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    leaves, nodes = np.array([2], dtype=np.int64), np.arange(2, dtype=np.int32)
    places, codes = np.arange(4.0)[None, :], np.array([[0, 0, 1, 1]], dtype=np.int32)
    points = Points(places, codes, CodedAxes(leaves, one, none, none, np.ones(1), nodes, np.zeros(2)))
    trees = TreeAxes(leaves, one, none, none, none, nodes, np.array([0.0, 1.0]))
    candidates = GrowthCandidates(places, codes, np.ones(4, dtype=np.int64), trees)
    for trees_from in (4, 5):
        cluster_by_mdav(points, 2, lambda _done: None, trees_from=trees_from)
        cluster_by_v_mdav(points, 2, 0.2, lambda _done: None, trees_from=trees_from)
        cluster_by_k_member(candidates, 2, 0, lambda _done: None, trees_from=trees_from)
    find_nearest_points(points, points, np.arange(4))


def _run_class_growing() -> None:
    """Form a class of two of three records on one axis of numbers, and let the third one join."""
    none, one, numbers = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.arange(3, dtype=np.int64)
    axes = (
        one,
        one.copy(),
        np.array([3]),
        one.copy(),
        np.arange(3.0),
        one.copy(),
        np.zeros(0, dtype=np.int32),
        np.ones(1),
    )
    codes, without = np.arange(3, dtype=np.int32)[:, None].copy(), np.full(3, -1, dtype=np.int32)
    records = codes, without, without.copy(), np.ones(3, dtype=np.int64), numbers
    stock = one.copy(), none, np.array([3, 3, 0, 0, 0, 0])
    bounds = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int32)
    counted = np.zeros((1, 1), dtype=np.int64), one.copy(), np.zeros((1, 0), dtype=np.int64)
    classes = (one.copy(), np.array([4]), *counted, *bounds)
    entries = tuple(np.zeros((1, 20), dtype=np.int64) for _ in range(3))
    rule, picks = (np.array([0.0, 0.5, 0.5, 1.0]), np.zeros(0), np.zeros(5)), (numbers.copy(), numbers.copy())
    shared = axes, records, stock, classes, entries, rule
    class_growing.form_class_range(0, 1, np.array([0, 0, 2]), *shared, np.zeros(1), picks)
    class_growing.compact_rows(records, stock[2])
    outlook = np.empty((1, 1)), np.empty((1, 1))
    class_growing.bound_all_losses(1, axes, classes, entries, rule, outlook)
    class_growing.assign_remaining(one.copy(), 1, *shared, outlook, np.array([4]), picks)


def _run_partitioning(codes: type[np.unsignedinteger], extra: type[np.unsignedinteger]) -> None:
    """Cut two halves of equal codes apart by force: one segment of several pieces, with ties to share."""
    rows = 2 * PIECE_ROWS
    records = Records(
        codes=np.repeat(np.array([[0, 1]], dtype=codes), rows // 2, axis=1),
        extra=np.zeros((1, rows), dtype=extra),
        weight=np.ones(rows, dtype=np.int64),
        origin=np.arange(rows, dtype=np.int32),
        offsets=np.array([0, rows], dtype=np.int64),
    )
    cutter, axes, whole = CompiledCutter(), _single_axis(), np.zeros(1, dtype=np.int64)
    ranges = cutter.ranges(records, axes)
    cuts = cutter.propose(records, axes, CuttingRule(1, relaxed=True), ranges, whole, whole)
    left = cutter.sides(records, whole, cuts)
    cutter.halves(records, whole, left, 1)
    halves = cutter.split(records, whole, left)
    cutter.number(halves, np.arange(halves.segments), 0, np.empty(rows, dtype=np.int32))


def _run_streamed_partitioning(codes: type[np.unsignedinteger]) -> None:
    """Find and count the only segment of a batch."""
    batch = Batch.from_columns([np.zeros(LONG_BATCH, dtype=codes)])
    tree = CutTree.single_segment()
    tree.descend(batch.codes)
    count_segments([batch], tree, tree.leaves, CodeLayout((1,)))


def _run_containment() -> None:
    """Match so many points with as many boxes, each with its own, that no matrix of pairs is made."""
    count = math.isqrt(NUMPY_PAIRS) + 1
    codes = np.arange(count, dtype=np.int32)
    boxes = Boxes(
        low=codes[:, None],
        high=codes[:, None],
        member_rows=np.full((count, 1), -1, dtype=np.int64),
        members=np.zeros(0, dtype=np.bool_),
    )
    contents = BoxContents(
        sizes=np.ones(count),
        offsets=np.arange(count + 1, dtype=np.int64),
        columns=np.zeros(count, dtype=np.int64),
        amounts=np.ones(count),
    )
    match_points(codes[None, :], np.zeros((1, count), dtype=np.int64), boxes, contents)
    count_points(codes[None, :], np.ones(count, dtype=np.int64), boxes)
    list_containment_pairs(codes[None, :], boxes)


def _run_regrouping() -> None:
    """Gather four rows under a tree of two leaves, group them badly, and look for better groups."""
    leaves = np.array([[0], [0], [1], [1]], dtype=np.int32)
    first, stop = np.array([0, 1, 0], dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
    trees = first, stop, np.array([2, 2, -1], dtype=np.int32), np.array([0, 0, 1], dtype=np.int64)
    nothing = np.zeros(1, dtype=np.int64)
    marks = np.array([1, 2], dtype=np.uint64)
    visits = LevelVisits(marks, np.zeros(2, dtype=np.int64), np.zeros((1, 1), dtype=np.int64), nothing, nothing)
    label = np.full(4, -1, dtype=np.int64)
    regrouper = CompiledRegrouper()
    regrouper.gather(np.ascontiguousarray(leaves.T), visits, np.arange(4), label, 2).finish(0)
    grouping = RowGroups.from_labels(leaves, trees, np.array([0, 1, 0, 1]))
    regrouper.partners(grouping, np.arange(2))
    regrouper.propose(grouping, np.arange(2), 1)


def _run_closed_boxes() -> None:
    """List the one box that covers two points, raise nothing, and open it."""
    nodes, start = np.array([0, 1, 2, 2], dtype=np.int32), np.array([[0, 2]], dtype=np.int64)
    trees = nodes, start, np.array([2], dtype=np.int64), np.array([0, 0, 1], dtype=np.int64)
    points = WeightedPoints(np.array([[0, 1]], dtype=np.int32), np.ones(2, dtype=np.int64), trees)
    coverer, once = CompiledBoxSearch(), np.ones(2, dtype=np.int64)
    coverer.cheapest(points, 2, 10)
    coverer.feasible(points, 2, once, 10)
    boxes = coverer.closed(points, 2, once, 10)
    assert boxes is not None  # noqa: S101 - there is one
    coverer.look(points, boxes, 2, coverer.lowered(points, boxes, 2, once), np.zeros(1, dtype=np.int64))
    coverer.opened(points, boxes, 2, once)


def _single_axis() -> Axes:
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


def _iter_loops() -> Iterator[Any]:
    """Yield every compiled loop once, even if several modules name it."""
    paths = [each.relative_to(PACKAGE.parent).with_suffix("") for each in kernel_files()]
    modules = [import_module(".".join(path.parts).removesuffix(".__init__")) for path in paths]
    loops = {id(each): each for module in modules for each in vars(module).values() if hasattr(each, "signatures")}
    yield from loops.values()


def _count_compilations() -> int:
    return sum(sum(loop.stats.cache_misses.values()) for loop in _iter_loops())


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    warm_up()
