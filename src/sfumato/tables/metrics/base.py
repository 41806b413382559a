"""What every measure provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.tables.published.groups import Counts, Histogram
from sfumato.tables.published.published_table import PublishedColumn, PublishedTable


@dataclass(frozen=True, eq=False)
class MetricInput:
    """What is measured, all counted in records.

    Parameters
    ----------
    columns : the quasi-identifying columns with their distinct texts.
    shown : how many records show each of these texts, by column.
    sizes : how many records every group has.
    suppressed : how many records were suppressed.
    minorities : how many records have another value than most of their group, by sensitive attribute.
    """

    columns: tuple[PublishedColumn, ...]
    shown: Mapping[str, Counts]
    sizes: Counts
    suppressed: int
    minorities: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: PublishedTable, suppressed: int, sensitive: Mapping[str, Histogram] | None = None
    ) -> MetricInput:
        """Count a published table, given the sensitive values in each of its groups."""
        sizes = table.grouped.counts
        shown = {
            column.name: np.bincount(table.by_group(column), sizes, minlength=len(column.texts)).astype(np.int64)
            for column in table.columns
        }
        minorities = {name: _minority(histogram, sizes) for name, histogram in (sensitive or {}).items()}
        return cls(table.columns, shown, sizes, suppressed, minorities)

    @property
    def records(self) -> int:
        """The number of records, including suppressed ones."""
        return int(self.sizes.sum()) + self.suppressed

    def total(self, column: PublishedColumn, costs: npt.NDArray[np.number | np.bool_]) -> float:
        """Sum over all records what the text that they show costs; whole numbers are summed exactly."""
        total: float = (costs * self.shown[column.name]).sum().item()
        return total


def _minority(histogram: Histogram, sizes: Counts) -> float:
    agreeing = histogram.reduce(np.maximum, histogram.counts) / histogram.sizes
    return float(((1 - agreeing) * sizes).sum())


class Metric(ABC):
    """A number that says what a release has lost; 0 or the smallest value is best.

    `of_covers` says whether it measures how much the published cells cover, which means nothing for centers, and
    `of_sensitive` whether it measures sensitive values, which means nothing where there are none.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    of_covers: ClassVar[bool] = False
    of_sensitive: ClassVar[bool] = False

    @abstractmethod
    def compute(self, measured: MetricInput) -> float:
        """Compute the measure."""

    def combine(self, pieces: Sequence[tuple[int, float]], whole: MetricInput) -> float:
        """Put together the numbers of records and the measures of pieces, none of which has suppressed records.

        What published cells cover is averaged over records, of which a suppressed one counts 1. Everything else is
        computed from the sizes and minorities of the whole.
        """
        if not self.of_covers:
            return self.compute(whole)
        return (sum(records * value for records, value in pieces) + whole.suppressed) / whole.records
