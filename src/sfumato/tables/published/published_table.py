"""A published table as its reader sees it: groups of equal cells, and what the cells mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from math import isfinite

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato._validation import suggest_closest
from sfumato.core._kernels.grouping import Grouped, group_columns, group_keys, representative_rows
from sfumato.encoding._counts import sparse_counts
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain, get_declared_scale
from sfumato.errors import SchemaError
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import dictionary_encode, format_values
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published._coverage import AxisIntervals, Coverage, cover_label_batch, find_axis_intervals
from sfumato.tables.published._labels import (
    NO_INTERVALS,
    IntervalBatch,
    MemberBatch,
    is_mask,
    parse_date_intervals,
    parse_label,
    parse_number_intervals,
    parse_value_sets,
    to_datetime,
)
from sfumato.tables.published.solution import (
    JOINING,
    NOT_PUBLISHED,
    SUPPRESSED_TEXT,
    Center,
    Exact,
    Interval,
    Label,
    Node,
    ValueSet,
)

# The domain of an attribute as far as a published table shows it, if the original is not available.


def infer_domain_from_labels(name: str, shown: Sequence[str | None], schema: Schema) -> Domain:
    """Find the leaves that published texts refer to: those of a taxonomy, or all values and bounds that occur."""
    builder = schema.hierarchies.get(name)
    stated = get_declared_scale(name, schema)
    numeric = _NumericLabels(name, shown)
    scale = numeric.scale if stated is None else stated
    if isinstance(builder, Taxonomy | OrderedGroups) and scale is not Scale.NUMERIC:
        hierarchy = builder.build(pa.array([], pa.string()))
        return Domain(name, scale, pa.array([str(leaf) for leaf in hierarchy.leaves], pa.string()), hierarchy)
    if name in schema.orders:
        return Domain(name, scale, pa.array(schema.orders[name], pa.string()))
    if scale.ordered:  # texts without a stated order are refused, so these are numbers or dates
        return Domain(name, scale, numeric.values if scale is Scale.NUMERIC else format_values(numeric.values))
    labels = [parse_label(text, scale, {}) for text in shown]
    leaves = sorted({text for label in labels for text in _collect_texts(label)})
    return Domain(name, scale, pa.array(leaves, pa.string()))


class _NumericLabels:
    """Published texts, read as numbers or dates: plain intervals all at once, everything else one by one."""

    def __init__(self, name: str, shown: Sequence[str | None]) -> None:
        self._name = name
        self._shown = shown

    @cached_property
    def _plain(self) -> tuple[IntervalBatch, IntervalBatch]:
        return parse_number_intervals(self._shown), parse_date_intervals(self._shown)

    @cached_property
    def _labels(self) -> list[Label]:
        numbers, days = self._plain
        plain = {*numbers.at.tolist(), *days.at.tolist()}
        rest = (text for place, text in enumerate(self._shown) if place not in plain)
        return [parse_label(text, Scale.NUMERIC, {}) for text in rest]

    @property
    def scale(self) -> Scale:
        """Numeric if there are numbers or dates and nothing else."""
        numeric = any(map(len, self._plain)) or any(isinstance(label, Interval | Center) for label in self._labels)
        other = any(isinstance(label, Exact | ValueSet | Node) for label in self._labels)
        return Scale.NUMERIC if numeric and not other else Scale.NOMINAL

    @cached_property
    def values(self) -> pa.Array:
        """Every value and bound that is shown, ascending; numbers or dates, whichever are more."""
        shown = _collect_numbers(self._labels)
        numbers, days = self._plain
        moments = [value for value in shown if isinstance(value, date)]
        finite = [value for value in shown if isinstance(value, int | float) and isfinite(value)]
        if len(moments) + 2 * len(days) > len(finite) + 2 * len(numbers):
            timed = any(isinstance(value, datetime) for value in moments)
            kind = pa.timestamp("us") if timed else pa.date32()
            single = pa.array(map(to_datetime, moments) if timed else moments, kind)
            bounds = pa.array(np.concatenate([days.low, days.high]).astype(np.int32)).cast(pa.date32()).cast(kind)
        else:
            whole = numbers.whole and not any(isinstance(value, float) for value in finite)
            kind = pa.int64() if whole else pa.float64()
            single = self._numbers(finite, kind)
            bounds = pa.array(np.concatenate([numbers.low, numbers.high])).cast(kind)
        distinct = pa.concat_arrays([single, bounds]).unique()
        return distinct.take(pc.array_sort_indices(distinct))

    def _numbers(self, finite: list[int | float], kind: pa.DataType) -> pa.Array:
        try:
            return pa.array(finite, kind)
        except pa.ArrowInvalid:  # a whole number that a float would round
            raise SchemaError(
                f"Column {self._name!r} shows fractions beside whole numbers of more than 15 digits; "
                "call the column nominal."
            ) from None


def _collect_numbers(labels: Iterable[Label]) -> list[object]:
    values: list[object] = []
    for label in labels:
        if isinstance(label, Interval):
            values += [label.low, label.high]
        elif isinstance(label, Center):
            values.append(label.value)
        elif isinstance(label, ValueSet):
            members = (parse_label(text, Scale.NUMERIC, {}) for text in label.texts)
            values += [member.value for member in members if isinstance(member, Center)]
    return values


def _collect_texts(label: Label) -> tuple[str, ...]:
    if isinstance(label, ValueSet):
        return label.texts
    return (label.text,) if isinstance(label, Exact) and not is_mask(label.text) else ()


BUCKET_PREFIX = "_bucket_"
BUCKET_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class PublishedColumn:
    """One quasi-identifier as published: distinct texts (None for a missing cell) and the text of every record.

    If cells are in buckets, every bucket has a text of its own, even if it equals another's: readers who know the
    values find the bucket. `original` is the domain of the original column, if known.
    """

    name: str
    texts: tuple[str | None, ...]
    codes: npt.NDArray[np.int32]
    schema: Schema
    original: Domain | None

    @classmethod
    def from_cells(cls, name: str, cells: pa.ChunkedArray, schema: Schema, original: Domain | None) -> PublishedColumn:
        """Read the cells of one column as they are, whatever its role is and whether or not they are in buckets."""
        return cls(name, *_encode_texts(cells), schema, original)

    @cached_property
    def domain(self) -> Domain:
        """The values that the attribute can take: the original's, or those that the texts show."""
        if self.original is not None:
            return self.original
        return infer_domain_from_labels(self.name, self.texts, self.schema)

    @cached_property
    def intervals(self) -> IntervalBatch:
        """The intervals among the distinct texts that are written as we write them, with bounds on the domain's axis.

        Labels of a hierarchy are none of them, even if they look alike.
        """
        if self.domain.scale is not Scale.NUMERIC:
            return NO_INTERVALS
        found = find_axis_intervals(self.texts, self.domain)
        if not self._nodes or not len(found):
            return found
        return found.exclude(np.array([text in self._nodes for text in self.texts], dtype=np.bool_))

    @cached_property
    def sets(self) -> MemberBatch:
        """The sets among the distinct texts that are written as we write them, with the codes of their members."""
        return parse_value_sets(self.texts, self.domain.texts, self._nodes)

    @cached_property
    def others(self) -> Mapping[int, Label]:
        """What all other distinct texts mean, by their place."""
        places = np.ones(len(self.texts), dtype=np.bool_)
        places[self.intervals.at] = places[self.sets.at] = False
        leaves = dict(zip(self.domain.texts, self.domain.values.to_pylist(), strict=True))
        known: dict[str | None, Label] = {}
        found = {}
        for place in np.flatnonzero(places).tolist():
            text = self.texts[place]
            if text not in known:
                known[text] = parse_label(text, self.domain.scale, leaves, self._nodes)
            found[place] = known[text]
        return found

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """What every distinct text means, plain intervals and sets included."""
        plain = {
            place: parse_label(self.texts[place], Scale.NUMERIC, {})
            for place in (*self.intervals.at.tolist(), *self.sets.at.tolist())
        }
        return tuple(plain.get(place) or self.others[place] for place in range(len(self.texts)))

    @cached_property
    def coverage(self) -> Coverage:
        """Which values of the domain the distinct texts cover."""
        return cover_label_batch(self.others, self.domain, self.intervals, len(self.texts), self.sets)

    def all_intervals(self) -> AxisIntervals:
        """Return all intervals among the distinct texts, with bounds on the domain's axis."""
        return AxisIntervals.from_labels(self.others, self.domain, self.intervals)

    @cached_property
    def _nodes(self) -> frozenset[str]:
        if self.domain.hierarchy is None:
            return frozenset()
        return frozenset(text for level in self.domain.hierarchy.labels for text in level) - {SUPPRESSED_TEXT}

    @cached_property
    def starred_texts(self) -> npt.NDArray[np.bool_]:
        """Whether each distinct text stands for a suppressed cell."""
        stars = [
            text is not None and text.strip() != "" and not text.strip().strip(SUPPRESSED_TEXT) for text in self.texts
        ]
        return np.array(stars, dtype=np.bool_)

    def mask_suppressed(self) -> npt.NDArray[np.bool_]:
        """Return for every record whether its cell is suppressed."""
        return self.starred_texts[self.codes]


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable:
    """A published table: its quasi-identifying columns and the groups of records that look alike.

    With `weights`, the table holds distinct rows, and each stands for as many records; `rows` and the counts of groups
    are in records all the same.
    """

    rows: int
    columns: tuple[PublishedColumn, ...]
    grouped: Grouped
    weights: npt.NDArray[np.int64] | None = None

    @classmethod
    def read(
        cls,
        table: pa.Table,
        schema: Schema,
        domains: Mapping[str, Domain] | None = None,
        *,
        weights: npt.NDArray[np.int64] | None = None,
    ) -> PublishedTable:
        """Read a table; `domains` are those of the original, if it is known."""
        check_readable(table, schema)
        coded = all(pa.types.is_dictionary(table.schema.field(name).type) for name in schema.quasi_identifiers)
        work = 0 if coded else table.num_rows  # of columns that are dictionaries only these are read
        seen = map_in_threads(lambda name: _encode_adversary_view(table, name, schema), schema.quasi_identifiers, work)
        columns = tuple(
            PublishedColumn(name, *each, schema, (domains or {}).get(name))
            for name, each in zip(schema.quasi_identifiers, seen, strict=True)
        )
        return cls._from_columns(columns, table.num_rows, weights)

    @classmethod
    def from_codes(
        cls,
        columns: Sequence[CodedColumn],
        schema: Schema,
        cases: int,
        *,
        weights: npt.NDArray[np.int64] | None = None,
    ) -> PublishedTable:
        """Take coded columns of so many rows as if they were published as they are."""
        shown = tuple(
            PublishedColumn(
                column.name, (*column.domain.texts, None), column.codes.astype(np.int32), schema, column.domain
            )
            for column in columns
        )
        return cls._from_columns(shown, cases, weights)

    @classmethod
    def _from_columns(
        cls, columns: tuple[PublishedColumn, ...], cases: int, weights: npt.NDArray[np.int64] | None
    ) -> PublishedTable:
        grouped = _group_columns(columns, cases)
        if weights is None:
            return cls(cases, columns, grouped)
        records = np.bincount(grouped.labels, weights, minlength=len(grouped)).astype(np.int64)
        return cls(int(weights.sum()), columns, replace(grouped, counts=records), weights)

    @property
    def n_weighted_records(self) -> int:
        """The number of rows that were read: of records, or of distinct rows where each stands for several."""
        return self.rows if self.weights is None else len(self.weights)

    def select_columns(self, names: Collection[str]) -> PublishedTable:
        """Restrict the table to some of the quasi-identifiers."""
        columns = tuple(column for column in self.columns if column.name in names)
        return self._from_columns(columns, self.n_weighted_records, self.weights)

    def take(self, rows: npt.NDArray[np.intp]) -> PublishedTable:
        """Keep some rows."""
        columns = tuple(replace(column, codes=column.codes[rows]) for column in self.columns)
        return self._from_columns(columns, len(rows), None if self.weights is None else self.weights[rows])

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """One record of every group."""
        return representative_rows(self.grouped)

    def by_group(self, column: PublishedColumn) -> npt.NDArray[np.int32]:
        """Return the index of the text that every group has in a column."""
        return column.codes[self.first_rows]


