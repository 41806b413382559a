"""Condensation of a stream: records arrive in batches and leave only the statistics of groups."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from sfumato._randomness import check_secret
from sfumato._validation import is_integer, require, suggest_closest
from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import InfeasibleError, ReadError, SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.io._values import Numbers, encode_distinct, format_distinct_values, is_metric_type
from sfumato.synthesis._columns import ColumnType, SynthesizedColumn, check_no_missing, column_type, numeric_matrix
from sfumato.synthesis._sampling import GroupMixture, ValueCounts, random_source
from sfumato.synthesis._statistics import GroupStatistics, Whole, replace_tiny
from sfumato.synthesis.condensation import check_rows

# What a stream leaves behind: statistics of its groups, never a record; and how a group splits.

NEVER = -1  # no group has this many records


@dataclass(eq=False, repr=False, kw_only=True)
class StreamState:
    """Statistics of all groups and of all records together.

    Arrays have room for the largest number of groups, so that they never grow; `means` has a row for every column.
    For each column without numbers, `values` are those seen so far, and `counts` has a row for every group.
    """

    columns: tuple[SynthesizedColumn, ...]
    groups: int
    seen: Whole
    center: Numbers
    spread: Numbers
    sizes: Whole
    means: Numbers
    scatter: Numbers
    values: list[list[str]]
    counts: list[Whole]

    @classmethod
    def empty(cls, columns: tuple[SynthesizedColumn, ...], most_groups: int) -> StreamState:
        """Start with one empty group."""
        width = sum(column.numeric for column in columns)
        others = len(columns) - width
        return cls(
            columns=columns,
            groups=1,
            seen=np.zeros(1, dtype=np.int64),
            center=np.zeros(width),
            spread=np.zeros(width),
            sizes=np.zeros(most_groups, dtype=np.int64),
            means=np.zeros((width, most_groups)),
            scatter=np.zeros((most_groups, width, width)),
            values=[[] for _ in range(others)],
            counts=[np.zeros((most_groups, 0), dtype=np.int64) for _ in range(others)],
        )

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take, in bytes."""
        arrays = (self.seen, self.center, self.spread, self.sizes, self.means, self.scatter, *self.counts)
        return sum(array.nbytes for array in arrays)

    @property
    def scales(self) -> Numbers:
        """The standard deviation of every column over all records, and 1 for a constant one."""
        return replace_tiny(np.sqrt(self.spread / self.seen[0]))

    def statistics(self) -> GroupStatistics:
        """Return the statistics of the groups."""
        used = self.groups
        return GroupStatistics(self.sizes[:used], self.means[:, :used].T, self.scatter[:used])

    def mixture(self, k: int) -> GroupMixture:
        """Return the groups to draw from, without values that fewer than k records have."""
        tallies = [
            ValueCounts.from_table(values, counts[: self.groups]).drop_rare(k)[0]
            for values, counts in zip(self.values, self.counts, strict=True)
        ]
        return GroupMixture(self.columns, self.statistics(), self.scales, tuple(tallies))

    def extend(self, values: Sequence[Sequence[str]]) -> None:
        """Make room for values that were not seen before."""
        for place, found in enumerate(values):
            self.values[place].extend(found)
            self.counts[place] = np.pad(self.counts[place], ((0, 0), (0, len(found))))

    def add_records(self, records: Numbers, codes: Sequence[Whole], k: int) -> None:
        """Let records join their nearest groups; a group of 2k splits as long as there is room for another."""
        from sfumato.synthesis._kernels import condense_stream

        most_groups = len(self.sizes)
        labels = np.empty(len(records), dtype=np.int64)
        whole = self.seen, self.center, self.spread
        state = self.sizes, self.means, self.scatter
        begin = 0
        while begin < len(records):
            full = 2 * k if self.groups < most_groups else NEVER
            end = condense_stream(records, begin, self.groups, full, whole, state, labels)
            for column, counts in zip(codes, self.counts, strict=True):
                np.add.at(counts, (labels[begin:end], column[begin:end]), 1)
            last = int(labels[end - 1])
            if self.sizes[last] == full:
                self._split(last)
            begin = end

    def _split(self, group: int) -> None:
        """Put one half of a group in its place and the other after all groups."""
        one = slice(group, group + 1)
        whole = GroupStatistics(self.sizes[one], self.means[:, one].T, self.scatter[one])
        for place, half in zip((group, self.groups), whole.split(self.scales), strict=True):
            self.sizes[place] = half.sizes[0]
            self.means[:, place] = half.means[0]
            self.scatter[place] = half.scatter[0]
        for counts in self.counts:
            counts[group], counts[self.groups] = halve_counts(counts[group])
        self.groups += 1


