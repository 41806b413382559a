"""The versions of a series: what was published, from what, and which published row is whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import suggest_closest
from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._individuals import individual_keys, number_individuals
from sfumato.io._values import format_values
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._truthfulness import (
    MOST_PAIRS,
    PAIRS_AT_ONCE,
    UnchangedColumn,
    cells_cover,
    encode_together,
    row_numbers,
)
from sfumato.tables.published._containment import make_boxes
from sfumato.tables.published.groups import Histogram
from sfumato.tables.published.published_table import find_bucket_column, parse_bucket_column, read_bucket_numbers
from sfumato.tables.published.solution import SUPPRESSED_TEXT
from sfumato.tables.series.history import GroupedRelease, History

Ints = npt.NDArray[np.int64]


# Which published row is whose, where nobody has written it down: rows that fit one group only are in it.


# Which published row is whose, where nobody has written it down: rows that fit one group only are in it.


@dataclass(frozen=True, eq=False)
class RowPlacement:
    """The original row of every published row, -1 where it belongs to nobody; how many rows fit several groups."""

    rows: Ints
    several: int


def place_rows(evidence: AuditContext) -> RowPlacement:
    """Give every original row a published row of the only group that covers it and shows its sensitive values.

    Where buckets number sensitive values, rows that are `*` in all quasi-identifiers belong to nobody. A row that fits
    several groups is placed in none of them, and counted.
    """
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    table, shown = evidence.table, evidence.published
    names = [name for name in evidence.schema.sensitive if name not in evidence.schema.flags]
    buckets = {name: found for name in names if (found := read_bucket_numbers(shown, name)) is not None}
    alike = {name: encode_together(shown[name], evidence.source[name]) for name in names}
    kept = [alike[name] for name in names if name not in buckets]
    numbers = [each - each.min(initial=0) for each in buckets.values()]
    out = group_columns(
        [table.grouped.labels, *numbers, *(each.shown for each in kept)],
        [len(table.grouped), *(int(each.max(initial=0)) + 1 for each in numbers), *(each.width for each in kept)],
    )
    own: list[tuple[npt.NDArray[np.integer], int]] = [
        *((column.codes, len(column.domain) + 1) for column in coded.quasi),
        *((each.original, each.width) for each in alike.values()),
    ]
    into = group_columns(
        [np.zeros(coded.rows, dtype=np.int64), *(each[0] for each in own)], [1, *(each[1] for each in own)]
    )
    places, sources = representative_rows(out), representative_rows(into)
    here, there = _pairs(evidence, places, sources, nobody=bool(buckets))
    for name, each in alike.items():
        fits = (
            _in_bucket(buckets[name], each, places[here], each.original[sources[there]])
            if name in buckets
            else each.equal(places[here], sources[there])
        )
        here, there = here[fits], there[fits]
    cells = [
        _cells_of(buckets[name], alike[name], places[here], alike[name].original[sources[there]]) for name in buckets
    ]
    return _match_unique(out, into, here, there, cells)


def _pairs(evidence: AuditContext, places: Ints, sources: Ints, *, nobody: bool) -> tuple[Ints, Ints]:
    """List the pairs of a published and an original combination whose quasi-identifiers fit."""
    table, coded = evidence.table, evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    groups = table.grouped.labels[places]
    quasi = [np.zeros(coded.rows, dtype=np.int64), *(column.codes for column in coded.quasi)]
    widths = [1, *(len(column.domain) + 1 for column in coded.quasi)]
    known = group_columns(quasi, widths)
    points = representative_rows(known)
    covered = _covering(evidence, points, nobody=nobody)
    by_group, by_point = np.argsort(groups, kind="stable"), np.argsort(known.labels[sources], kind="stable")
    first = _expand(covered[0], groups[by_group], by_group)
    second = _expand(covered[1][first[0]], known.labels[sources][by_point], by_point)
    return first[1][second[0]], second[1]


def _expand(keys: npt.NDArray[np.integer], held: npt.NDArray[np.integer], places: Ints) -> tuple[Ints, Ints]:
    """Join keys with sorted ones: the index of the key and the place of the other, for all pairs."""
    begin, end = np.searchsorted(held, keys, side="left"), np.searchsorted(held, keys, side="right")
    many = end - begin
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(np.arange(len(keys)), many), places[np.repeat(begin, many) + within]


def _covering(evidence: AuditContext, points: Ints, *, nobody: bool) -> tuple[Ints, Ints]:
    """List the pairs of a published group and a point that it covers; groups of `*` cover nobody if that is said."""
    table, coded = evidence.table, evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    groups = np.ones(len(table.grouped), dtype=np.bool_)
    if nobody and table.columns:
        groups &= ~np.logical_and.reduce([column.mask_suppressed()[table.first_rows] for column in table.columns])
    boxes = make_boxes(table)
    exact = groups & (boxes.low == boxes.high).all(axis=1) & (boxes.member_rows < 0).all(axis=1)
    codes = np.array([column.codes[points] for column in coded.quasi], dtype=np.int64).reshape(-1, len(points))
    widths = [1, *(len(column.domain) + 2 for column in coded.quasi)]
    ones = np.flatnonzero(exact)
    both = np.concatenate([boxes.low[ones].T.astype(np.int64), codes], axis=1)
    alike = group_columns([np.zeros(both.shape[1], dtype=np.int64), *both], widths).labels
    order = np.argsort(alike[: len(ones)], kind="stable")
    there, at = _expand(alike[len(ones) :], alike[: len(ones)][order], ones[order])
    wide = np.flatnonzero(groups & ~exact)
    if len(wide) * len(points) > MOST_PAIRS:
        raise SchemaError(
            f"Finding out who is in which group would compare {len(wide) * len(points):,} pairs; give the "
            "correspondence of every published table, too."
        )
    found = [(at, there)]
    many = max(1, PAIRS_AT_ONCE // max(1, len(points)))
    for begin in range(0, len(wide), many):
        some = wide[begin : begin + many]
        here, there = np.repeat(some, len(points)), np.tile(np.arange(len(points)), len(some))
        for number, column in enumerate(table.columns):
            fits = cells_cover(column, table.by_group(column)[here], codes[number][there])
            here, there = here[fits], there[fits]
        found.append((here, there))
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


def _own_buckets(buckets: Ints) -> Ints:
    """Return the buckets, with one of its own for every cell that stands in none."""
    return np.where(buckets >= 0, buckets, buckets.max(initial=0) + 1 + np.arange(len(buckets)))


def _in_bucket(buckets: Ints, kept: UnchangedColumn, rows: Ints, codes: Ints) -> npt.NDArray[np.bool_]:
    """Return whether the bucket of a published row shows a value; a cell in no bucket shows its own."""
    bucket = _own_buckets(buckets)
    return np.isin(bucket[rows] * kept.width + codes, np.unique(bucket * kept.width + kept.shown))


def _cells_of(buckets: Ints, kept: UnchangedColumn, rows: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Return a number for the values that buckets show: that of every pair, and how often each is shown."""
    bucket = _own_buckets(buckets)
    held, counts = np.unique(bucket * kept.width + kept.shown, return_counts=True)
    return np.searchsorted(held, bucket[rows] * kept.width + codes), counts


