"""What all searches over full-domain recodings share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_weight_mapping, require
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.tables.algorithms._global_recoding import GlobalRecoding
from sfumato.tables.algorithms._labels import label_single_group
from sfumato.tables.algorithms.base import Needed, TableRequest
from sfumato.tables.algorithms.full_domain._evaluated_node import NodeCheck
from sfumato.tables.algorithms.full_domain._lattice import (
    Exploration,
    Lattice,
    LevelMap,
    Levels,
    NodeStatus,
    nodes_below,
)
from sfumato.tables.algorithms.full_domain._losses import LOSSES, LossSetting, RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import FoundNode, Recodings
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.solution import OptimalityProof, TableSolution


class ExploredRecodings(NamedTuple):
    """The recodings of a table, and what is known about them."""

    recodings: Recodings
    exploration: Exploration


@dataclass(frozen=True, kw_only=True)
class FullDomainSearch(GlobalRecoding):
    """A search for the levels, one per quasi-identifier, with the smallest loss."""

    needs_monotone: ClassVar[Needed] = "matches-all"

    loss: str = "loss"
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    suppression_factor: float = 0.5
    target: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.loss in tuple(LOSSES)  # of any type, even one that no mapping takes
        require(known, self, "loss", f"one of {', '.join(LOSSES)}", self.loss)
        kind = LOSSES[self.loss]
        factor = self.suppression_factor
        require(
            is_finite_number(factor) and 0 <= factor <= 1, self, "suppression_factor", "a number from 0 to 1", factor
        )
        if not kind.weighted and (self.weights is not None or factor != 0.5):  # noqa: PLR2004 - the default
            raise InvalidParameterError(
                f"{type(self).__name__}: the loss {self.loss!r} has no weights and no suppression_factor; "
                "drop them or choose another loss."
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", _check_weights(self, self.weights))
        if kind.needs_classes != (self.target is not None):
            wanted = "needs a target, the column to predict" if kind.needs_classes else "takes no target"
            raise InvalidParameterError(f"{type(self).__name__}: the loss {self.loss!r} {wanted}.")

    @property
    def target_columns(self) -> tuple[str, ...]:
        """The column to predict, if any."""
        return () if self.target is None else (self.target,)

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that have weights."""
        return tuple(self.weights or ())

    def check(self, task: TableRequest) -> str | None:
        """Refuse weights that leave nothing to choose by."""
        names = {column.name for column in task.table.quasi}
        if names and all((self.weights or {}).get(name, 1.0) == 0 for name in names):
            return f"{type(self).__name__} has weight 0 for every quasi-identifier; give one of them more."
        return super().check(task)

    def recode(self, task: TableRequest) -> TableSolution:
        """Find the best node and publish it."""
        return self.find(task).publish() if task.table.quasi else label_single_group(task)

    def find(self, task: TableRequest) -> FoundNode:
        """Find the best node."""
        recodings, exploration = self.explore(task)
        if exploration.best is None:
            raise InfeasibleError(_infeasible_error(type(self).__name__, recodings))
        return FoundNode(recodings, exploration.node(exploration.best), exploration.proof)

    def explore(self, task: TableRequest, *, complete: bool = False) -> ExploredRecodings:
        """Explore the nodes of the lattice.

        Parameters
        ----------
        task : the table and its models.
        complete : whether to decide for every node whether it is a solution.
        """
        recodings = Recodings(task, self.target)
        setting = LossSetting(
            ladders=recodings.ladders,
            histograms=recodings.histograms,
            smallest_group=recodings.smallest_group,
            weights=self.weights or {},
            suppression_factor=self.suppression_factor,
            stays_good=all(model.extendable for model in task.models),
            classes=None if self.target is None else len(recodings.watched),
        )
        return ExploredRecodings(recodings, self._explore(recodings, LOSSES[self.loss](setting), complete=complete))

    @abstractmethod
    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> Exploration:
        """Explore the nodes of the lattice."""


def _check_weights(owner: FullDomainSearch, weights: object) -> dict[str, float]:
    good = is_weight_mapping(weights) and bool(weights)
    require(good, owner, "weights", "a mapping from names to numbers of at least 0", weights)
    assert isinstance(weights, Mapping)  # noqa: S101 - just required
    return {name: float(weight) for name, weight in weights.items()}


def _infeasible_error(name: str, recodings: Recodings) -> str:
    """Return the error that names the models the most general node breaks, and how close it comes."""
    check = recodings.check(recodings.lattice.top, fully=True)
    broken = [model for model in recodings.task.models if not model.satisfied_by(recodings.groups(check)).all()]
    models = " and ".join(repr(model) for model in broken) or "the models"
    levels = "; ".join(f"{model.name} {model.worst_level(model.levels(recodings.groups(check))):g}" for model in broken)
    looked = "" if recodings.checked >= recodings.lattice.size else f" among the {recodings.checked:,} it checked"
    return (
        f"{name} found no full-domain recoding{looked} that keeps the models with at most {check.limit:,} records "
        f"suppressed: the most general one breaks {models} in {check.suppressed:,} records (it reaches {levels}); "
        "promise less or allow more suppression."
    )


# Searches that go from node to node of a lattice and remember what is known about each.

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
