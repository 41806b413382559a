"""Groups that show several values, each equally often: what m-invariance and m-distinct ask of one release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.groups import Histogram
from sfumato.models.base import Levels
from sfumato.models.series_model import SeriesModel
from sfumato.validation import is_integer, require


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