def _match_unique(
    out: Grouped, into: Grouped, here: Ints, there: Ints, cells: Sequence[tuple[Ints, Ints]]
) -> RowPlacement:
    """Place the rows that fit one combination only; where that is full, nobody else is in it.

    `cells` number for every pair what else has room for so many only: the values that a bucket shows.
    """
    rooms = [(here, out.counts), *cells]
    open_pairs = np.ones(len(here), dtype=np.bool_)
    while True:
        sole = open_pairs & (np.bincount(there[open_pairs], minlength=len(into)) == 1)[there]
        full = np.zeros(len(here), dtype=np.bool_)
        for at, room in rooms:
            taken = np.bincount(at[sole], into.counts[there[sole]], len(room))
            full |= (taken >= room)[at] & ~sole
        if not (full & open_pairs).any():
            break
        open_pairs &= ~full
    for at, room in rooms:  # more persons than rows: some were left out, and nobody can say who
        sole &= (np.bincount(at[sole], into.counts[there[sole]], len(room)) <= room)[at]
    rows = np.full(len(out.labels), -1)
    many = into.counts[there[sole]]
    rows[_take_from_combination(out, np.repeat(here[sole], many))] = _take_from_combination(
        into, np.repeat(there[sole], many)
    )
    fitting = np.zeros(len(into), dtype=np.bool_)
    fitting[there] = True
    fitting[there[sole]] = False
    return RowPlacement(rows, int(into.counts[fitting].sum()))


