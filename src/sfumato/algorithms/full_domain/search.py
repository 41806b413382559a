"""What all searches over full-domain recodings share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from sfumato.algorithms.base import Needed, TableRequest
from sfumato.algorithms.full_domain.exploration import Exploration
from sfumato.algorithms.full_domain.recodings import FoundNode, Recodings
from sfumato.algorithms.global_recoding import GlobalRecoding
from sfumato.algorithms.losses import LOSSES, LossSetting, RecodingLoss
from sfumato.algorithms.publishing import label_single_group
from sfumato.core.publication import TableSolution
from sfumato.exceptions import InfeasibleError, InvalidParameterError
from sfumato.validation import is_finite_number, is_weight_mapping, require


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
