"""What the columns of a table look like that stays in its engine, and its risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sfumato.inspection.profile import SampledProfile, ValueProfile, get_cell_type, profile_column
from sfumato.inspection.raw_risk import RawTableRisk, risk_from_profiles, risk_from_sizes
from sfumato.sources.base import WEIGHT, TablePiece, TableProfile, TooManyCombinationsError, check_no_reserved_names
from sfumato.sources.duckdb_source import DuckDBSource

BYTES_PER_VALUE = 800  # of a value or combination that is looked at, while its engine may still hold it
ALWAYS_FITTING = 1000  # combinations that fit anyway: pieces are never quite even, least of all small ones
ESTIMATE_MARGIN = 1.25  # an estimate may be too low by a quarter
NOT_COUNTED = (
    "How many records would be unique without each quasi-identifier was not counted, because there are too many "
    "combinations for memory; give more memory to count them."
)
NO_CODES: npt.NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class EngineColumns:
    """The columns of a table in its engine, looked at one after the other.

    Parameters
    ----------
    source, described : the table, and what one scan told of it.
    most : how many values or combinations fit into memory.
    remarks : is told of columns of which only some values were looked at.
    """

    source: DuckDBSource
    described: TableProfile
    most: int
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def from_source(cls, source: DuckDBSource, budget: int) -> Self:
        """Scan a table once."""
        check_no_reserved_names(source.names)
        return cls(source, source.profile(source.names, ()), budget // BYTES_PER_VALUE)

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.described.rows

    def profile(self, name: str) -> ValueProfile:
        """Count the values of a column; if they do not fit, hold some of them."""
        column = self.described.column(name)
        try:
            if self.source.estimate([name]) > 2 * self.most:  # an estimate, so what may fit is tried
                return self._sample_profile(name)
            counts = self.source.count([name], self.most, lambda _: None).sort_by(name)
        except TooManyCombinationsError:
            return self._sample_profile(name)
        known = counts.filter(counts[name].is_valid())
        return ValueProfile(
            name=name,
            kind=get_cell_type(column.type),
            rows=self.rows,
            values=known[name].combine_chunks(),
            codes=NO_CODES,
            counts=np.append(known[WEIGHT].to_numpy(), column.missing),
        )

    def _sample_profile(self, name: str) -> ValueProfile:
        column, found = self.described.column(name), self.source.sample_values(name, self.most)
        self.remarks.append(
            f"Column {name!r} has {found.many:,} values, of which {len(found.some):,} were looked at; give more memory "
            "to look at all of them."
        )
        return SampledProfile(
            name=name,
            kind=get_cell_type(column.type),
            rows=self.rows,
            values=found.some,
            codes=NO_CODES,
            counts=np.zeros(0, dtype=np.int64),
            many=found.many,
            lost=column.missing,
            pairs=found.pairs + column.missing * (column.missing - 1),
        )

    def correspond(self, one: str, other: str) -> bool:
        """Return whether the values of two columns with equally many values correspond one to one."""
        try:
            found = self.source.count([one, other], self.most, lambda _: None)
        except TooManyCombinationsError:
            return False  # as many as there are values would have fitted
        both = found.filter(pc.and_(found[one].is_valid(), found[other].is_valid()))
        return bool(both.num_rows == pc.count_distinct(found[one], mode="only_valid").as_py())

    def risk(self, quasi: Sequence[str]) -> tuple[RawTableRisk, list[str]]:
        """Measure the risk, given some columns; say what was not measured."""
        pieces = max(1, -(-int(self.source.estimate(quasi) * ESTIMATE_MARGIN) // self.most)) if quasi else 1
        if pieces == 1:
            counts = self.source.count(quasi, 2 * self.most + ALWAYS_FITTING, lambda _: None)
            profiles = [profile_column(name, counts[name]) for name in quasi]
            return risk_from_profiles(profiles, self.rows, weights=counts[WEIGHT].to_numpy()), []
        return risk_from_sizes(quasi, self._sizes(quasi, pieces)), [NOT_COUNTED]

    def _sizes(self, quasi: Sequence[str], pieces: int) -> Iterator[npt.NDArray[np.int64]]:
        for number in range(pieces):
            counts = self.source.count(
                quasi, 2 * self.most + ALWAYS_FITTING, lambda _: None, TablePiece(number, pieces, tuple(quasi))
            )
            if counts.num_rows:
                yield counts[WEIGHT].to_numpy()