def _take_from_combination(grouped: Grouped, wanted: Ints) -> Ints:
    """Return another row of the combination for every one that is wanted."""
    rows = np.argsort(grouped.labels, kind="stable")
    starts = np.append(0, np.cumsum(grouped.counts))
    order = np.argsort(wanted, kind="stable")
    rank = np.empty(len(wanted), dtype=np.int64)
    rank[order] = np.arange(len(wanted)) - np.searchsorted(wanted[order], wanted[order], side="left")
    return np.asarray(rows[starts[wanted] + rank])


PAIR, TRIPLE = 2, 3


class ReleasedTable(Protocol):
    """What was released, with what it was made from: a `Release`."""

    @property
    def evidence(self) -> AuditContext:
        """The published table, its original, and which published row is whose."""


Rows = Sequence[int] | npt.NDArray[np.integer]
Element = ReleasedTable | tuple[Frame, Frame] | tuple[Frame, Frame, Rows]


@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """One version of a table, and what was published of it."""

    evidence: AuditContext
    name: str

    @cached_property
    def placed(self) -> RowPlacement:
        """The original row of every published row, -1 where it belongs to nobody."""
        known = self.evidence.correspondence
        return place_rows(self.evidence) if known is None else RowPlacement(known, 0)

    @cached_property
    def source(self) -> pa.Table:
        """The original, as it was before it was masked."""
        masked = self.evidence.masking.original
        return self.evidence.source if masked is None else masked

    @cached_property
    def keys(self) -> pa.Array:
        """A text for every original row that tells persons apart."""
        return individual_keys(self.source, self.evidence.schema.identifiers, self.name)

    def visible_cells(self, attribute: str) -> npt.NDArray[np.bool_]:
        """Return which published rows show a cell that is not flagged, though others of its attribute are.

        A quasi-identifier counts as shown however coarse it is published, because she knows it.
        """
        shown, flag = self.evidence.published, self.evidence.schema.flags.get(attribute)
        buckets, rows = read_bucket_numbers(shown, attribute), self.placed.rows
        if flag is None:
            return np.zeros(shown.num_rows, dtype=np.bool_)
        open_cells = ~np.asarray(self.source[flag])[np.maximum(rows, 0)] & (rows >= 0)
        return open_cells if buckets is None else open_cells & (buckets < 0)

    def groups_of(self, attribute: str) -> Ints:
        """Return the group of every published row for one attribute: its bucket, or the rows that look alike.

        A cell that stands in no bucket, though others do, is shown with its row: a group of its own.
        """
        buckets = read_bucket_numbers(self.evidence.published, attribute)
        if buckets is None:
            return self.evidence.table.grouped.labels.astype(np.int64)
        apart = np.flatnonzero(buckets < 0)
        found = buckets.copy()
        found[apart] = int(buckets.max(initial=-1)) + 1 + np.arange(len(apart))
        return np.unique(found, return_inverse=True)[1].astype(np.int64)


def linked_groups(version: Version, attribute: str) -> int:
    """Count the groups in which rows can be recognized by a cell that stands beside the value of an attribute.

    Where such cells are not the same for the whole group, they may recognize a row in another release, and so the
    person.
    """
    shown, group = version.evidence.published, version.groups_of(attribute)
    odd = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.bool_)
    for name in visible_columns(shown, version.evidence.schema, attribute):
        cells = encode_texts_together([format_values(shown[name])])[0][0]
        low, high = np.full(len(odd), np.iinfo(np.int64).max), np.full(len(odd), -1)
        np.minimum.at(low, group, cells)
        np.maximum.at(high, group, cells)
        odd |= low < high
    return int(odd.sum())


