"""The promise of a table that has sets beside its rows, by any model for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sfumato.baskets.published import PublishedSets
from sfumato.baskets.sets_beside_table import SetsBesideTable
from sfumato.catalogue import MODELS
from sfumato.exceptions import UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.base import PrivacyModel
from sfumato.models.words import ModelWords
from sfumato.recipe import choice_of
from sfumato.validation import require


@dataclass(frozen=True, kw_only=True, repr=False)
class TablePromise(KindPromise[PublishedSets]):
    """The table beside which sets are published keeps a model for tables, such as `sf.KAnonymity(k=5)`.

    Parameters
    ----------
    model : what the table promises.
    """

    name = "table-promise"
    reference = "see the model"
    counted = "groups of rows"
    stricter: ClassVar = {}
    words = ModelWords(
        title="A promise of the table",
        level="level of the worst group of rows",
        promise="The table keeps its own promise for every group of rows with the same quasi-identifiers.",
        stops="Linking by quasi-identifiers: somebody who knows them looks for the only row with them.",
        open="See the documentation of the model for what it leaves open.",
    )

    model: PrivacyModel

    def __post_init__(self) -> None:
        given: Any = self.model
        model = choice_of(MODELS, given, "model") if isinstance(given, Mapping) else given
        require(isinstance(model, PrivacyModel), self, "model", "a model for tables", type(model).__name__)
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

    def kept_at(self, level: float) -> bool:
        """Return whether a level is on the safe side of the limit, as the model says."""
        return bool(self.model.kept_at(level))  # type: ignore[arg-type]  # one number as well as many

    def judge(self, published: PublishedSets) -> KindVerdict:
        """Judge the table alone."""
        if not isinstance(published, SetsBesideTable):
            raise UnsupportedModelError("A promise of a table needs rows with sets; see sf.baskets.RowsWithSets.")
        found = published.judged(self.model)
        return KindVerdict(self, found.level, found.groups)