def halve_counts(counts: Whole) -> tuple[Whole, Whole]:
    """Halve counts; for odd ones, the halves get the larger part in turns.

    >>> [half.tolist() for half in halve_counts(np.array([5, 4, 3, 1, 1]))]
    [[3, 2, 1, 1, 0], [2, 2, 2, 0, 1]]
    """
    odd = counts % 2 == 1
    first = counts // 2
    first[odd] += np.arange(odd.sum()) % 2 == 0
    return first, counts - first


# The state of a stream as a file: arrays and JSON under a checksum, nothing executable.

TITLE = b"sfumato condensation stream, format "
FORMAT = 1
ARRAYS = ("seen", "center", "spread", "sizes", "means", "scatter")


def write_stream_state(path: Path, header: dict[str, Any], state: StreamState | None) -> None:
    """Write a header and, if there is one, a state."""
    arrays: dict[str, Any] = {}
    if state is not None:
        arrays = {name: getattr(state, name) for name in ARRAYS}
        arrays |= {f"counts_{place}": counts for place, counts in enumerate(state.counts)}
        header = header | {
            "groups": state.groups,
            "held": [[column.name, column.kind.value, column.numeric] for column in state.columns],
            "values": state.values,
        }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    with atomic_path(path) as temporary:
        temporary.write_bytes(TITLE + f"{FORMAT}\n{hashlib.sha256(content).hexdigest()}\n".encode() + content)


def read_stream_state(path: Path) -> tuple[dict[str, Any], StreamState | None]:
    """Read what `write_state` wrote; refuse files that are something else, truncated or altered."""
    try:
        written = path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    title, _, rest = written.partition(b"\n")
    if not title.startswith(TITLE):
        raise ReadError(f"{path} is not the state of a condensation stream.")
    version = title.removeprefix(TITLE)
    if version != str(FORMAT).encode():
        raise ReadError(f"{path} does not have format {FORMAT}; read it with the version of Sfumato that wrote it.")
    checksum, _, content = rest.partition(b"\n")
    if checksum != hashlib.sha256(content).hexdigest().encode():
        raise ReadError(f"{path} is truncated or was altered; go back to an earlier copy.")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return _parse_arrays({name: arrays[name] for name in arrays.files})
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise ReadError(f"{path} is not a complete state of a condensation stream.") from None


def _parse_arrays(arrays: dict[str, Any]) -> tuple[dict[str, Any], StreamState | None]:
    header = json.loads(arrays["header"].tobytes())
    if "held" not in header:
        return header, None
    columns = tuple(SynthesizedColumn(name, ColumnType(kind), numeric) for name, kind, numeric in header["held"])
    state = StreamState(
        columns=columns,
        groups=header["groups"],
        values=header["values"],
        counts=[arrays[f"counts_{place}"] for place in range(len(header["values"]))],
        **{name: arrays[name] for name in ARRAYS},
    )
    empty = StreamState.empty(columns, header["settings"]["most_groups"])
    fitting = all(getattr(state, name).shape == getattr(empty, name).shape for name in ARRAYS)
    room = len(state.sizes)
    fitting &= all(each.shape == (room, len(found)) for each, found in zip(state.counts, state.values, strict=True))
    if not fitting or not 1 <= state.groups <= room:
        raise ValueError
    return header, state


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
    ...     stream.update(sf.datasets.generate_hospital(500, seed=month))
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