def visible_columns(shown: pa.Table, schema: Schema, attribute: str) -> list[str]:
    """Return the columns whose cells stand beside the value of an attribute.

    A value in a bucket of its own stands beside nothing: it may be any row's of the bucket. In a bucket of several
    attributes the others go with it; elsewhere insensitive and other sensitive cells of its row, unless they are in
    buckets of their own.
    """
    columns = shown.column_names
    bucket = find_bucket_column(columns, attribute)
    if bucket is not None:
        return [name for name in parse_bucket_column(bucket, columns) if name != attribute]
    others = (*schema.sensitive, *schema.insensitive)
    return [
        name for name in others if name != attribute and name in columns and find_bucket_column(columns, name) is None
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Versions:
    """All versions of a series, with their persons numbered alike."""

    versions: tuple[Version, ...]
    schema: Schema

    @classmethod
    def of(cls, releases: Sequence[Element], schema: Schema | None) -> Versions:
        """Take releases as they are, or pairs of a published and an original table with a schema."""
        if not isinstance(releases, list | tuple) or not releases:
            raise InvalidParameterError("A series is a list of releases, or of pairs (published, original).")
        made = []
        for number, each in enumerate(releases, start=1):
            evidence = getattr(each, "evidence", None)
            if isinstance(evidence, AuditContext):
                evidence = evidence if schema is None else _by(evidence, schema)
            else:
                evidence = _of_pair(each, number, schema)
            if evidence.original is None:
                raise InvalidParameterError(f"Release {number} has no original, which says who is who; give it, too.")
            made.append(Version(evidence, f"version {number}"))
        schemas = {(tuple(each.evidence.schema.identifiers), tuple(each.evidence.schema.sensitive)) for each in made}
        if len(schemas) > 1:
            raise SchemaError(
                "The releases of a series have different identifiers or sensitive attributes; give one schema for all."
            )
        return cls(tuple(made), made[-1].evidence.schema)

    @cached_property
    def individuals(self) -> tuple[list[Ints], int]:
        """The person of every original row of every version, and how many persons there are."""
        return number_individuals([each.keys for each in self.versions])

    @property
    def unplaced(self) -> int:
        """How many rows fit several groups of a release, so that nobody can say in which one they are."""
        return sum(each.placed.several for each in self.versions)

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The attributes whose values are hidden: sensitive ones, and those with flagged cells."""
        return tuple(dict.fromkeys([*self.schema.sensitive, *self.schema.flags]))

    def linked(self, attribute: str) -> int:
        """Count the groups whose rows show, beside a value, something that differs among them; see `linked_groups`."""
        return sum(linked_groups(each, attribute) for each in self.versions)

    def history(self, attribute: str) -> History:
        """Return who was in which group of every release, and what the groups showed."""
        if attribute not in self.attributes:
            hint = suggest_closest(attribute, self.attributes) or "."
            raise SchemaError(f"{attribute!r} is no sensitive attribute of the series{hint}")
        if self.schema.missing is MissingPolicy.MATCHES_ALL:
            raise InvalidParameterError('A series is judged with missing="own-value" only; choose that policy.')
        persons, everybody = self.individuals
        shown, own, values = self.coded(attribute)
        width, transient = len(values) + 1, attribute in self.schema.transient
        releases, truth = [], np.full((len(shown), everybody), -1)
        for number, version in enumerate(self.versions):
            truth[number, persons[number]] = own[number]
            cells = shown[number]
            if attribute not in self.schema.sensitive:  # coarse or not, she knows what is not flagged
                known = own[number][np.maximum(version.placed.rows, 0)]
                cells = np.where(version.visible_cells(attribute), known, cells)
            releases.append(self._release(version, attribute, cells, persons[number], width))
            if not version.placed.several and not version.evidence.masking.records:
                _check_groups_show_members(releases[-1], truth[number], attribute, version.name)
        history = History(attribute, everybody, tuple(releases), truth, transient=transient, values=values)
        if not transient:
            _check_permanent_values(history)
        return history

    def coded(self, attribute: str) -> tuple[list[Ints], list[Ints], tuple[str, ...]]:
        """Return the codes of the published and of the original cells of every version, and the texts of the codes."""
        shown = [_cells(each.evidence.published, attribute, each.name) for each in self.versions]
        own = [_cells(each.source, attribute, each.name) for each in self.versions]
        codes, values = encode_texts_together([*shown, *own])
        return codes[: len(shown)], codes[len(shown) :], values

    def _release(self, version: Version, attribute: str, codes: Ints, persons: Ints, width: int) -> GroupedRelease:
        group, rows = version.groups_of(attribute), version.placed.rows
        kept, alone = self._published_cells(version, attribute), version.visible_cells(attribute)
        groups = int(group.max(initial=-1)) + 1
        shown = np.zeros(groups, dtype=np.bool_)
        shown[group[alone]] = read_bucket_numbers(version.evidence.published, attribute) is not None
        members = np.full(self.individuals[1], -1)
        mine = kept & (rows >= 0)
        members[persons[rows[mine]]] = group[mine]
        once = np.ones(int(kept.sum()), dtype=np.int64)
        histogram = Histogram.from_entries(group[kept], codes[kept], once, groups=groups, width=width)
        nobody = np.bincount(group[kept & (rows < 0)], minlength=groups)
        return GroupedRelease(members, histogram, nobody, shown).select_groups(histogram.sizes > 0)

    def _published_cells(self, version: Version, attribute: str) -> npt.NDArray[np.bool_]:
        """Say which cells are in groups; a suppressed one that stands with its row is in none.

        Neither are cells of a row of nobody that stand in no bucket.
        """
        shown = version.evidence.published
        buckets = read_bucket_numbers(shown, attribute)
        if attribute not in self.schema.sensitive:
            alone = version.visible_cells(attribute)
            return np.zeros(shown.num_rows, dtype=np.bool_) if buckets is None else np.asarray(alone | (buckets >= 0))
        stars = np.asarray(pc.fill_null(pc.equal(format_values(shown[attribute]), SUPPRESSED_TEXT), fill_value=False))
        return ~stars if buckets is None else (~stars & (version.placed.rows >= 0)) | (buckets >= 0)


def _by(evidence: AuditContext, schema: Schema) -> AuditContext:
    return evidence if evidence.schema is schema else replace(evidence, schema=schema)


def _of_pair(pair: object, number: int, schema: Schema | None) -> AuditContext:
    """Read a pair of a published and an original table, with the original row of every published row if it is known."""
    if not isinstance(pair, tuple | list) or len(pair) not in {PAIR, TRIPLE}:
        raise InvalidParameterError(
            f"Element {number} of the series must be a release, or a pair (published, original)."
        )
    if schema is None:
        raise InvalidParameterError("Pairs of tables need a schema, which says who is who; give schema=.")
    shown, original = (to_arrow(each)[0] for each in pair[:PAIR])
    rows = None
    if len(pair) == TRIPLE:
        rows = row_numbers(pair[PAIR])
        known = rows[rows >= 0]
        outside = (rows < -1).any() or (known >= original.num_rows).any()
        if len(rows) != shown.num_rows or outside or len(np.unique(known)) < len(known):
            raise SchemaError(
                f"The correspondence of version {number} must name another original row for every published row, or -1."
            )
    return AuditContext(shown, schema, original=original, correspondence=rows)


def _cells(table: pa.Table, attribute: str, version: str) -> pa.Array:
    if attribute not in table.column_names:
        raise SchemaError(f"In {version} the column {attribute!r} is missing; every version needs the same columns.")
    return format_values(table[attribute])


def _check_groups_show_members(release: GroupedRelease, truth: Ints, attribute: str, version: str) -> None:
    """Refuse groups that do not show their members' values: somebody else must be in them."""
    here = np.flatnonzero((release.members >= 0) & (truth >= 0))
    width = release.histogram.width
    pairs, often = np.unique(release.members[here] * width + truth[here], return_counts=True)
    strange = release.histogram.look_up_counts(pairs // width, pairs % width) < often
    if strange.any():
        groups = len(np.unique(pairs[strange] // width))
        raise SchemaError(
            f"In {version} {groups:,} groups do not show the values of {attribute!r} that their members have; give "
            "the original and the correspondence of this release."
        )


def _check_permanent_values(history: History) -> None:
    """Refuse values that are called permanent and are not."""
    truth = history.truth
    assert truth is not None  # noqa: S101 - made from originals
    largest = truth.max(axis=0)
    changed = ((truth >= 0) & (truth != largest)).any(axis=0)
    if changed.any():
        groups = sum(len(np.unique(each.members[changed & (each.members >= 0)])) for each in history.releases)
        raise SchemaError(
            f"{int(changed.sum()):,} persons, in {groups:,} groups, have another value of {history.attribute!r} in "
            "another version; name the attribute in Schema.transient if its values change, or correct them."
        )


def encode_texts_together(columns: Sequence[pa.Array]) -> tuple[list[Ints], tuple[str, ...]]:
    """Code the canonical texts of several columns alike; a missing cell is the last value, as everywhere."""
    together = pa.chunked_array(list(columns), pa.string())
    values = pc.drop_null(together.unique()).sort()
    places = pc.index_in(together, value_set=values).fill_null(len(values)).to_numpy().astype(np.int64)
    ends = np.cumsum([len(each) for each in columns])
    return np.split(places, ends[:-1]), tuple(values.to_pylist())
