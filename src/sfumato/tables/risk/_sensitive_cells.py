"""Exposure to an adversary who knows a person's open cells, where other cells of the attributes stand in buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.published._containment import iter_visible_boxes, list_containment_pairs
from sfumato.tables.published._counting import count_groups, expected_counts
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.published.published_table import PublishedTable
from sfumato.tables.published.solution import NOT_PUBLISHED

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
BATCH_POINTS = 4_000


@dataclass(frozen=True, eq=False)
class BucketedColumn:
    """An attribute with flagged cells: the original cells and which of them are flagged, and what is published.

    `bucket` is the bucket of every published record, `NOT_PUBLISHED` outside any, and `held` are the cells in buckets.
    """

    original: CodedColumn
    flags: Mask
    bucket: Ints
    held: CodedColumn

    def take(self, rows: npt.NDArray[np.intp]) -> BucketedColumn:
        """Keep some rows of the original."""
        return replace(self, original=self.original.take(rows), flags=self.flags[rows])

    @cached_property
    def contents(self) -> Histogram:
        """What every bucket holds."""
        inside = self.bucket[self.bucket != NOT_PUBLISHED]
        return Groups.from_rows(inside, int(inside.max(initial=-1)) + 1, [self.held]).histograms[self.held.name]

    def shares(self, bucket: Ints, codes: Ints, *, loose: bool) -> Floats:
        """Return with what chance a cell of a bucket has a value; if `loose`, missing ones match everything."""
        nothing = self.original.domain.missing
        counts = self.contents.look_up_counts(bucket, codes)
        if loose:
            lost = self.contents.look_up_counts(bucket, np.full(len(bucket), nothing))
            counts = np.where(codes == nothing, self.contents.sizes[bucket], counts + lost)
        return np.asarray(counts / self.contents.sizes[bucket])


@dataclass(frozen=True, eq=False)
class MatchedCells:
    """The exposure of every original record: of its identity, and by attribute of its sensitive and flagged cells."""

    identity: Floats
    values: Mapping[str, Floats]


def match_cells(evidence: AuditContext, coded: CodedTable, hidden: Mapping[str, BucketedColumn]) -> MatchedCells:
    """Look for the records that may be each person's, in all tables that the published one may come from.

    A bucket says which values its records have, not which record has which, and every arrangement is as likely. A
    record whose cell stands in a bucket is the person's with the share of the person's value there, and never if the
    bucket lacks the value. A flagged cell of the person, which is not known, may be any in a bucket or suppressed.
    """
    columns = (*coded.quasi, *coded.sensitive)
    codes: list[npt.NDArray[np.integer]] = [column.codes for column in columns]
    codes += [each.flags.view(np.uint8) for each in hidden.values()]
    distinct = group_columns(codes, [*(len(column.domain) + 1 for column in columns), *[2] * len(hidden)])
    rows = representative_rows(distinct)
    people = _Individuals(
        tuple(column.take(rows) for column in coded.quasi),
        tuple(column.take(rows) for column in coded.sensitive if column.name not in hidden),
        {name: each.take(rows) for name, each in hidden.items()},
    )
    pieces = list(people.exposures(_PublishedCells.of(evidence, people), loose=evidence.missing_matches_all))
    place = np.argsort(np.concatenate([piece.points for piece in pieces]))[distinct.labels]
    found = {name: np.concatenate([piece.found[name] for piece in pieces])[place] for name in pieces[0].found}
    values = {name: np.where(each.flags, found[name], np.nan) for name, each in hidden.items()}
    plain = {column.name: found[column.name] for column in people.sensitive}
    return MatchedCells(np.concatenate([piece.identity for piece in pieces])[place], {**plain, **values})


def expected_cells(grouped: Grouped, bucket: Ints, held: CodedColumn) -> Histogram:
    """Count in every group what is expected of its records' cells that stand in buckets."""
    inside = bucket != NOT_PUBLISHED
    return expected_counts(grouped.labels[inside], len(grouped), bucket[inside], held)


def quotient(amount: Floats, records: Floats) -> Floats:
    """Divide; a person whom no published group contains is not exposed."""
    return np.asarray(np.divide(amount, records, out=np.zeros_like(records), where=records > 0))


