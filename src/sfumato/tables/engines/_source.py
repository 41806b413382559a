"""What an engine does with rows that Python never holds all at once: describe, count, and write them recoded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InfeasibleError, SchemaError, SfumatoError
from sfumato.io._columns import strip_metadata
from sfumato.io._individuals import RowsPerIndividual

WEIGHT = "_records"  # the column of counted combinations that says how many records each stands for
GROUP = "_group"  # the column that says in which group a combination is published
RANK = "_rank"  # begins the names of columns that say where the group of a combination stands
NOWHERE = -1  # the group of a combination that is not published
INDEX = re.compile(r"__index_level_\d+__")  # an unnamed pandas index
FACTS = 3  # that are asked of every column
ReportProgress: TypeAlias = Callable[[float], None]
Code: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, pa.RecordBatch, int]]


class TooManyCombinationsError(SfumatoError):
    """A table has more combinations than memory holds.

    Parameters
    ----------
    most : how many it holds.
    columns : how many columns are combined.
    """

    def __init__(self, most: int, columns: int) -> None:
        super().__init__(
            f"The table has more than {most:,} combinations of {columns} columns, more than fit into memory."
        )


@dataclass(frozen=True)
class ColumnProfile:
    """One column: its canonical type, how many cells are missing, its time zone.

    `stars` counts texts of nothing but stars, which mean suppressed.
    """

    name: str
    type: pa.DataType
    missing: int
    zone: str = ""
    stars: int = 0


@dataclass(frozen=True)
class TableProfile:
    """What one scan tells of a table: its rows, its columns, and a digest that no order of rows changes.

    `combinations` estimates how many combinations of the columns differ that were asked for together.
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    combinations: int
    digest: str

    def column(self, name: str) -> ColumnProfile:
        """Return one column."""
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True, eq=False)
class ValueSample:
    """Some values of a column that has too many, how many there are, and how many pairs of records share one."""

    some: pa.Array
    many: int
    pairs: int


class EngineColumn(Protocol):
    """A column as an engine has it, and what it asks of all its cells."""

    @property
    def name(self) -> str:
        """The name that users know."""

    def canonical(self, *, filled: bool, plain: bool, odd: int) -> tuple[Any, pa.DataType]:
        """Return the expression of its canonical cells, and their type, as its facts decide them."""


def build_profiles(
    columns: Sequence[EngineColumn], facts: Sequence[Any], rows: int, zones: Mapping[str, str]
) -> tuple[tuple[ColumnProfile, ...], list[Any]]:
    """Describe columns by what one scan found of them.

    Parameters
    ----------
    columns : the columns.
    facts : three of every column: the number of filled cells, whether all are plain, and the number of odd ones.
    rows : the number of rows.
    zones : the time zones of columns of moments.

    Returns
    -------
    tuple
        The profiles, and the expressions of canonical cells.
    """
    profiles, cells = [], []
    for at, column in enumerate(columns):
        filled, plain, odd = facts[FACTS * at : FACTS * (at + 1)]
        cell, kind = column.canonical(filled=bool(filled), plain=plain, odd=odd)
        zone = zones.get(column.name, "") if pa.types.is_timestamp(kind) else ""
        stars = odd if pa.types.is_string(kind) else 0
        profiles.append(ColumnProfile(column.name, kind, rows - filled, zone, stars))
        cells.append(cell)
    return tuple(profiles), cells


@dataclass(frozen=True)
class TablePiece:
    """One of several disjoint pieces of a table: rows that agree on some columns are in the same piece.

    With `through`, all rows are meant that have a cell of this column which occurs in the piece; missing cells do not.
    """

    number: int
    of: int
    by: tuple[str, ...]
    through: str | None = None


