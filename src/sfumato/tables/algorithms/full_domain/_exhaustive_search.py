"""Find the best node of a lattice whose nodes all fit in memory, and prove it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress, ProgressNote, TimeLimit
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.tables.algorithms.full_domain._evaluated_node import NodeCheck
from sfumato.tables.algorithms.full_domain._lattice import Exploration, Levels, NodeStatus, nodes_above, nodes_below
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.algorithms.full_domain._rollup import SURELY, PruningBounds, RollupEvaluation
from sfumato.tables.published.solution import OptimalityProof

# What the searches for the best node share.

ROUNDING = 1e-12


class BestNodeSearch(ABC):
    """A search that keeps the best node it has seen, and a bound for what it has not seen."""

    def __init__(self, recodings: Recodings, loss: RecodingLoss, progress: Progress, deadline: TimeLimit) -> None:
        self.recodings, self.loss, self.progress, self.deadline = recodings, loss, progress, deadline
        self.best: Levels | None = None
        self.least = np.inf

    @property
    def target_loss(self) -> float:
        """The loss that a better node must stay below, allowing for rounding."""
        return self.least if self.best is None else self.least - ROUNDING * abs(self.least)

    def run(self) -> None:
        """Check nodes until the best is known, time is up, or the user interrupts."""
        try:
            self.seek()
            self._finish()
        except KeyboardInterrupt:
            if self.best is None:
                raise
        self.progress(1.0, self.note())

    def proof(self) -> OptimalityProof:
        """Return how good the best node is."""
        return OptimalityProof(
            self.loss.name,
            self.least,
            self.lower_bound(),
            self.recodings.checked,
            self.recodings.lattice.size,
            compared_with=self.recodings.task.reference_table,
        )

    def note(self) -> str:
        """Describe the state of the search."""
        if self.best is None:
            return "nothing found yet"
        found, bound = self.least, self.lower_bound()
        return ProgressNote(
            f"{self.loss.name} {found:.4g}, lower bound {bound:.4g}", found=float(found), bound=float(bound)
        )

    @abstractmethod
    def exploration(self) -> Exploration:
        """Return the explored nodes."""

    @abstractmethod
    def lower_bound(self) -> float:
        """Return a lower bound for the loss of all solutions."""

    @abstractmethod
    def bound_of(self, levels: Levels) -> float:
        """Return a lower bound for the loss of a node, if it is a solution."""

    @abstractmethod
    def value_of(self, levels: Levels) -> float:
        """Return the loss of a node, checking it if needed; infinite if it is not a solution."""

    @abstractmethod
    def seek(self) -> None:
        """Check nodes until the best is known or time is up."""

    def _finish(self) -> None:
        """Go down from the best node while nothing is lost: among equally good solutions, a lowest one wins."""
        moved = True
        while moved and self.best is not None:
            moved = False
            equal = self.least + ROUNDING * abs(self.least)
            for lower in self.recodings.lattice.below(self.best):
                if self.bound_of(lower) <= equal and self.value_of(lower) <= equal:
                    self.best, self.least, moved = lower, self.value_of(lower), True
                    break

    def hill_climb(self, center: Levels, rng: np.random.Generator | None = None) -> None:
        """Go from a node to a better neighbor while there is one.

        Neighbors are one level away in one attribute, or one level down in one and one level up in another. They are
        tried by increasing bound, or in random order.
        """
        value, moved = self.value_of(center), True
        while moved and not self.deadline.passed():
            moved = False
            near = sorted(self._neighbors(center), key=self.bound_of)
            order = range(len(near)) if rng is None else rng.permutation(len(near))
            for node in (near[i] for i in order):
                if self.deadline.passed():
                    break
                if self.bound_of(node) < value and (found := self.value_of(node)) < value:
                    center, value, moved = node, found, True
                    break

    def _neighbors(self, levels: Levels) -> list[Levels]:
        lattice = self.recodings.lattice
        lower = list(lattice.below(levels))
        swapped = [
            other for low in lower for other in lattice.above(low) if other != levels and sum(other) == sum(levels)
        ]
        return [*lower, *swapped, *lattice.above(levels)]


PATIENCE = 3  # failed dives after which the search goes on from the best node
CLOSE = 0.3  # difference in the logarithm of cells at which bisection ends
SMALL = 1 << 15  # nodes up to which proving finds better solutions as fast as climbing
BATCH = 8  # the fewest nodes chosen at once
BLUR = 0.3  # of the border, in the logarithm of cells
NODES_PER_CHOICE = 4000  # more of them in larger lattices, where choosing takes longer
ROLLED_UP = 1 << 20  # combinations in all candidates from which a compiled walk pays off
WORTH_WAITING = 1 << 25  # combinations in all candidates from which compiling first is faster than checks


class SolutionBorder:
    """Where solutions end: learned from checked nodes by the logarithm of their numbers of cells."""

    def __init__(self) -> None:
        self._cells: list[float] = []
        self._beyond: list[bool] = []

    def note(self, cells: float, *, beyond: bool) -> None:
        """Store the result of a check."""
        self._cells.append(cells)
        self._beyond.append(beyond)

    @property
    def is_bracketed(self) -> bool:
        """Whether there were both solutions and others."""
        return any(self._beyond) and not all(self._beyond)

    def likely_beyond(self, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Estimate how likely nodes are not solutions: the border is where it explains most checks."""
        order = np.argsort(self._cells, kind="stable")
        seen, beyond = np.array(self._cells)[order], np.array(self._beyond)[order]
        mistaken = np.cumsum(beyond) + np.cumsum(~beyond[::-1])[::-1] - ~beyond
        border = seen[mistaken == mistaken.min()].mean()
        return np.asarray(1 / (1 + np.exp((border - cells) / BLUR)))


