"""Read a series of published tables with their originals: who is who, who is in which group, and what rows show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attacks.beliefs import Flags, Ints
from sfumato.attacks.series.candidates import NOBODY
from sfumato.attacks.series.setting import SeriesOfOne, SeriesSetting, ShownRows
from sfumato.attacks.views import View
from sfumato.coding.codes import code
from sfumato.core.groups import Histogram
from sfumato.core.history import GroupedRelease, History
from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.core.published.table import PublishedTable, bucket_column, bucket_numbers, bucketed_attributes
from sfumato.exceptions import SchemaError
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.table.values import texts

BETWEEN = "\x1f"  # no text has it; joins cells to one


@dataclass(frozen=True, eq=False, repr=False)
class VersionTables:
    """One release of a series: the published table, its original, and the original row of every published row.

    A row of the correspondence is -1 for a counterfeit. Without a correspondence, persons are found by what they are
    known by.
    """

    published: pa.Table
    original: pa.Table
    correspondence: Ints | None = None


def read_series(versions: Sequence[VersionTables], schema: Schema, *, targets: int, seed: int) -> SeriesSetting:
    """Read all releases; attributes that change, and those that are flagged, are left out."""
    if Missing(schema.missing) is Missing.MATCHES_ALL:
        raise SchemaError('A series is read with missing="own-value" only; choose that policy.')
    for number, version in enumerate(versions, 1):
        _refuse_columns(number, version, schema)
    persons, everybody = _persons([version.original for version in versions], schema)
    permanent = [name for name in schema.sensitive if name not in schema.transient]
    return SeriesSetting(
        {name: _read(versions, persons, everybody, schema, name) for name in permanent}, targets=targets, seed=seed
    )


def _refuse_columns(number: int, version: VersionTables, schema: Schema) -> None:
    for what, table, names in (
        ("original", version.original, (*schema.identifier, *schema.quasi, *schema.sensitive)),
        ("published table", version.published, (*schema.quasi, *schema.sensitive)),
    ):
        for name in names:
            if name not in table.column_names:
                raise SchemaError(f"The {what} of release {number} has no column {name!r}, which others have.")
        if not table.num_rows:
            raise SchemaError(f"The {what} of release {number} has no rows.")


def _persons(originals: Sequence[pa.Table], schema: Schema) -> tuple[list[Ints], int]:
    """Give the persons of all versions numbers by their identifiers; return that of every row, and how many."""
    if not schema.identifier:
        raise SchemaError("Nothing tells who is who in a series; give columns the role identifier.")
    names = []
    for number, original in enumerate(originals, 1):
        joined = _joined(original, schema.identifier)
        missing = joined.null_count
        if missing:
            raise SchemaError(f"{missing:,} rows of version {number} miss an identifier; a series needs them all.")
        twice = len(joined) - pc.count_distinct(joined).as_py()
        if twice:
            raise SchemaError(f"{twice:,} rows of version {number} are of persons who have a row already.")
        names.append(joined)
    coded, count = _coded(names)
    return coded, count


def _read(
    versions: Sequence[VersionTables], persons: Sequence[Ints], everybody: int, schema: Schema, name: str
) -> SeriesOfOne:
    """Read what all releases tell about one attribute, and the truth."""
    columns = [texts(version.published[name]) for version in versions]
    columns += [texts(version.original[name]) for version in versions]
    coded, width = _coded(columns)
    shown, own = coded[: len(versions)], coded[len(versions) :]
    truth = np.full(everybody, NOBODY, dtype=np.int64)
    changed = np.zeros(everybody, dtype=np.bool_)
    for person, values in zip(persons, own, strict=True):
        changed[person] |= (truth[person] != NOBODY) & (truth[person] != values)
        truth[person] = values
    if changed.any():
        raise SchemaError(
            f"{int(changed.sum()):,} persons have another value of {name!r} in a later version; attacks on a series "
            "are about values that stay, so leave this column out of the sensitive ones."
        )
    groups = [_row_groups(version, schema, name) for version in versions]
    releases = tuple(
        _released(_members(version, person, everybody, rows, schema), rows, values, width)
        for version, person, rows, values in zip(versions, persons, groups, shown, strict=True)
    )
    rows = _shown_rows(versions, schema, name, groups, shown)
    return SeriesOfOne(History(name, everybody, releases), truth, rows)


def _row_groups(version: VersionTables, schema: Schema, name: str) -> Ints:
    """Return the group of every published row: its bucket, or the rows that look alike; -1 for a suppressed cell."""
    shown = version.published
    labels = PublishedTable.read(shown, schema.of_quasi()).grouped.labels.astype(np.int64)
    buckets = bucket_numbers(shown, name)
    if buckets is not None:
        labels = np.where(buckets >= 0, buckets, labels + int(buckets.max(initial=0)) + 1)
    suppressed = np.asarray(pc.fill_null(pc.equal(texts(shown[name]), SUPPRESSED_TEXT), fill_value=False))
    number: Ints = np.full(shown.num_rows, NOBODY, dtype=np.int64)
    number[~suppressed] = np.unique(labels[~suppressed], return_inverse=True)[1].ravel()
    return number


def _members(version: VersionTables, person: Ints, everybody: int, rows: Ints, schema: Schema) -> Ints:
    """Return the group of everybody in one release; -1 for who is in none."""
    members = np.full(everybody, NOBODY, dtype=np.int64)
    if version.correspondence is None:
        members[person] = _found(version, rows, schema)
    else:
        real = version.correspondence >= 0
        members[person[version.correspondence[real]]] = rows[real]
    return members


def _released(members: Ints, rows: Ints, values: Ints, width: int) -> GroupedRelease:
    """Count the rows of one release; those that nobody has are counterfeits."""
    groups, inside = int(rows.max(initial=NOBODY)) + 1, rows >= 0
    once = np.ones(int(inside.sum()), dtype=np.int64)
    histogram = Histogram.of_entries(rows[inside], values[inside], once, groups=groups, width=width)
    spare = histogram.sizes - np.bincount(members[members >= 0], minlength=groups)
    if (spare < 0).any():
        raise SchemaError("More persons fit a group than it has rows; give the correspondence of each release.")
    return GroupedRelease(members, histogram, spare)


def _found(version: VersionTables, rows: Ints, schema: Schema) -> Ints:
    """Find the group of every person of the original by what she is known by; -1 for one whom no row covers."""
    seen = schema.of_quasi()
    real = np.flatnonzero(~_starred(version.published, seen) & (rows >= 0))
    people = code(version.original.select(seen.quasi), seen)
    points = np.array([column.codes for column in people.quasi], dtype=np.int32)
    view = View.of(version.published.take(pa.array(real)).select(seen.quasi), seen, people)
    labels, group = view.table.grouped.labels, rows[real]
    low = np.full(len(view.groups), np.iinfo(np.int64).max, dtype=np.int64)
    high = np.full(len(view.groups), NOBODY, dtype=np.int64)
    np.minimum.at(low, labels, group)
    np.maximum.at(high, labels, group)
    fitting = view.candidates(points)
    first = np.full(fitting.targets, np.iinfo(np.int64).max, dtype=np.int64)
    last = np.full(fitting.targets, NOBODY, dtype=np.int64)
    np.minimum.at(first, fitting.target, low[fitting.group])
    np.maximum.at(last, fitting.target, high[fitting.group])
    torn = int(((first != last) & (last >= 0)).sum())
    if torn:
        raise SchemaError(
            f"{torn:,} persons fit several groups of a release, so nothing tells who is where; give the "
            "correspondence of each release."
        )
    return last


def _starred(shown: pa.Table, schema: Schema) -> Flags:
    """Say which rows show nothing of a person: counterfeits in buckets."""
    stars = [
        np.asarray(pc.fill_null(pc.equal(texts(shown[name]), SUPPRESSED_TEXT), fill_value=False))
        for name in schema.quasi
    ]
    return np.all(stars, axis=0) if stars else np.zeros(shown.num_rows, dtype=np.bool_)


def _shown_rows(
    versions: Sequence[VersionTables], schema: Schema, name: str, groups: Sequence[Ints], values: Sequence[Ints]
) -> tuple[ShownRows, ...]:
    """Give what rows show beside the value a number; nothing if they show nothing."""
    beside = [set(_beside(version.published, schema, name)) for version in versions]
    names = [each for each in versions[0].published.column_names if all(each in some for some in beside)]
    if not names:
        return ()
    coded, _ = _coded([_joined(version.published, names, missing="") for version in versions])
    return tuple(map(ShownRows, groups, values, coded))


def _beside(shown: pa.Table, schema: Schema, name: str) -> Sequence[str]:
    """Return the columns whose cells stay beside the value: those permuted with it, or all that are not permuted."""
    columns = shown.column_names
    bucket = bucket_column(columns, name)
    if bucket is not None:
        return [each for each in bucketed_attributes(bucket, columns) if each != name]
    others = (*schema.insensitive, *schema.sensitive)
    return [each for each in others if each != name and each in columns and bucket_column(columns, each) is None]


def _joined(table: pa.Table, names: Sequence[str], missing: str | None = None) -> pa.Array:
    """Join the texts of some columns, row by row, so that different rows have different texts."""
    columns = [texts(table[name]) for name in names]
    if missing is not None:
        columns = [pc.fill_null(column, missing) for column in columns]
    if len(columns) == 1:
        return columns[0]
    sizes = [pc.cast(pc.utf8_length(column), pa.string()) for column in columns]
    return pc.binary_join_element_wise(*sizes, *columns, BETWEEN)


def _coded(columns: Sequence[pa.Array]) -> tuple[list[Ints], int]:
    """Give the texts of several columns the same numbers; a missing one has a number of its own."""
    encoded = pa.concat_arrays([column.cast(pa.string()) for column in columns]).dictionary_encode("encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return list(np.split(codes, ends)), len(encoded.dictionary)