@dataclass(frozen=True, eq=False)
class _PublishedCells:
    """The published records by their groups and the buckets of their quasi-identifiers: what boxes show and hold.

    Records of nobody are a box of their own, the last, of size 0.
    """

    table: PublishedTable
    sizes: Ints
    buckets: Mapping[str, Ints]
    hides: Mapping[str, Mask]
    sensitive: Mapping[str, Histogram]
    cells: Mapping[str, Histogram]

    @classmethod
    def of(cls, evidence: AuditContext, people: _Individuals) -> _PublishedCells:
        """Divide the groups of a published table by buckets, and count what they hold."""
        table, linked = evidence.table, people.linked
        persons = np.arange(table.n_weighted_records) if evidence.individual_rows is None else evidence.individual_rows
        numbers: list[npt.NDArray[np.integer]] = [table.grouped.labels[persons]]
        numbers += [each.bucket[persons] + 1 for each in linked.values()]
        alive = group_columns(numbers, [len(table.grouped), *(int(each.bucket.max()) + 2 for each in linked.values())])
        label = np.full(table.n_weighted_records, len(alive), dtype=np.int32)
        label[persons] = alive.labels
        boxes = len(alive) + (len(persons) < table.n_weighted_records)
        fine = replace(table, grouped=Grouped(label, np.arange(boxes), np.bincount(label, minlength=boxes)))
        counted = count_groups(fine, evidence.published, evidence.schema)
        groups = counted.align_domains({column.name: column.domain for column in people.sensitive})
        cells = {name: expected_cells(fine.grouped, each.bucket, each.held) for name, each in people.hidden.items()}
        hides = {}
        for column in table.columns:
            texts = column.starred_texts
            if evidence.missing_matches_all:
                texts = texts | np.array([text is None for text in column.texts])
            hides[column.name] = texts[fine.by_group(column)]
        return cls(
            fine,
            np.append(alive.counts, np.zeros(boxes - len(alive), dtype=np.int64)),
            {name: each.bucket[fine.first_rows] for name, each in linked.items()},
            hides,
            {column.name: groups.histograms[column.name] for column in people.sensitive},
            {name: each.separate_missing() if evidence.missing_matches_all else each for name, each in cells.items()},
        )


@dataclass(frozen=True, eq=False)
class _RiskPart:
    """How exposed some of the people are."""

    points: Ints
    identity: Floats
    found: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class _Individuals:
    """The distinct records of an original, with one row each."""

    quasi: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    hidden: Mapping[str, BucketedColumn]

    @property
    def linked(self) -> dict[str, BucketedColumn]:
        """The quasi-identifiers with flagged cells."""
        return {column.name: self.hidden[column.name] for column in self.quasi if column.name in self.hidden}

    def exposures(self, seen: _PublishedCells, *, loose: bool) -> Iterator[_RiskPart]:
        """Find out how exposed everybody is, some at a time."""
        columns = [
            np.where(self.hidden[column.name].flags, column.domain.missing, column.codes)
            if column.name in self.hidden
            else column.codes
            for column in self.quasi
        ]
        rows = len((*self.quasi, *self.sensitive, *(each.original for each in self.hidden.values()))[0].codes)
        points = np.array(columns, dtype=np.int32).reshape(-1, rows)
        for mine, boxes in iter_visible_boxes(seen.table, points, loose=loose):
            numbers = np.arange(rows)[mine]
            for start in range(0, len(numbers), BATCH_POINTS):
                some = numbers[start : start + BATCH_POINTS]
                point, box = list_containment_pairs(np.ascontiguousarray(points[:, some]), boxes)
                weights = self._chances(some[point], box, seen, loose=loose)
                kept = np.flatnonzero((weights > 0) & (seen.sizes[box] > 0))
                yield self._piece(some, (point[kept], box[kept], weights[kept]), seen)

    def _chances(self, row: Ints, box: Ints, seen: _PublishedCells, *, loose: bool) -> Floats:
        """Return for pairs of a person and a box with what chance the person's cells are those of a record there."""
        weights = np.ones(len(row))
        for name, each in self.linked.items():
            flagged, bucket = each.flags[row], seen.buckets[name][box]
            weights[flagged & (bucket == NOT_PUBLISHED) & ~seen.hides[name][box]] = 0.0
            inside = np.flatnonzero(~flagged & (bucket != NOT_PUBLISHED))
            weights[inside] *= each.shares(
                bucket[inside], each.original.codes[row[inside]].astype(np.int64), loose=loose
            )
        return weights

    def _piece(self, some: Ints, pairs: tuple[Ints, Ints, Floats], seen: _PublishedCells) -> _RiskPart:
        """Sum over the boxes that match; the likeliest record counts for an identity."""
        point, box, weights = pairs
        records = _sums(point, weights * seen.sizes[box], len(some))
        likeliest = np.zeros(len(some))
        np.maximum.at(likeliest, point, weights)
        found = {}
        held = {**seen.sensitive, **seen.cells}  # counts may be multiples of what is expected
        for column in (*self.sensitive, *(each.original for each in self.hidden.values())):
            counts = held[column.name]
            own = counts.look_up_counts(box, column.codes[some][point]) + counts.missing[box]
            amount = _sums(point, weights * own, len(some))
            found[column.name] = quotient(amount, _sums(point, weights * counts.sizes[box], len(some)))
        return _RiskPart(some, quotient(likeliest, records), found)


def _sums(point: Ints, amounts: Floats, points: int) -> Floats:
    """Sum over pairs by the person."""
    return np.bincount(point, amounts, minlength=points).astype(np.float64)
