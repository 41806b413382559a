"""Worths and boxes: what is found is all there is, what is proven holds for the best grouping, and twins agree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local import _initial_groups
from sfumato.tables.algorithms.local._compiled_covering import CompiledBoxSearch
from sfumato.tables.algorithms.local._covering import choose_cost_unit
from sfumato.tables.algorithms.local._forest import HierarchyForest
from sfumato.tables.algorithms.local._initial_groups import (
    CoveringProblem,
    GroupEvaluator,
    find_guided_start,
    groups_of_opened_boxes,
)
from sfumato.tables.algorithms.local._plain_covering import NumpyBoxSearch
from sfumato.tables.algorithms.local._regrouping import RowGroups
from sfumato.tables.algorithms.local.local_recoding import dual_bound, min_point_losses, sum_of_min_losses
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import described_tables

COVERERS = pytest.mark.parametrize("coverer", [NumpyBoxSearch(), CompiledBoxSearch()], ids=["plain", "compiled"])
ANYTHING = 10**12
SCHEMA = Schema(
    quasi_identifiers=["age", "job", "color"],
    sensitive=["disease"],
    hierarchies={
        "age": Intervals(5, 20),
        "job": Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}}),
    },
)
few = examples(30)


def task_of(table, schema, k, *models):
    rng = np.random.default_rng(0)
    promises = [KAnonymity(k=k), *models]
    return TableRequest(
        table=encode_table(table, schema),
        models=promises,
        max_suppressed=0,
        missing=MissingPolicy(schema.missing),
        rng=rng,
    )


def cover_of(task):
    trees = HierarchyForest.of(task.table.quasi)
    leaves = trees.places(task.table.quasi)
    return trees, leaves, CoveringProblem.of(trees, leaves, task.min_group_size)


def drawn_task(seed, rows, k, *models):
    rng = np.random.default_rng(seed)
    cells = {
        "age": rng.integers(18, 60, rows),
        "job": rng.choice(["clerk", "lawyer", "farmer", "sailor", "diver"], rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
        "color": rng.choice(["red", "green", "blue"], rows),
        "disease": rng.choice(["flu", "cold", "ulcer"], rows),
    }
    return task_of(pa.table(cells), SCHEMA, k, *models)


def all_closed_boxes(cover):
    """Give for every closed box with enough rows its points and its price, by trying all combinations of nodes."""
    leaf, (nodes, start, heights, cost) = cover.points.leaf, cover.points.trees
    found = {}
    choices = [
        [(h, int(node)) for h in range(heights[j]) for node in np.unique(nodes[start[j, h] + leaf[j]])]
        for j in range(len(leaf))
    ]
    for box in product(*choices):
        inside = np.ones(len(cover.points), dtype=bool)
        for j, (h, node) in enumerate(box):
            inside &= nodes[start[j, h] + leaf[j]] == node
        covered = np.flatnonzero(inside)
        if not len(covered) or cover.points.weight[covered].sum() < cover.least:
            continue
        lower = any(
            h > 0 and len(np.unique(nodes[start[j, h - 1] + leaf[j, covered]])) == 1 for j, (h, _) in enumerate(box)
        )
        if not lower:
            found[tuple(covered.tolist())] = sum(int(cost[node]) for _, node in box)
    return found


def least_loss(trees, leaves, k):
    """Find the loss of the best grouping, by trying all of them."""
    rows, prices = len(leaves), {}
    for mask in range(1, 1 << rows):
        some = [i for i in range(rows) if mask >> i & 1]
        if len(some) >= k:
            one = RowGroups.from_labels(leaves[some], trees.forest, np.zeros(len(some), dtype=np.int64))
            prices[mask] = one.loss
    best = {0: 0}
    for mask in range(1, 1 << rows):
        lowest, part, losses = mask & -mask, mask, []
        while part:
            if part & lowest and part in prices and mask ^ part in best:
                losses.append(best[mask ^ part] + prices[part])
            part = (part - 1) & mask
        if losses:
            best[mask] = min(losses)
    return best[(1 << rows) - 1]


def worth_of_best(points, worths, weight, least):
    """Add up the largest worths of as many rows as a group must have."""
    each = sorted((worths[i] for i in points for _ in range(weight[i])), reverse=True)
    return sum(each[:least])


@COVERERS
@given(drawn=described_tables(most_rows=12), k=st.integers(1, 4))
@few
def test_closed_boxes_are_those_of_the_definition(coverer, drawn, k):
    _, _, cover = cover_of(task_of(*drawn, k))
    expected = {points: price for points, price in all_closed_boxes(cover).items() if price > 0}
    everything = np.full(len(cover.points), cover.points.highest)
    boxes = coverer.closed(cover.points, cover.least, everything, 10**6)
    found = {
        tuple(boxes.members[boxes.offsets[b] : boxes.offsets[b + 1]].tolist()): int(boxes.prices[b])
        for b in range(len(boxes))
    }
    assert len(found) == len(boxes)
    assert found == expected


@COVERERS
@given(drawn=described_tables(most_rows=12), k=st.integers(1, 4))
@few
def test_the_cheapest_price_is_that_of_the_cheapest_box(coverer, drawn, k):
    _, leaves, cover = cover_of(task_of(*drawn, k))
    if len(leaves) < k:
        return
    boxes = all_closed_boxes(cover)
    expected = [min(price for points, price in boxes.items() if i in points) for i in range(len(cover.points))]
    assert min_point_losses(coverer, cover).tolist() == expected


@COVERERS
@given(drawn=described_tables(most_rows=12), k=st.integers(1, 4), seed=st.integers(0, 99))
@few
def test_any_worths_become_feasible_for_every_box_that_there_is(coverer, drawn, k, seed):
    _, _, cover = cover_of(task_of(*drawn, k))
    coarse = cover.points.coarser(cover.grain)
    given_worths = np.random.default_rng(seed).integers(0, coarse.highest + 2, len(coarse))
    worths = coverer.feasible(coarse, cover.least, given_worths, ANYTHING)
    assert (worths <= given_worths).all()
    cost = CoveringProblem(coarse, cover.of_row, cover.least)
    for points, price in all_closed_boxes(cost).items():
        assert worth_of_best(points, worths, coarse.weight, k) <= k * price
    assert np.array_equal(coverer.feasible(coarse, cover.least, worths, ANYTHING), worths)


@given(drawn=described_tables(most_rows=9), k=st.sampled_from([2, 3]), seed=st.integers(0, 99))
@examples(40)
def test_no_worths_prove_more_than_the_best_grouping_loses(drawn, k, seed):
    task = task_of(*drawn, k)
    trees, leaves, cover = cover_of(task)
    if len(leaves) < k:
        return
    coverer, coarse, best = NumpyBoxSearch(), cover.points.coarser(cover.grain), least_loss(trees, leaves, k)
    cheapest = min_point_losses(coverer, cover)
    assert sum_of_min_losses(cover, cheapest) <= best
    any_worths = np.random.default_rng(seed).integers(0, coarse.highest + 2, len(coarse))
    assert dual_bound(coverer, cover, any_worths) <= best
    boxes = coverer.closed(coarse, k, np.full(len(coarse), coarse.highest), 10**6)
    any_worths = np.where(cheapest > 0, any_worths, 0)
    beyond, _, _ = coverer.look(coarse, boxes, k, any_worths, np.arange(len(boxes)))
    assert (int((any_worths * coarse.weight).sum()) - beyond) * cover.grain <= best
    found = find_guided_start(coverer, cover, cheapest)
    assert found is None or dual_bound(coverer, cover, found.worths) <= best


def test_worths_prove_more_than_cheapest_boxes():
    _, _, cover = cover_of(drawn_task(1, 200, 3))
    cheapest = min_point_losses(NumpyBoxSearch(), cover)
    worths = find_guided_start(NumpyBoxSearch(), cover, cheapest).worths
    assert dual_bound(NumpyBoxSearch(), cover, worths) > 1.05 * sum_of_min_losses(cover, cheapest)


def test_the_sum_less_what_boxes_are_worth_beyond_their_price_is_that_of_the_definition():
    _, _, cover = cover_of(drawn_task(2, 60, 3))
    coarse, k = cover.points.coarser(cover.grain), 3
    worths = np.random.default_rng(5).integers(0, 2 * 10**6, len(coarse))
    everything = np.full(len(coarse), coarse.highest)
    for coverer in (NumpyBoxSearch(), CompiledBoxSearch()):
        boxes = coverer.closed(coarse, k, everything, 10**6)
        beyond, taken, _ = coverer.look(coarse, boxes, k, worths, np.arange(len(boxes)))
        expected, chosen = 0, 0
        for b in range(len(boxes)):
            inside = boxes.members[boxes.offsets[b] : boxes.offsets[b + 1]]
            each = sorted(
                (int(worths[i] - boxes.prices[b]) for i in inside for _ in range(coarse.weight[i])), reverse=True
            )
            most = sum(each[:k]) + sum(more for more in each[k:] if more > 0)
            expected += max(most, 0)
            chosen += max(k, sum(more > 0 for more in each)) if most > 0 else 0
        assert beyond == expected
        assert taken.sum() == chosen


@pytest.mark.parametrize(("seed", "rows", "k"), [(0, 60, 2), (1, 150, 3), (2, 300, 5), (3, 400, 1), (4, 200, 40)])
def test_compiled_and_plain_guides_are_the_same(seed, rows, k):
    _, _, cover = cover_of(drawn_task(seed, rows, k))
    found = []
    for coverer in (NumpyBoxSearch(), CompiledBoxSearch()):
        cheapest = min_point_losses(coverer, cover)
        made = find_guided_start(coverer, cover, cheapest)
        found.append([cheapest])
        if made is not None:
            fit = coverer.feasible(cover.points.coarser(cover.grain), k, made.worths, ANYTHING)
            found[-1] += [made.worths, made.opened.group, made.opened.point, made.opened.rows, fit]
    assert len(found[0]) == len(found[1])
    assert (len(found[0]) == 1) == (k == 1)
    for plain, compiled in zip(*found, strict=True):
        assert np.array_equal(plain, compiled)


def test_opened_groups_have_enough_rows_and_every_row_enters_one():
    task = drawn_task(3, 300, 4)
    _, _, cover = cover_of(task)
    opened = find_guided_start(NumpyBoxSearch(), cover, min_point_losses(NumpyBoxSearch(), cover)).opened
    label = groups_of_opened_boxes(cover, opened, GroupEvaluator(task))
    sizes = np.bincount(label[label >= 0], minlength=opened.groups)
    assert sizes.min() >= 4
    assert sizes.tolist() == np.bincount(opened.group, weights=opened.rows).astype(int).tolist()
    assert (label >= 0).mean() > 0.9
    for group, point in set(zip(opened.group.tolist(), opened.point.tolist(), strict=True)):
        rows = opened.rows[(opened.group == group) & (opened.point == point)].sum()
        assert np.count_nonzero((label == group) & (cover.of_row == point)) == rows


def test_opened_groups_that_break_a_model_are_given_up():
    task = drawn_task(3, 300, 4, DistinctLDiversity(l=3, sensitive="disease"))
    _, _, cover = cover_of(task)
    opened = find_guided_start(NumpyBoxSearch(), cover, min_point_losses(NumpyBoxSearch(), cover)).opened
    judge = GroupEvaluator(task)
    label = groups_of_opened_boxes(cover, opened, judge)
    rows, groups = np.flatnonzero(label >= 0), int(label.max()) + 1
    assert 0 < groups < opened.groups
    assert judge.valid(rows, label[rows], groups).all()


def test_too_many_boxes_are_listed_with_lower_caps_or_not_at_all(monkeypatch):
    _, _, cover = cover_of(drawn_task(4, 200, 3))
    cheapest = min_point_losses(NumpyBoxSearch(), cover)
    caps = []
    monkeypatch.setattr(_initial_groups, "PAIRS", 1)
    monkeypatch.setattr(_initial_groups, "FEWEST_PAIRS", 1)
    for coverer in (NumpyBoxSearch(), CompiledBoxSearch()):
        monkeypatch.setattr(coverer, "closed", lambda *given: caps.append(given[2].sum()), raising=False)
        assert find_guided_start(coverer, cover, cheapest) is None
    assert len(caps) == 2 * len(_initial_groups.CAPS)
    assert caps[: len(_initial_groups.CAPS)] == sorted(caps[: len(_initial_groups.CAPS)], reverse=True)


@COVERERS
def test_no_more_boxes_are_listed_than_asked_for(coverer):
    _, _, cover = cover_of(drawn_task(4, 200, 3))
    everything = np.full(len(cover.points), cover.points.highest)
    pairs = len(coverer.closed(cover.points, 3, everything, 10**6).members)
    assert coverer.closed(cover.points, 3, everything, pairs) is not None
    assert coverer.closed(cover.points, 3, everything, pairs - 1) is None


def test_a_walk_that_takes_too_long_proves_less_but_nothing_wrong(monkeypatch):
    _, _, cover = cover_of(drawn_task(4, 200, 3))
    coverer = CompiledBoxSearch()
    exact = min_point_losses(coverer, cover)
    assert coverer.feasible(cover.points, 3, exact, 10) is None
    monkeypatch.setattr(_initial_groups, "VISITS", 0)
    monkeypatch.setattr(_initial_groups, "MIN_ENUMERATION_LIMITS", 10)
    monkeypatch.setattr("sfumato.tables.algorithms.local.local_recoding.FEWER_COMBINATIONS", 2)
    less = min_point_losses(coverer, cover)
    assert (less <= exact).all()
    assert sum_of_min_losses(cover, less) < sum_of_min_losses(cover, exact)
    assert dual_bound(coverer, cover, exact // cover.grain) == 0


def test_worths_of_large_groups_and_many_trees_are_counted_in_coarser_units():
    _, _, cover = cover_of(drawn_task(4, 50, 3))
    assert choose_cost_unit(cover.points, 3) == 100
    assert choose_cost_unit(cover.points, 10**9) > 100