@dataclass(frozen=True, eq=False)
class CombinationRecoding:
    """A recoding by combinations of values.

    Parameters
    ----------
    cases : every combination of quasi-identifiers once, and the group it is published in as `GROUP`.
    shown : those of them that are recoded, as published, one row per group.
    names : all published columns in their order.
    order : what rows are ordered by, the first counting most: ranks of groups, or the name of a column.
    records : how many records every group has.
    """

    cases: pa.Table
    shown: pa.Table
    names: tuple[str, ...]
    order: tuple[str | npt.NDArray[np.int64], ...]
    records: npt.NDArray[np.int64]

    @property
    def quasi(self) -> list[str]:
        """The columns that decide the group of a row."""
        return [name for name in self.cases.column_names if name != GROUP]

    @property
    def unchanged_columns(self) -> list[str]:
        """The columns that are published as they are."""
        return [name for name in self.names if name not in self.shown.column_names]

    @property
    def published_groups(self) -> pa.Table:
        """What is published of every group, and the group as `GROUP`."""
        groups = pa.array(range(self.shown.num_rows), pa.int32())
        return strip_metadata(self.shown).append_column(GROUP, groups)

    def ranks(self) -> dict[str, pa.ChunkedArray]:
        """Rank every published case by each ranking of groups in `order`, named by `RANK` and its place."""
        return {
            f"{RANK}{at}": self.expand_to_combinations(each)
            for at, each in enumerate(self.order)
            if not isinstance(each, str)
        }

    def parts(self, rows: int) -> pa.ChunkedArray | None:
        """Deal published cases to parts of about so many rows, in their order.

        Records of the same first rank stay together. Nothing is returned where these are too many, or where a kept
        column comes first in the order.
        """
        first = self.order[0]
        if isinstance(first, str):
            return None
        by_rank = np.bincount(first, weights=self.records)
        if by_rank.max(initial=0) > 2 * rows:
            return None
        _, part = np.unique((np.cumsum(by_rank) - by_rank) // rows, return_inverse=True)
        return self.expand_to_combinations(part.astype(np.int32)[first])

    def expand_to_combinations(self, by_group: npt.NDArray[np.integer]) -> pa.ChunkedArray:
        """Give every case what its group has; nothing to cases that are not published."""
        group = self.cases[GROUP]
        return pa.array(by_group).take(pc.if_else(pc.equal(group, NOWHERE), None, group))

    def run(self, at: int) -> list[str]:
        """Return the recoded columns that a rank in `order` stands for: those side by side, in their order."""
        runs: list[list[str]] = []
        for name in self.names:
            if name not in self.shown.column_names:
                runs.append([])
            elif runs and runs[-1]:
                runs[-1].append(name)
            else:
                runs.append([name])
        return runs[at]


@dataclass(frozen=True, eq=False)
class ValueMapping:
    """For different values of a column, of which one may be missing, other values of it that stand for them."""

    values: pa.Array
    others: pa.Array


@dataclass(frozen=True)
class WrittenParts:
    """The parts of a table that were written, and how many rows they hold."""

    folder: Path
    rows: int
    parts: tuple[str, ...] = field(default=())


class EngineSource(Protocol):
    """A table in an engine. Values are canonical: as `sfumato.io._dataframes.to_canonical` has them."""

    @property
    def engine(self) -> str:
        """The name of the engine and its version."""

    @property
    def names(self) -> list[str]:
        """The names of all columns, in their order."""

    @property
    def spilled(self) -> int:
        """How many bytes did not fit into memory at once, at most, as far as they were seen."""

    @property
    def temporary(self) -> Path:
        """The folder for what does not fit into memory."""

    def profile(self, names: Sequence[str], together: Sequence[str], kept: Sequence[str] = ()) -> TableProfile:
        """Describe some columns in one scan; all later questions are about these.

        The combinations of those that stand `together` will be counted; `kept` ones are published as they are, and
        digested.
        """

    def recompute_digest(self) -> tuple[int, str]:
        """Count the rows, and digest the columns that were profiled, once more, to see whether the table changed."""

    def estimate(self, names: Sequence[str]) -> int:
        """Estimate how many combinations of some columns there are."""

    def count(self, names: Sequence[str], most: int, tell: ReportProgress, piece: TablePiece | None = None) -> pa.Table:
        """Count the combinations of some columns, or a piece of them, as `WEIGHT`; refuse more than `most`."""

    def with_mapping(self, look_ups: Mapping[str, ValueMapping]) -> EngineSource:
        """Return the table with looked-up values; rows with a value that is not in a look-up are left out."""

    def count_in_small_groups(self, size: int, names: Sequence[str]) -> int:
        """Count the rows whose combination of some columns is rarer than a size."""

    def write(self, rule: CombinationRecoding, folder: Path, tell: ReportProgress) -> WrittenParts:
        """Write the recoded table in its order as parts of a new folder."""

    def values(self, name: str) -> pa.Array:
        """Return the different values of a column in their order, without missing cells."""

    def batches(self, names: Sequence[str], tell: ReportProgress) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, in any order, batch by batch."""

    def distinct(self, names: Sequence[str]) -> dict[str, int]:
        """Count how many values differ in each of some columns."""

    def digest(self, rule: CombinationRecoding) -> str:
        """Sum up hashes of the groups and kept columns of all rows that the rule publishes."""

    def digest_written(self, rule: CombinationRecoding) -> str:
        """Sum up the same hashes of rows as they were written, whose groups are known by their cells."""

    def written(self, folder: Path) -> EngineSource:
        """Return a table that was written, to be judged as it stands in its files."""


def check_no_reserved_names(names: Sequence[str]) -> None:
    """Refuse a column whose name counted combinations need for their numbers."""
    if WEIGHT in names:
        raise SchemaError(f"Column {WEIGHT!r} has a name that is needed beyond memory; rename it.")


class WorkerRows(Protocol):
    """Rows that workers have coded and keep: their codes, which are looked at often, and all else."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def hashed(self) -> int:
        """The sum of the hashes of all rows, modulo 2^64."""

    @property
    def size(self) -> int:
        """How many bytes they take."""

    def gather(
        self, look: Callable[[Iterator[pa.RecordBatch]], bytes], add: Callable[[Iterator[bytes]], bytes]
    ) -> list[bytes]:
        """Let workers look at the codes of all rows, each at its own, and add up what they found."""

    def finish(
        self,
        deal: Callable[[pa.RecordBatch], npt.NDArray[np.int32]],
        numbers: int,
        work: Callable[[int, Iterator[pa.RecordBatch]], bytes],
    ) -> list[bytes]:
        """Bring rows of one number together in one worker, and let it work on them.

        Parameters
        ----------
        deal : tells by their codes the number of every row; rows without any, which is negative, are left out.
        numbers : how many numbers there are.
        work : what is done with the number, and the codes and all else of its rows; nothing row-sized is returned.
        """

    def close(self) -> None:
        """Let go of the rows."""


@runtime_checkable
class DistributedSource(EngineSource, Protocol):
    """A table in an engine whose workers run functions of ours on its rows, wherever these are.

    Functions travel to workers, and must be such that they can be pickled. What they refuse is refused here, too.
    """

    @property
    def worker_rows(self) -> int:
        """How many rows a worker may hold at once."""

    def persist(self, names: Sequence[str], code: Code) -> WorkerRows:
        """Let workers code some columns of all rows: to codes, to all else, and to the sum of the hashes of both."""

    def map(self, items: Sequence[str], work: Callable[[str], bytes]) -> Iterator[bytes]:
        """Let workers work on some things one by one, and yield in their order what they return, which is small."""

    def unshared_folder_error(self, folder: Path) -> SfumatoError:
        """Say that workers do not write to a folder where this process looks."""


def check_case_insensitive_names(names: Sequence[str]) -> None:
    """Refuse columns that engines, which ignore case, do not tell apart."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise SchemaError(f"The columns {other!r} and {name!r} differ only in case; rename one of them.")


def check_has_rows(rows: int) -> None:
    """Refuse a table without rows."""
    if not rows:
        raise SchemaError("The table has no rows; there is nothing to publish.")


def restore_time_zone(cells: pa.Array, zone: str | None) -> pa.Array:
    """Give moments, which are in UTC, their time zone back."""
    if not zone or not pa.types.is_timestamp(cells.type):
        return cells
    return cells.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", zone))


# Count combinations where that is all there is to do, and refuse in one sentence if they do not fit.


def count_if_fits(source: EngineSource, names: Sequence[str], most: int) -> pa.Table:
    """Count the combinations of some columns that were profiled; refuse more than `most`."""
    try:
        if source.estimate(names) <= 2 * most:  # an estimate, so what may fit is tried
            return source.count(names, most, lambda _: None)
    except TooManyCombinationsError:
        pass
    raise InfeasibleError(
        f"The table has more than {most:,} combinations of its {len(names)} quasi-identifiers, too many for memory; "
        "give more with memory=, or look at fewer quasi-identifiers."
    )


def rows_per_individual(
    source: EngineSource, identifier: Sequence[str], called: Literal["table", "original"] = "original"
) -> RowsPerIndividual | None:
    """Return the identifier of a table that repeats most often, if one does; what was profiled before is forgotten."""
    names = [name for name in identifier if name in source.names]
    if not names:
        return None
    told, distinct = source.profile(names, ()), source.distinct(names)
    filled = {name: told.rows - told.column(name).missing for name in names}
    return RowsPerIndividual.worst(
        [RowsPerIndividual(column=n, table=called, rows=filled[n], individuals=distinct[n]) for n in names if filled[n]]
    )
