"""One model judged on one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core._formatting import json_number
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True)
class Verdict:
    """The level that a table reaches for one model.

    `margin` is how far the level is on the safe side of the limit (negative: broken). `groups` and `records`
    count what breaks the promise. `parts` are the verdicts on the parts of the model, if it has any.
    """

    model: GroupModel
    level: float
    holds: bool
    groups: int
    records: int
    parts: tuple[Verdict, ...] = ()

    @property
    def margin(self) -> float:
        """How far the level is on the safe side of the limit."""
        return float(self.model.margin(np.asarray(self.level, dtype=np.float64)))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain numbers and texts."""
        return {
            "model": self.model.name,
            "parameters": self.model.parameters(),
            "level": json_number(self.level),
            "limit": json_number(self.model.limit),
            "margin": json_number(self.margin),
            "holds": self.holds,
            "violating_groups": self.groups,
            "violating_records": self.records,
            **({"parts": [part.to_dict() for part in self.parts]} if self.parts else {}),
        }


def evaluate(model: GroupModel, groups: Groups, records: Groups) -> Verdict:
    """Judge a model on what an adversary sees as groups; count the records of the groups that break it."""
    level = model.levels(groups)
    by_level = type(model).satisfied_by is GroupModel.satisfied_by  # then nothing has to be computed twice
    kept = model.satisfies(level) if by_level else model.satisfied_by(groups)
    parts = tuple(evaluate(part, groups, records) for part in model.parts) if isinstance(model, Conjunction) else ()
    return Verdict(
        model, model.worst_level(level), bool(kept.all()), int((~kept).sum()), int(records.sizes[~kept].sum()), parts
    )