def check_readable(table: pa.Table, schema: Schema) -> None:
    """Refuse a published table that misses columns, is empty, or contains identifiers."""
    check_readable_columns(table.column_names, schema)
    if table.num_rows == 0:
        raise SchemaError("The published table has no rows; there is nothing to audit.")


def check_readable_columns(columns: Sequence[str], schema: Schema) -> None:
    """Refuse a published table that misses columns or contains identifiers."""
    for name in (*schema.quasi_identifiers, *schema.sensitive):
        if name not in columns:
            raise SchemaError(f"The published table has no column {name!r}{suggest_closest(name, columns) or '.'}")
    for name in schema.identifiers:
        if name in columns:
            raise SchemaError(f"The published table still has the identifier {name!r}; drop that column.")


def format_bucket_column(names: Sequence[str]) -> str:
    """Return the name of the column that numbers the buckets of attributes that are permuted together.

    >>> format_bucket_column(["age", "sex"])
    '_bucket_age+sex'
    """
    return BUCKET_PREFIX + JOINING.join(names)


def parse_bucket_column(column: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the attributes whose buckets a column numbers; none if it is not such a column.

    >>> parse_bucket_column("_bucket_age+sex", ["age", "sex", "zip"])
    ('age', 'sex')
    """
    named = column.removeprefix(BUCKET_PREFIX)
    if named == column:
        return ()
    if named in known:
        return (named,)
    parts = tuple(named.split(JOINING))
    return parts if all(part in known for part in parts) else ()


def find_bucket_column(columns: Collection[str], name: str) -> str | None:
    """Find the column that numbers the buckets of an attribute: its own, or one that it shares with others."""
    if BUCKET_PREFIX + name in columns:
        return BUCKET_PREFIX + name
    return next((column for column in columns if name in parse_bucket_column(column, columns)), None)


def read_bucket_numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64] | None:
    """Return the bucket of every record's cell of an attribute, `NOT_PUBLISHED` outside any; None without buckets."""
    column = find_bucket_column(table.column_names, name)
    if column is None:
        return None
    cells = table[column]
    check_bucket_numbers(column, cells)
    if pa.types.is_integer(cells.type) and not cells.null_count:
        numbers = cells.to_numpy().astype(np.int64, copy=False)
        return group_keys(numbers, int(numbers.max(initial=0)) + 1).labels.astype(np.int64)
    _, codes = _encode_texts(cells)
    lost = cells.is_null().combine_chunks().to_numpy(zero_copy_only=False)
    return np.where(lost, NOT_PUBLISHED, codes.astype(np.int64))


def check_bucket_numbers(name: str, column: pa.ChunkedArray) -> None:
    """Refuse a column of buckets that holds anything but numbers from 0 on and empty cells.

    A mark for "no bucket", such as a hyphen, would make one bucket of all cells that are linked to their records.
    """
    if column.null_count == len(column):
        return
    if pa.types.is_integer(column.type) and pc.min(column).as_py() >= 0:
        return
    shown, _ = _encode_texts(column)
    strange = sum(text is not None and not BUCKET_NUMBER.fullmatch(text) for text in shown)
    if strange:
        raise SchemaError(
            f"Column {name!r} holds {strange:,} different values that are no bucket numbers; number buckets from 0 on, "
            "and leave cells empty that stand in no bucket."
        )


def _encode_adversary_view(
    table: pa.Table, name: str, schema: Schema
) -> tuple[tuple[str | None, ...], npt.NDArray[np.int32]]:
    """Read a column the way an adversary sees it who knows whose record is whose, apart from the buckets.

    A cell in a bucket may belong to another record. The adversary knows nothing about flagged cells, so the bucket
    says nothing about whose record it is. She knows all others, so she knows the bucket: the cell is one of its values.
    """
    buckets = read_bucket_numbers(table, name)
    if buckets is None:
        return _encode_texts(table[name])
    if name in schema.flags:
        inside = pa.array(buckets != NOT_PUBLISHED)
        return _encode_texts(pa.chunked_array([pc.if_else(inside, SUPPRESSED_TEXT, format_values(table[name]))]))
    shown, codes = _encode_texts(table[name])
    inside = buckets != NOT_PUBLISHED
    found = _format_bucket_sets(shown, codes[inside], buckets[inside])
    outside = np.unique(codes[~inside])
    place = np.zeros(len(shown), dtype=np.int64)
    place[outside] = len(found) + np.arange(len(outside))
    seen = np.where(inside, buckets, place[codes]).astype(np.int32)
    return (*found, *(shown[code] for code in outside.tolist())), seen


def _format_bucket_sets(
    shown: Sequence[str | None], codes: npt.NDArray[np.int32], buckets: npt.NDArray[np.int64]
) -> list[str | None]:
    """Return the set of values of every bucket; anything, if missing and other cells mix."""
    order = sorted(range(len(shown)), key=lambda code: (shown[code] is None, shown[code]))
    rank = np.empty(len(shown), dtype=np.int64)
    rank[order] = np.arange(len(shown))
    ranked = [shown[code] for code in order]
    number = int(buckets.max(initial=-1)) + 1
    offsets, ranks, _ = sparse_counts(buckets, number, rank[codes], len(shown))
    bounds, members = offsets.tolist(), [ranked[each] for each in ranks.tolist()]
    return [_format_set(members[bounds[at] : bounds[at + 1]]) for at in range(number)]


def _format_set(members: Sequence[str | None]) -> str | None:
    if len(members) == 1:
        return members[0]
    known = tuple(member for member in members if member is not None and member.strip(f" {SUPPRESSED_TEXT}"))
    return SUPPRESSED_TEXT if len(known) < len(members) else ValueSet(known).text


def _group_columns(columns: Sequence[PublishedColumn], cases: int) -> Grouped:
    if not columns:
        return Grouped(np.zeros(cases, dtype=np.int32), np.zeros(1, dtype=np.int64), np.array([cases]))
    return group_columns([column.codes for column in columns], [len(column.texts) for column in columns])


def _encode_texts(column: pa.ChunkedArray) -> tuple[tuple[str | None, ...], npt.NDArray[np.int32]]:
    combined = dictionary_encode(column)
    values = combined.dictionary
    shown = values if pa.types.is_string(values.type) else format_values(values)
    distinct = shown.unique()
    indices = combined.indices.fill_null(len(shown)) if combined.null_count else combined.indices
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if len(distinct) < len(shown):  # values that are written alike
        codes = np.append(pc.index_in(shown, value_set=distinct), len(distinct)).astype(np.int32)[codes]
    return (*distinct.to_pylist(), *([None] if combined.null_count else [])), codes
