"""What is kept of the groups of a table that was judged piece by piece: their sizes, and the worst of their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.coding.domain import Domain
from sfumato.core.groups import Groups
from sfumato.core.published.totals import SensitiveTotals
from sfumato.exceptions import InvalidParameterError
from sfumato.models.base import GroupModel
from sfumato.schema.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseCounts:
    """Sizes of all groups of a table, its sensitive values as a whole, and what its worst groups give away.

    Everything else about single groups was counted, judged and forgotten.
    """

    schema: Schema
    sizes: npt.NDArray[np.int64]
    totals: SensitiveTotals
    rare: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """The domains of the sensitive attributes."""
        return {name: column.domain for name, column in self.totals.columns.items()}

    def of(self, model: GroupModel) -> tuple[Groups, Groups]:
        """Return the groups for a model of their sizes; refuse one of sensitive values or of some columns."""
        if model.sensitive_attributes or model.scope or model.needs_population:
            raise InvalidParameterError(
                f"{type(model).__name__} cannot be judged any more: the table was judged in pieces, and of its groups "
                "only the sizes are kept; name the model when the table is audited."
            )
        groups = Groups(self.sizes)
        return groups, groups

    def compared(self, model: GroupModel) -> GroupModel:
        """Return a model as it is: those that read values are refused anyway."""
        return model

    def labels_of(self, model: GroupModel) -> npt.NDArray[np.int32]:
        """Refuse to tell the group of a row: no rows are kept."""
        raise InvalidParameterError(
            f"Which rows break {type(model).__name__} is not known of a table that was judged in pieces; audit the "
            "piece that holds them."
        )

    def published_values(self, model: GroupModel) -> set[str]:
        """Return the sensitive values that a model reads and the published table shows."""
        return {text for name in model.sensitive_attributes for text in self.totals.texts(name)}

    def rarest(self, name: str) -> tuple[float, int]:
        """Return the least frequency-l-diversity of a sensitive attribute, and the records of the groups with it."""
        return self.rare[name]
