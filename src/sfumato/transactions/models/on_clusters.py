"""The promise of a table that has sets beside its rows, by any model for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sfumato._validation import require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.core.recipe import instantiate_choice
from sfumato.errors import UnsupportedModelError
from sfumato.tables._catalogue import MODELS
from sfumato.tables.models.base import GroupModel
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.table_with_transactions import PublishedTableWithTransactions


@dataclass(frozen=True, kw_only=True, repr=False)
class OnClusters(Model[PublishedTransactions]):
    """The table beside which sets are published keeps a model for tables, such as `sf.models.KAnonymity(k=5)`.

    Parameters
    ----------
    model : what the table promises.
    """

    name = "table-promise"
    reference = "see the model"
    unit = "groups of rows"
    stricter: ClassVar = {}
    words = ModelDescription(
        title="A promise of the table",
        level="level of the worst group of rows",
        promise="The table keeps its own promise for every group of rows with the same quasi-identifiers.",
        stops="Linking by quasi-identifiers: somebody who knows them looks for the only row with them.",
        open="See the documentation of the model for what it leaves open.",
    )

    model: GroupModel

    def __post_init__(self) -> None:
        given: Any = self.model
        model = instantiate_choice(MODELS, given, "model") if isinstance(given, Mapping) else given
        require(isinstance(model, GroupModel), self, "model", "a model for tables", type(model).__name__)
        object.__setattr__(self, "model", model)

    @property
    def bound(self) -> Literal["min", "max"]:  # type: ignore[override]  # of the model
        """Which side of the limit is safe."""
        return self.model.bound

    @property
    def limit(self) -> float:
        """The level that the model requires."""
        return float(self.model.limit)

    def parameters(self) -> dict[str, Any]:
        """Return the model as a recipe holds it."""
        return {"model": {"name": self.model.name, **self.model.parameters()}}

    def satisfies(self, level: float) -> bool:
        """Return whether a level is on the safe side of the limit, as the model says."""
        return bool(self.model.satisfies(level))  # type: ignore[arg-type]  # one number as well as many

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Judge the table alone."""
        if not isinstance(published, PublishedTableWithTransactions):
            raise UnsupportedModelError(
                "A promise of a table needs rows with sets; see sf.transactions.TableWithTransactions."
            )
        found = published.evaluate_model(self.model)
        return Verdict(self, found.level, found.groups)
