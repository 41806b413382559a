"""The search of local recoding: groups from a guided start, or from another one, and a lower bound for their loss."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from sfumato.algorithms.base import Task
from sfumato.algorithms.local.bounding import cheapest_prices, strong_bound, weak_bound
from sfumato.algorithms.local.guiding import Cover, Guide, guide, opened_rows
from sfumato.algorithms.local.improving import LARGE, improvements
from sfumato.algorithms.local.judging import Judge
from sfumato.algorithms.local.starting import gathered, settled
from sfumato.algorithms.local.trees import UNIT, QuasiTrees
from sfumato.coding.covering.boxes import coverer_for
from sfumato.coding.regrouping.rows import Grouping, Ints, regrouper_for
from sfumato.core.publication import Bound

WORTHS, GATHERED, SETTLED = 0.3, 0.5, 0.6  # shares of the work: of all, and of what follows a start
BOTH_STARTS = 5000  # rows up to which both starts are always tried
CLOSE = 115  # percent of the lower bound: a result from the guided start that is so close is not compared
DECIMALS = 10**6  # a lower bound is rounded down to so many parts of the largest loss


class RegroupingSearch:
    """A search for groups with a small loss, from one start or two, and for a lower bound."""

    def __init__(self, task: Task) -> None:
        self.task, self.judge = task, Judge(task)
        self.trees = QuasiTrees.of(task.table.quasi)
        self.leaves = self.trees.places(task.table.quasi)
        self.regrouper, self.coverer = regrouper_for(task.table.rows), coverer_for(task.table.rows)
        self._best: Grouping | None = None

    def run(self) -> tuple[Grouping, Bound | None]:
        """Return the best groups found, and what is proven about the loss of all that are allowed."""
        if self.task.table.rows < self.judge.least:
            return self._improved(None, 0.0, 1.0), None
        cover = Cover.of(self.trees, self.leaves, self.judge.least)
        with ThreadPoolExecutor(1) as aside:
            cheapest = aside.submit(cheapest_prices, self.coverer, cover)
            found = self._guide(cover, cheapest)
            strong = aside.submit(self._strong_bound, cover, found)
            if found is not None:
                self._improved(opened_rows(cover, found.opened, self.judge), WORTHS, (1 + WORTHS) / 2)
            bound = max(weak_bound(cover, cheapest.result()), strong.result())
        best = self._best
        if best is None or not self._close(best, bound):
            best = self._improved(None, WORTHS if best is None else (1 + WORTHS) / 2, 1.0)
        self.task.progress(1.0, _note(best))
        return best, self._proof(best, bound)

    def _guide(self, cover: Cover, cheapest: Future[Ints]) -> Guide | None:
        """Open boxes by worths; where sizes do not suffice, these are a guess, which large tables do without."""
        if not cover.small or not (self.judge.size_suffices or self.task.table.rows < LARGE):
            return None
        return guide(self.coverer, cover, cheapest.result())

    def _strong_bound(self, cover: Cover, found: Guide | None) -> int:
        return 0 if found is None else strong_bound(self.coverer, cover, found.worths)

    def _close(self, best: Grouping, bound: int) -> bool:
        """Return whether the other start need not be tried: the first one is good, and known to be usually better."""
        if best.loss <= bound:
            return True
        usual = self.judge.size_suffices and self.task.table.rows > BOTH_STARTS
        return usual and 100 * best.loss <= CLOSE * bound

    def _improved(self, label: Ints | None, begin: float, end: float) -> Grouping:
        """Improve groups that begin with opened boxes, or with nothing, and return the best so far."""

        def tell(share: float, grouping: Grouping | None = None) -> None:
            known = [each for each in (self._best, grouping) if each is not None]
            self.task.progress(begin + (end - begin) * share, *map(_note, sorted(known, key=lambda g: g.loss)[:1]))

        label = gathered(
            self.regrouper, self.trees, self.leaves, self.judge, lambda done: tell(GATHERED * done), label=label
        )
        grouping = settled(self.regrouper, Grouping.of(self.leaves, self.trees.forest, label), self.judge)
        tell(SETTLED, grouping)
        for done, grouping in improvements(self.regrouper, grouping, self.judge):  # noqa: B020 - each is better than the one before
            tell(SETTLED + (1 - SETTLED) * done, grouping)
        if self._best is None or grouping.loss < self._best.loss:
            self._best = grouping
        return self._best

    def _proof(self, best: Grouping, bound: int) -> Bound:
        """State the bound in terms of the measure: costs of cells are rounded to units, so half a unit is taken off."""
        cells = self.leaves.size
        shown = max(0, (2 * bound - cells) * DECIMALS // (2 * UNIT * cells)) / DECIMALS
        found = best.loss / (UNIT * cells)
        lower = found if bound >= best.loss else shown
        return Bound("loss", found, lower, compared_with=self.task.compared_with)


def _note(grouping: Grouping) -> str:
    return f"loss {grouping.loss / (UNIT * grouping.leaves.size):.4f}"
