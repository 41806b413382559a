"""Searches that go from node to node of a lattice and remember what is known about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.full_domain.exploration import Exploration, NodeStatus
from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Lattice, Levels, nodes_below
from sfumato.algorithms.full_domain.recodings import Recodings
from sfumato.algorithms.full_domain.search import FullDomainSearch
from sfumato.algorithms.losses import RecodingLoss
from sfumato.core.publication import OptimalityProof
from sfumato.models.base import GroupModel

TOLD = 64  # nodes between two progress reports


@dataclass(frozen=True, kw_only=True)
class NodeSearch(FullDomainSearch):
    """A search over lattices of a limited size.

    Class attributes:

    - `most_nodes`: the size above which a lattice is refused;
    - `follows_tags`: whether the search relies on all nodes above a solution being solutions.
    """

    most_nodes: ClassVar[int]
    follows_tags: ClassVar[bool] = True

    def check(self, task: TableRequest) -> str | None:
        """Refuse lattices that are too large, and models for which nodes above a solution may not be solutions."""
        refused = super().check(task)
        if refused is not None:
            return refused
        name = type(self).__name__
        for model in task.models:
            if self.follows_tags and not _remains_valid(model, suppressing=self.refine or task.max_suppressed > 0):
                instead = "use Optimal, or no suppression and no refining" if model.monotone else "use Optimal"
                return f"{name} does not support {model!r}, because recodings above a solution may break it; {instead}."
        nodes = Lattice(tuple(LevelMap.of(column.domain) for column in task.table.quasi)).size
        if nodes > self.most_nodes:
            return f"{name} accepts at most {self.most_nodes:,} recodings, but there are {nodes:,}; use Optimal."
        return None


class NodeFindings:
    """What is known about every node so far."""

    def __init__(self, recodings: Recodings, loss: RecodingLoss) -> None:
        shape = recodings.lattice.shape
        self.recodings, self.loss = recodings, loss
        self.status = np.full(shape, NodeStatus.BOUNDED, dtype=np.int8)
        self.bound = loss.bound(np.full(shape, loss.lowest), loss.start().dense())
        self.losses = np.full(shape, np.nan)
        self.suppressed = np.full(shape, -1, dtype=np.int64)
        self.least = np.inf

    def check(self, levels: Levels, *, fully: bool = False, sparing: bool = False) -> NodeCheck:
        """Check a node and remember what was found."""
        check = self.recodings.check(levels, fully=fully, sparing=sparing)
        self.status[levels] = NodeStatus.ANONYMOUS if check.allowed else NodeStatus.NOT_ANONYMOUS
        if check.allowed:
            self.losses[levels] = self.bound[levels] = self.loss.value(check)
            self.suppressed[levels] = check.suppressed
            self.least = min(self.least, float(self.losses[levels]))
        return check

    def rule_out_below(self, levels: Levels) -> None:
        """Remember that neither a node nor any below it is a solution."""
        self.status[nodes_below(levels)] = NodeStatus.NOT_ANONYMOUS

    def exploration(self, eligible: npt.NDArray[np.bool_] | None = None) -> Exploration:
        """Return what is known, and which eligible solution loses the least; among several, the first in the lattice.

        No node that may be a solution, eligible or not, loses less than the bound of the proof.
        """
        shape = self.status.shape
        levels = np.stack(np.unravel_index(np.arange(self.status.size), shape), axis=1)
        judged = ~np.isnan(self.losses) if eligible is None else eligible & ~np.isnan(self.losses)
        losses = np.where(judged, self.losses, np.inf).ravel()
        best = int(losses.argmin()) if judged.any() else None
        least = float(losses.min())
        bound = float(self.bound[self.status != NodeStatus.NOT_ANONYMOUS].min(initial=least))
        proof = OptimalityProof(
            self.loss.name,
            least,
            bound,
            self.recodings.checked,
            self.status.size,
            compared_with=self.recodings.task.reference_table,
        )
        return Exploration(
            names=tuple(ladder.domain.name for ladder in self.recodings.ladders),
            heights=self.recodings.lattice.top,
            levels=levels.astype(np.int16),
            status=self.status.ravel(),
            loss=self.losses.ravel(),
            bound=self.bound.ravel(),
            suppressed=self.suppressed.ravel(),
            proof=proof,
            best=best,
        )

    def report(self, done: float) -> None:
        """Report how much of the work is done, and the smallest loss so far."""
        note = f"{self.loss.name} {self.least:.4g}" if self.least < np.inf else "nothing found yet"
        self.recodings.task.progress(done, note)


def _remains_valid(model: GroupModel, *, suppressing: bool) -> bool:
    """Return whether all nodes above one that keeps a model also keep it."""
    return model.extendable or (model.monotone and not suppressing)
