"""Improve groups by moves, swaps, dissolutions and new groups, many at once, as long as the loss falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.local.judging import Flags, GroupEvaluator
from sfumato.coding.regrouping.rows import STAY, ChangePlans, Ints, Regrouper, RowGroups

SWEEPS, MOST_ROUNDS = 2, 12  # a sweep looks at all groups, and then, in rounds, at those that changed or had to wait
LARGE, LARGE_ROUNDS = 100_000, 4  # from this many rows there is one sweep of this many rounds
PASSES = 4  # over plans that conflict


class PlanGroups(NamedTuple):
    """Pairs of a plan and a group that it takes rows from or to."""

    plan: Ints
    group: Ints


def improve_grouping(
    regrouper: Regrouper, grouping: RowGroups, judge: GroupEvaluator
) -> Iterator[tuple[float, RowGroups]]:
    """Apply plans that do not touch each other's groups and keep all models, round by round.

    Yields the share of the work that is done, at least, and the groups; their loss never rises.
    """
    sweeps, rounds = (SWEEPS, MOST_ROUNDS) if len(grouping.label) < LARGE else (1, LARGE_ROUNDS)
    for sweep in range(sweeps):
        todo = np.flatnonzero(grouping.prices > 0)
        for turn in range(rounds):
            if not len(todo):
                break
            plans = regrouper.propose(grouping, todo, judge.least)
            touch = _affected_groups(plans, todo, grouping)
            chosen = _choose_plans(plans, todo, touch, len(grouping.sizes) + len(todo))
            kept = chosen & ~_rejected_plans(plans, chosen, touch, grouping, judge)
            changed, groups = touch.group[kept[touch.plan]], len(grouping.sizes)
            grouping = _apply_plans(plans, kept, grouping)
            fresh = np.arange(groups, len(grouping.sizes))
            todo = np.unique(np.concatenate([todo[(plans.kind != STAY) & ~chosen], changed[changed < groups], fresh]))
            todo = todo[grouping.prices[todo] > 0]
            yield (sweep + (turn + 1) / rounds) / sweeps, grouping


def _affected_groups(plans: ChangePlans, todo: Ints, grouping: RowGroups) -> PlanGroups:
    active = np.flatnonzero(plans.kind != STAY)
    return PlanGroups(
        np.concatenate([active, plans.plan, plans.plan]),
        np.concatenate([todo[active], grouping.label[plans.row], plans.target]),
    )


def _choose_plans(plans: ChangePlans, todo: Ints, touch: PlanGroups, groups: int) -> Flags:
    """Choose plans without a common group, best first as far as a few passes can tell."""
    rank = np.empty(len(todo), dtype=np.int64)
    rank[np.lexsort([todo, -plans.gain])] = np.arange(len(todo))
    chosen, plan, group = np.zeros(len(todo), dtype=np.bool_), *touch
    for _ in range(PASSES):
        owner = np.full(groups, len(todo), dtype=np.int64)
        np.minimum.at(owner, group, rank[plan])
        best = np.zeros(len(todo), dtype=np.bool_)
        best[plan] = True
        best[plan[owner[group] != rank[plan]]] = False
        chosen |= best
        taken = np.zeros(groups, dtype=np.bool_)
        taken[group[best[plan]]] = True
        lost = np.zeros(len(todo), dtype=np.bool_)
        lost[plan[taken[group]]] = True
        plan, group = plan[~lost[plan]], group[~lost[plan]]
    return chosen


def _apply_plans(plans: ChangePlans, chosen: Flags, grouping: RowGroups) -> RowGroups:
    label, carried = grouping.label.copy(), chosen[plans.plan]
    label[plans.row[carried]] = plans.target[carried]
    return grouping.with_label(label)


def _rejected_plans(
    plans: ChangePlans, chosen: Flags, touch: PlanGroups, grouping: RowGroups, judge: GroupEvaluator
) -> Flags:
    """Find the chosen plans that would leave a group that breaks a model."""
    refused = np.zeros(len(chosen), dtype=np.bool_)
    if judge.size_suffices:
        return refused
    moved, carried = grouping.label.copy(), chosen[plans.plan]
    moved[plans.row[carried]] = plans.target[carried]
    plan, group = (pairs[chosen[touch.plan]] for pairs in touch)
    number = np.full(len(grouping.sizes) + len(chosen), -1, dtype=np.int64)
    named = np.unique(group)
    number[named] = np.arange(len(named))
    rows = np.flatnonzero(number[moved] >= 0)
    place = number[moved[rows]]
    good = judge.valid(rows, place, len(named)) | (np.bincount(place, minlength=len(named)) == 0)
    refused[plan[~good[number[group]]]] = True
    return refused
