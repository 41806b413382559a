"""Local recoding: every group is published with nodes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sfumato.tables.algorithms._labels import label_single_group, merge_identical_groups
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._covering import BoxSearch, choose_box_search
from sfumato.tables.algorithms.local._forest import UNIT, HierarchyForest
from sfumato.tables.algorithms.local._initial_groups import (
    MAX_NODE_COMBINATIONS,
    CoveringProblem,
    Flags,
    GroupEvaluator,
    GuidedStart,
    find_guided_start,
    groups_of_opened_boxes,
    merge_invalid_groups,
    merge_under_nodes,
)
from sfumato.tables.algorithms.local._regrouping import STAY, ChangePlans, Ints, Regrouper, RowGroups, choose_regrouper
from sfumato.tables.published.solution import LossBound, TableSolution

# A lower bound for the loss of every local recoding of a table, proven by walks over all boxes that there are.
#
# The weak bound adds up what every row costs in its cheapest box with enough rows. The strong one adds up worths that
# are
# feasible for every box. Both hold for any grouping whose groups have enough rows, whatever else models ask for.

FEWER_COMBINATIONS = 1 << 8  # that can be walked through in any table


def min_point_losses(coverer: BoxSearch, cover: CoveringProblem) -> Ints:
    """Find what every point costs at least, in any box with enough rows.

    If there are too many combinations of levels, or the walk takes too long, only the first trees are looked at: other
    nodes can only add to the price.
    """
    found = coverer.cheapest(
        cover.points.select_trees(max(1, cover.is_enumerable(MAX_NODE_COMBINATIONS))), cover.least, cover.max_visits
    )
    if found is None:
        few = cover.points.select_trees(max(1, cover.is_enumerable(FEWER_COMBINATIONS)))
        found = coverer.cheapest(few, cover.least, np.iinfo(np.int64).max)
    assert found is not None  # noqa: S101 - without a limit a walk ends
    return found


def sum_of_min_losses(cover: CoveringProblem, cheapest: Ints) -> int:
    """Add up what all rows cost at least."""
    return int((cheapest * cover.points.weight).sum())


def dual_bound(coverer: BoxSearch, cover: CoveringProblem, worths: Ints) -> int:
    """Add up worths that are feasible for all boxes, at most those given; 0 if the walk takes too long."""
    found = coverer.feasible(cover.points.coarser(cover.grain), cover.least, worths, cover.max_visits)
    return 0 if found is None else int((found * cover.points.weight).sum()) * cover.grain


# Improve groups by moves, swaps, dissolutions and new groups, many at once, as long as the loss falls.

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


# The search of local recoding: groups from a guided start, or from another one, and a lower bound for their loss.

WORTHS, GATHERED, SETTLED = 0.3, 0.5, 0.6  # shares of the work: of all, and of what follows a start
BOTH_STARTS = 5000  # rows up to which both starts are always tried
CLOSE = 115  # percent of the lower bound: a result from the guided start that is so close is not compared
DECIMALS = 10**6  # a lower bound is rounded down to so many parts of the largest loss


class RegroupingSearch:
    """A search for groups with a small loss, from one start or two, and for a lower bound."""

    def __init__(self, task: TableRequest) -> None:
        self.task, self.judge = task, GroupEvaluator(task)
        self.trees = HierarchyForest.of(task.table.quasi)
        self.leaves = self.trees.places(task.table.quasi)
        self.regrouper, self.coverer = choose_regrouper(task.table.rows), choose_box_search(task.table.rows)
        self._best: RowGroups | None = None

    def run(self) -> tuple[RowGroups, LossBound | None]:
        """Return the best groups found, and what is proven about the loss of all that are allowed."""
        if self.task.table.rows < self.judge.least:
            return self._improved(None, 0.0, 1.0), None
        cover = CoveringProblem.of(self.trees, self.leaves, self.judge.least)
        with ThreadPoolExecutor(1) as aside:
            cheapest = aside.submit(min_point_losses, self.coverer, cover)
            found = self._guide(cover, cheapest)
            strong = aside.submit(self._strong_bound, cover, found)
            if found is not None:
                self._improved(groups_of_opened_boxes(cover, found.opened, self.judge), WORTHS, (1 + WORTHS) / 2)
            bound = max(sum_of_min_losses(cover, cheapest.result()), strong.result())
        best = self._best
        if best is None or not self._close(best, bound):
            best = self._improved(None, WORTHS if best is None else (1 + WORTHS) / 2, 1.0)
        self.task.progress(1.0, _progress_note(best))
        return best, self._proof(best, bound)

    def _guide(self, cover: CoveringProblem, cheapest: Future[Ints]) -> GuidedStart | None:
        """Open boxes by worths; where sizes do not suffice, these are a guess, which large tables do without."""
        if not cover.small or not (self.judge.size_suffices or self.task.table.rows < LARGE):
            return None
        return find_guided_start(self.coverer, cover, cheapest.result())

    def _strong_bound(self, cover: CoveringProblem, found: GuidedStart | None) -> int:
        return 0 if found is None else dual_bound(self.coverer, cover, found.worths)

    def _close(self, best: RowGroups, bound: int) -> bool:
        """Return whether the other start need not be tried: the first one is good, and known to be usually better."""
        if best.loss <= bound:
            return True
        usual = self.judge.size_suffices and self.task.table.rows > BOTH_STARTS
        return usual and 100 * best.loss <= CLOSE * bound

    def _improved(self, label: Ints | None, begin: float, end: float) -> RowGroups:
        """Improve groups that begin with opened boxes, or with nothing, and return the best so far."""

        def tell(share: float, grouping: RowGroups | None = None) -> None:
            known = [each for each in (self._best, grouping) if each is not None]
            self.task.progress(
                begin + (end - begin) * share, *map(_progress_note, sorted(known, key=lambda g: g.loss)[:1])
            )

        label = merge_under_nodes(
            self.regrouper, self.trees, self.leaves, self.judge, lambda done: tell(GATHERED * done), label=label
        )
        grouping = merge_invalid_groups(
            self.regrouper, RowGroups.from_labels(self.leaves, self.trees.forest, label), self.judge
        )
        tell(SETTLED, grouping)
        for done, grouping in improve_grouping(self.regrouper, grouping, self.judge):  # noqa: B020 - each is better than the one before
            tell(SETTLED + (1 - SETTLED) * done, grouping)
        if self._best is None or grouping.loss < self._best.loss:
            self._best = grouping
        return self._best

    def _proof(self, best: RowGroups, bound: int) -> LossBound:
        """State the bound in terms of the measure: costs of cells are rounded to units, so half a unit is taken off."""
        cells = self.leaves.size
        shown = max(0, (2 * bound - cells) * DECIMALS // (2 * UNIT * cells)) / DECIMALS
        found = best.loss / (UNIT * cells)
        lower = found if bound >= best.loss else shown
        return LossBound("loss", found, lower, compared_with=self.task.reference_table)


def _progress_note(grouping: RowGroups) -> str:
    return f"loss {grouping.loss / (UNIT * grouping.leaves.size):.4f}"


@dataclass(frozen=True, kw_only=True)
class LocalRecoding(TableAlgorithm):
    r"""Publish every group with the lowest nodes above its records, and search for groups with a small `Loss`.

    First, boxes are opened, each a node of every hierarchy: again and again the one whose records are worth most beyond
    its price. Worths say which records are hard to group; they come from the Lagrangian relaxation of covering all
    records by boxes. The rest is merged where it is cheapest: combinations of levels are visited in the order of what
    their nodes cost, and records that share all nodes with enough others form a group with them. Recoding the rest
    again and again is what ARX does [1]_; here all combinations are visited (for the largest lattices, a selection),
    and nothing is left: at the end, invalid groups join their nearest neighbors. Then groups are improved: a record
    moves to another group, two records are swapped, a group is dissolved, split, or rebuilt around one of its members
    with records that larger groups can spare. Every change is checked against all models. Unless the result is close to
    what is possible, all of this is also tried without opening boxes, and the better result is published.

    The release says a loss below which no local recoding of the table exists: the sum of what records cost in their
    cheapest boxes, or that of worths which no box exceeds, checked on all boxes.

    An attribute with a hierarchy is published with its nodes, one without by its value or `*`. Nothing is suppressed,
    records with equal quasi-identifiers may be published differently, and nothing is random: the same table gives the
    same groups. The work grows about linearly with the records.

    References
    ----------
    .. [1] Prasser, Eicher, Spengler, Bild, Kuhn, "Flexible data anonymization using ARX", Software: Practice and
       Experience 50(7), 2020. https://doi.org/10.1002/spe.2812
    """

    name = "local-recoding"
    reference = "Prasser, Eicher, Spengler, Bild, Kuhn 2020, https://doi.org/10.1002/spe.2812"
    needs_monotone = "always"
    suppresses = False

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            return label_single_group(task)
        search = RegroupingSearch(task)
        grouping, proof = search.run()
        trees = search.trees
        shown, group = np.unique(grouping.label, return_inverse=True)
        recoded = {j: trees.recode(i, grouping.box[shown, i]) for i, j in enumerate(trees.columns)}
        publication = merge_identical_groups(
            group.ravel().astype(np.int32), {column.name: recoded[j] for j, column in enumerate(quasi)}
        )
        return replace(publication, proof=proof)
