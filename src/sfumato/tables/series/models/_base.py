"""Groups that show several values, each equally often: what m-invariance and m-distinct ask of one release."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Histogram
from sfumato.tables.series.history import History

# What a promise about a whole series of releases provides.

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


@dataclass(frozen=True, kw_only=True)
class UniformGroups(SeriesModel):
    """A promise that every group shows at least m different values, or classes of values, each equally often."""

    bound = "min"
    monotone = False
    stricter: ClassVar = {"m": "larger"}

    m: int
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.m) and self.m >= 1, self, "m", "a whole number of at least 1", self.m)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The smallest number of different values."""
        return self.m

    @property
    def min_group_size(self) -> int:
        """A group has at most as many values as records."""
        return self.m


def count_uniform_values(histogram: Histogram) -> Levels:
    """Count the values of every group that shows each of them equally often; 0 for any other."""
    most = histogram.reduce(np.maximum, histogram.counts)
    least = histogram.reduce(np.minimum, histogram.counts)
    even = (most == least) & (histogram.missing == 0)
    return np.where(even, np.diff(histogram.offsets), 0).astype(np.float64)
