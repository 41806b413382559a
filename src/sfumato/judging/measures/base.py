"""What a measure is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from sfumato.core.published.table import PublishedTable


@dataclass(frozen=True, eq=False)
class Measured:
    """What is measured: a published table, and how many records were left out of it."""

    table: PublishedTable
    suppressed: int

    @property
    def records(self) -> int:
        """How many records there were before any was left out."""
        return self.table.rows + self.suppressed


class Measure(ABC):
    """A number that says what a release has lost; 0 or the least value is best.

    `of_covers` tells whether it measures how much the published cells cover: it says nothing where they are centers.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    of_covers: ClassVar[bool] = False

    @abstractmethod
    def compute(self, measured: Measured) -> float:
        """Compute the measure."""
