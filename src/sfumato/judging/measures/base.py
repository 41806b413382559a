"""What every measure provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sfumato.core.groups import Histogram
from sfumato.core.published.table import PublishedTable


@dataclass(frozen=True, eq=False)
class Measured:
    """What is measured: a published table, how many records were suppressed, and sensitive values in every group."""

    table: PublishedTable
    suppressed: int
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """The number of records, including suppressed ones."""
        return self.table.rows + self.suppressed


class Measure(ABC):
    """A number that says what a release has lost; 0 or the smallest value is best.

    `of_covers` says whether it measures how much the published cells cover, which means nothing for centers, and
    `of_sensitive` whether it measures sensitive values, which means nothing where there are none.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    of_covers: ClassVar[bool] = False
    of_sensitive: ClassVar[bool] = False

    @abstractmethod
    def compute(self, measured: Measured) -> float:
        """Compute the measure."""
