"""The search of local recoding: groups from a guided start, or from another one, and a lower bound for their loss."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.local.bounding import dual_bound, min_point_losses, sum_of_min_losses
from sfumato.algorithms.local.guiding import CoveringProblem, GuidedStart, find_guided_start, groups_of_opened_boxes
from sfumato.algorithms.local.improving import LARGE, improve_grouping
from sfumato.algorithms.local.judging import GroupEvaluator
from sfumato.algorithms.local.starting import merge_invalid_groups, merge_under_nodes
from sfumato.algorithms.local.trees import UNIT, HierarchyForest
from sfumato.coding.covering.boxes import choose_box_search
from sfumato.coding.regrouping.rows import Ints, RowGroups, choose_regrouper
from sfumato.core.publication import LossBound

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
