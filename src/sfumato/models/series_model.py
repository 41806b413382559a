"""What a promise about a whole series of releases provides."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from sfumato.core.history import History
from sfumato.models.base import GroupModel

Answer = Literal["holds", "broken", "not shown"]


@dataclass(frozen=True)
class SeriesEvaluation:
    """Whether a promise holds over a series, the level reached, and how many persons and groups break it.

    `"not shown"` means that neither was proved; it does not count as kept.
    """

    answer: Answer
    level: float
    individuals: int = 0
    groups: int = 0


class SeriesModel(GroupModel):
    """A promise about what everybody who holds all releases of a series learns about a person.

    A single table is the series of length one: what `kept_by` sees of its groups is the part of the promise that can be
    seen in one release, and all that a search can keep without knowing the earlier ones. Where the attribute is in
    buckets, these are the groups.
    """

    applies_to_buckets = True

    @abstractmethod
    def evaluate_series(self, history: History, *, linked: int = 0) -> SeriesEvaluation:
        """Judge a series; `linked` groups show something else beside a value, by which rows can be recognized."""