class ExhaustiveSearch(BestNodeSearch):
    """Search with proof.

    For every node the search knows a lower bound of its loss. A checked node raises the bounds below it (they also
    suppress what it must suppress) and above it (larger groups also lose what its groups lose), and a node that
    suppresses too much rules out everything below. First it dives for a good solution: among nodes with few enough
    cells, the one with the smallest bound, where bisection finds how many cells are few enough. From there, in large
    lattices, it climbs to the best in the neighborhood. Then it checks nodes that would rule out most candidates, or,
    where loops are compiled for the models, walks over all candidates from the top and checks the best of them.
    """

    def __init__(self, recodings: Recodings, loss: RecodingLoss, progress: Progress, deadline: TimeLimit) -> None:
        super().__init__(recodings, loss, progress, deadline)
        shape = recodings.lattice.shape
        self.below = np.broadcast_to(loss.start().dense(), shape).copy()
        self.above = np.full(shape, loss.lowest)
        self.bound = loss.bound(self.above, self.below)
        self.cells = recodings.lattice.cells().dense()
        self.status = np.full(shape, NodeStatus.BOUNDED, dtype=np.int8)
        self.unknown = np.ones(shape, dtype=np.bool_)
        self.losses = np.full(shape, np.nan)
        self.suppressed = np.full(shape, -1, dtype=np.int64)
        self._border = SolutionBorder()
        self._walked = np.zeros(shape, dtype=np.bool_)

    @cached_property
    def _rolling_up(self) -> RollupEvaluation | None:
        return RollupEvaluation.of(self.recodings, self.loss.cell_costs())

    def decide_all(self) -> None:
        """Decide for every node whether it is a solution."""
        self._evaluate_by_rollup(self.status == NodeStatus.BOUNDED)
        while (unknown := np.flatnonzero(self.status == NodeStatus.BOUNDED)).size:
            middle = np.argsort(self.cells.ravel()[unknown], kind="stable")[len(unknown) // 2]
            self.check(self._levels(unknown[middle]))

    def exploration(self) -> Exploration:
        """Return the explored nodes."""
        shape = self.status.shape
        levels = np.stack(np.unravel_index(np.arange(self.status.size), shape), axis=1).astype(np.int16)
        best = None if self.best is None else int(np.ravel_multi_index(self.best, shape))
        return Exploration(
            names=tuple(ladder.domain.name for ladder in self.recodings.ladders),
            heights=self.recodings.lattice.top,
            levels=levels,
            status=self.status.ravel(),
            loss=self.losses.ravel(),
            bound=np.where(np.isnan(self.losses), self.bound, self.losses).ravel(),
            suppressed=self.suppressed.ravel(),
            proof=self.proof(),
            best=best,
        )

    def lower_bound(self) -> float:
        """Return the smallest bound of the remaining nodes, or the smallest loss."""
        return min(self.least, float(self.bound[self._candidates()].min(initial=np.inf)))

    def bound_of(self, levels: Levels) -> float:
        """Return a lower bound for the loss of a node, if it is a solution."""
        return float(self.bound[levels])

    def value_of(self, levels: Levels) -> float:
        """Return the loss of a node, checking it if needed; infinite if it is not a solution."""
        if self.unknown[levels]:
            self.check(levels)
        return float(np.nan_to_num(self.losses[levels], nan=np.inf))

    def check(self, levels: Levels) -> NodeCheck:
        """Check a node, and record what follows for the nodes below and above."""
        check = self.recodings.check(levels, sparing=self.loss.by_generalization)
        self.recodings.checked -= bool(self._walked[levels])  # no node counts twice
        below, above = nodes_below(levels), nodes_above(levels)
        if check.allowed:
            self._accept(levels, check)
        else:
            self.status[levels] = NodeStatus.NOT_ANONYMOUS
        if check.lost_below > check.limit:
            self.status[below], self.unknown[below] = NodeStatus.NOT_ANONYMOUS, False
        elif check.lost_below:
            np.maximum(self.below[below], self.loss.below(check).dense(), out=self.below[below])
            self.bound[below] = self.loss.bound(self.above[below], self.below[below])
        higher = self.loss.above(check) if check.whole else None
        if higher is not None:
            np.maximum(self.above[above], higher.dense(), out=self.above[above])
            self.bound[above] = self.loss.bound(self.above[above], self.below[above])
        self.unknown[levels] = False
        self._border.note(float(self.cells[levels]), beyond=not check.allowed)
        return check

    def seek(self) -> None:
        """Dive, climb, prove."""
        self._dive()
        if self.best is not None and self.status.size > SMALL:
            self.hill_climb(self.best)
        self._prove()

    def _dive(self) -> None:
        low, high, vain = 0.0, float(self.cells.max()), 0
        few = (low + high) / 2
        while vain <= PATIENCE and not self.deadline.passed():
            near = np.flatnonzero(self._candidates() & (self.cells <= few))
            if not len(near):
                break
            chosen = near[np.lexsort((-self.cells.ravel()[near], self.bound.ravel()[near]))[0]]
            before = self.least
            check = self.check(self._levels(chosen))
            low, high = (few, high) if check.allowed else (low, few)
            vain += self.least >= before
            few = (low + high) / 2 if high - low > CLOSE else few - CLOSE * (not check.allowed)
        if self.best is None:
            self.value_of(self.recodings.lattice.top)

    def _evaluate_by_rollup(self, wanted: npt.NDArray[np.bool_], hopes: PruningBounds | None = None) -> bool:
        """Judge nodes at once, if loops are compiled for that; losses of solutions are then known up to rounding.

        With hopes, of nodes that cannot be the best no more is known than that, and what seems best is checked.
        """
        many = int(np.count_nonzero(wanted)) * len(self.recodings.sources[0].combinations)
        if many < ROLLED_UP or self._rolling_up is None or self._walked[wanted].all():
            return False
        if not should_compile_for(many, ROLLED_UP, WORTH_WAITING):
            return False
        found = self._rolling_up.run(wanted, self.deadline, hopes)
        seen, bad = found.suppressed >= 0, found.suppressed > self.recodings.limit
        self.status[found.exact], self.status[bad] = NodeStatus.ANONYMOUS, NodeStatus.NOT_ANONYMOUS
        self.suppressed[found.exact] = found.suppressed[found.exact]
        self.below[seen] = np.maximum(self.below[seen], found.loss[seen] - SURELY)
        self.bound[seen] = self.loss.bound(self.above[seen], self.below[seen])
        self.recodings.checked += int(np.count_nonzero(found.judged & self.unknown))
        self._walked |= seen
        self.unknown[bad] = False
        if hopes is not None and found.exact.any():
            self.check(self._levels(np.where(found.exact, found.loss, np.inf).argmin()))
        return True

    def _prove(self) -> None:
        while (candidates := self._candidates()).any() and not self.deadline.passed():
            self.progress(1 - np.count_nonzero(candidates) / self.status.size, self.note())
            if self._evaluate_by_rollup(candidates, PruningBounds(self.target_loss, self.bound)):
                continue
            for place in self._reporting(candidates):
                if self.deadline.passed():
                    break
                levels = self._levels(place)
                if self.unknown[levels] and (candidates[levels] <= (self.bound[levels] < self.target_loss)):
                    self.check(levels)

    def _reporting(self, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """Choose nodes that would decide most candidates.

        A node that suppresses too much decides all nodes below it, so it need not be a candidate itself, but must have
        enough cells for that to be likely.
        """
        if self._walked[candidates].all():
            places = np.flatnonzero(candidates)
            return places[[np.argmin(self.bound.ravel()[places])]]
        score = _count_below(candidates).astype(np.float64)
        if not self.loss.by_generalization:
            score *= np.flip(_count_below(np.flip(candidates))) * candidates
        elif self._border.is_bracketed:
            score *= self._border.likely_beyond(self.cells) * self.unknown
        else:
            score *= candidates
        places = np.flatnonzero(score)
        few = min(max(BATCH, self.status.size // NODES_PER_CHOICE), len(places)) - 1
        chosen = np.argpartition(-score.ravel()[places], few)[: few + 1]
        return places[chosen[np.argsort(-score.ravel()[places[chosen]], kind="stable")]]

    def _candidates(self) -> npt.NDArray[np.bool_]:
        return (self.bound < self.target_loss) & self.unknown

    def _levels(self, place: np.intp) -> Levels:
        return tuple(int(level) for level in np.unravel_index(place, self.status.shape))

    def _accept(self, levels: Levels, check: NodeCheck) -> None:
        self.status[nodes_above(levels) if self.recodings.tagged_above else levels] = NodeStatus.ANONYMOUS
        self.losses[levels], self.suppressed[levels] = self.loss.value(check), check.suppressed
        if self.losses[levels] < self.least:
            self.least, self.best = float(self.losses[levels]), levels


def _count_below(nodes: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Count for every node how many of some nodes are at or below it."""
    counts = nodes.astype(np.int32)
    for axis, levels in enumerate(nodes.shape):
        along = np.moveaxis(counts, axis, 0)
        for level in range(1, levels):
            along[level] += along[level - 1]
    return counts
