"""Condensation of a stream: records arrive in batches and leave only the statistics of groups."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from sfumato.condensing.columns import SynthesizedColumn, check_no_missing, column_type, numeric_matrix
from sfumato.condensing.condensation import check_rows
from sfumato.condensing.sampling import random_source
from sfumato.condensing.statistics import Whole
from sfumato.condensing.stream_files import read_stream_state, write_stream_state
from sfumato.condensing.stream_state import StreamState
from sfumato.exceptions import InfeasibleError, SchemaError
from sfumato.randomness import check_secret
from sfumato.table.frames import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.table.numbers import is_metric_type
from sfumato.table.values import encode_distinct, format_distinct_values
from sfumato.validation import is_integer, require, suggest_closest

MAX_VALUES = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class CondensationStream:
    r"""Condense records that arrive in batches, in memory that does not grow with the stream [1]_.

    A record joins the group with the nearest mean, where columns are measured in standard deviations of all records up
    to it; how the stream is cut into batches does not matter. A group of $2k$ splits along its longest axis as if it
    were spread evenly, until there are `most_groups`; from then on groups only grow. No record is kept: each group
    consists of its size, the mean and covariance of columns with numbers or dates, and the counts of values of others.
    A value that fewer than $k$ records had so far is drawn as a missing one.

    Parameters
    ----------
    k : the smallest number of records in a group, a whole number of at least 2.
    columns : the columns to condense; all others in a batch are ignored.
    categorical : those of them whose numbers are only labels, such as a ZIP code.
    most_groups : the largest number of groups.
    secret : 64 hexadecimal digits that make the draws repeatable; by default they come from the operating system.

    References
    ----------
    .. [1] Aggarwal, Yu, "A condensation approach to privacy preserving data mining", EDBT 2004.
       https://doi.org/10.1007/978-3-540-24741-8_12

    Examples
    --------
    >>> import sfumato as sf
    >>> stream = CondensationStream(k=20, columns=["age", "sex"], secret="5f" * 32)
    >>> for month in range(3):
    ...     stream.update(sf.samples.generate_hospital(500, seed=month))
    >>> stream.records, stream.sample(100).num_rows
    (1500, 100)
    """

    k: int
    columns: Sequence[str]
    categorical: Sequence[str] = ()
    most_groups: int = 1000
    secret: str | None = field(default=None, repr=False)
    _state: StreamState | None = field(default=None, init=False)
    _kind: str = field(default="pyarrow", init=False)
    _drawn: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 2, self, "k", "a whole number of at least 2", self.k)  # noqa: PLR2004 - one record has no spread
        self.columns = self._names("columns", self.columns)
        self.categorical = self._names("categorical", self.categorical)
        require(bool(self.columns), self, "columns", "at least one column name", list(self.columns))
        for name in self.categorical:
            require(name in self.columns, self, "categorical", "a subset of columns", list(self.categorical))
        good = is_integer(self.most_groups) and self.most_groups >= 1
        require(good, self, "most_groups", "a whole number of at least 1", self.most_groups)
        check_secret(self, self.secret)

    def __repr__(self) -> str:
        return f"CondensationStream(k={self.k}, {self.records:,} records in {self.groups:,} groups)"

    @property
    def records(self) -> int:
        """The number of records that have arrived."""
        return 0 if self._state is None else int(self._state.seen[0])

    @property
    def sizes(self) -> Whole:
        """The number of records of every group."""
        return np.zeros(0, dtype=np.int64) if self._state is None else self._state.sizes[: self._state.groups].copy()

    @property
    def groups(self) -> int:
        """The number of groups."""
        return 0 if self._state is None else self._state.groups

    @property
    def nbytes(self) -> int:
        """The memory that the statistics take, in bytes."""
        return 0 if self._state is None else self._state.nbytes

    def update(self, batch: Frame) -> None:
        """Let the records of a batch join their groups; a batch that does not fit is refused and changes nothing."""
        table, kind = to_arrow(batch)
        self._check_columns(table)
        if table.num_rows == 0:
            return
        check_no_missing(table, self.columns)
        columns = self._fitting(table)
        records = numeric_matrix(table, [column.name for column in columns if column.numeric])
        state = StreamState.empty(columns, self.most_groups) if self._state is None else self._state
        others = [column.name for column in columns if not column.numeric]
        coded_columns = [
            _extend_codes(name, table.column(name), known) for name, known in zip(others, state.values, strict=True)
        ]
        if self._state is None:
            self._state, self._kind = state, kind.name
        state.columns = columns
        state.extend([found for found, _ in coded_columns])
        state.add_records(records, [codes for _, codes in coded_columns], self.k)

    def sample(self, n: int) -> SameBackend:
        """Draw `n` synthetic records as a dataframe of the kind of the first batch; every group yields its share."""
        check_rows(n)
        if self._state is None or self.records < self.k:
            raise InfeasibleError(
                f"Only {self.records:,} records have arrived, but a group needs {self.k}; nothing can be drawn yet."
            )
        mixture = self._state.mixture(self.k)
        table = mixture.sample(n, random_source(self.secret, self._drawn, mixture))
        self._drawn += 1
        return DataFrameBackend(name=self._kind).restore(table)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, completely or not at all; it is as confidential as the records were."""
        settings = {
            "k": self.k,
            "columns": list(self.columns),
            "categorical": list(self.categorical),
            "most_groups": self.most_groups,
            "secret": self.secret,
        }
        write_stream_state(Path(path), {"settings": settings, "kind": self._kind, "drawn": self._drawn}, self._state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CondensationStream:
        """Continue from a saved state as if there had been no break."""
        header, state = read_stream_state(Path(path))
        stream = cls(**header["settings"])
        stream._state, stream._kind, stream._drawn = state, header["kind"], header["drawn"]
        return stream

    def _names(self, parameter: str, given: object) -> tuple[str, ...]:
        listed = isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)
        require(listed, self, parameter, "a list of column names", given)
        names = tuple(cast("Sequence[str]", given))
        require(len(set(names)) == len(names), self, parameter, "a list of different column names", given)
        return names

    def _check_columns(self, table: pa.Table) -> None:
        for name in self.columns:
            if name not in table.column_names:
                hint = suggest_closest(name, table.column_names) or "; add it, or start another stream without it."
                raise SchemaError(f"The batch has no column {name!r}{hint}")

    def _fitting(self, table: pa.Table) -> tuple[SynthesizedColumn, ...]:
        """Return the types of the columns, including this batch; refuse a batch that does not fit them."""
        kinds = {name: column_type(table.column(name).type) for name in self.columns}
        if self._state is not None:
            return tuple(_widen_column(column, table) for column in self._state.columns)
        columns = tuple(
            SynthesizedColumn(name, kind, name not in self.categorical and is_metric_type(table.column(name).type))
            for name, kind in kinds.items()
        )
        if not any(column.numeric for column in columns):
            raise SchemaError("CondensationStream needs a column of numbers or dates.")
        return columns


def _widen_column(column: SynthesizedColumn, table: pa.Table) -> SynthesizedColumn:
    arrived = table.column(column.name)
    kind = column_type(arrived.type)
    widened = column.widen(kind)
    if widened is None:
        raise SchemaError(
            f"Column {column.name!r} had values of type {column.kind} so far but has {kind} in this batch; convert it."
        )
    return widened


def _extend_codes(name: str, column: pa.ChunkedArray, known: Sequence[str]) -> tuple[list[str], Whole]:
    """Code a column by the values known so far and the new ones, which are also returned."""
    distinct, codes = encode_distinct(column)
    places = {value: place for place, value in enumerate(known)}
    arrived = format_distinct_values(distinct).to_pylist()
    found = [value for value in arrived if value not in places]
    if len(known) + len(found) > MAX_VALUES:
        raise SchemaError(
            f"Column {name!r} has more than {MAX_VALUES:,} distinct values, which must all be counted in every group; "
            "drop it or merge some."
        )
    places |= {value: len(known) + place for place, value in enumerate(found)}
    look_up = np.array([places[value] for value in arrived], dtype=np.int64)
    return found, look_up[codes.to_numpy()] if len(column) else np.zeros(0, dtype=np.int64)
