"""What the searches for the best node share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sfumato.algorithms.deadline import TimeLimit
from sfumato.algorithms.full_domain.exploration import Exploration
from sfumato.algorithms.full_domain.lattice import Levels
from sfumato.algorithms.full_domain.recodings import Recodings
from sfumato.algorithms.losses import RecodingLoss
from sfumato.core.progress import Progress, ProgressNote
from sfumato.core.publication import OptimalityProof

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
