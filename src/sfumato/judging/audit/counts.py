"""The groups of one published table, counted for the quasi-identifiers that a model looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.codes import CodedTable
from sfumato.coding.containment import Boxes, count_points, sum_over_boxes, weigh_boxes
from sfumato.coding.domain import Domain
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.core.groups import Groups
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.published.boxes import iter_visible_boxes
from sfumato.core.published.bucket_contents import BucketContents
from sfumato.core.published.counting import count_groups, count_original, count_real_records
from sfumato.core.published.table import PublishedTable, find_bucket_column
from sfumato.core.published.totals import SensitiveTotals
from sfumato.exceptions import SchemaError
from sfumato.judging.audit.matching import matching_groups
from sfumato.judging.flagged_cells import FlaggedBuckets, FlaggedCells, whole_buckets
from sfumato.models.base import GroupModel
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.schema import Schema

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class GroupCounts:
    """Counts of a published table's groups for each set of quasi-identifiers, computed on demand.

    `population` are the coded people that the records come from, if they are known; the domains of the table are then
    theirs. For a model of an attribute with flagged cells, the groups are the buckets of these cells: an adversary who
    knows everybody's quasi-identifiers may find every record. So they are for a model of buckets. `whole` are the
    groups on all quasi-identifiers, if they are already counted. `cells` contains what the original says about them. If
    the table holds only some groups of a larger one, `totals` are the sensitive values of that, and `contents` those of
    the buckets that its records are in.
    `original` are the coded records that it was made of, if they are known. `persons` are the rows that belong to
    somebody, if some do not: groups count these alone, and buckets hold what all show.
    """

    table: PublishedTable
    shown: pa.Table
    schema: Schema
    population: CodedTable | None = None
    whole: Groups | None = None
    cells: FlaggedCells = field(default_factory=FlaggedCells)
    totals: SensitiveTotals | None = None
    original: CodedTable | None = None
    contents: Mapping[str, BucketContents] | None = None
    individuals: Ints | None = None
    _known: dict[tuple[tuple[str, ...], bool], tuple[Groups, Groups]] = field(default_factory=dict, init=False)
    _buckets: dict[str, FlaggedBuckets] = field(default_factory=dict, init=False)

    @property
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """The domains of the sensitive attributes, as the published table alone tells them."""
        return self.of(KAnonymity(k=1))[1].domains

    def of(self, model: GroupModel) -> tuple[Groups, Groups]:
        """Return the groups that an adversary sees for a model, and the published groups themselves."""
        buckets = self._buckets_for(model)
        if buckets is not None:
            return buckets.groups, buckets.groups
        scope = tuple(sorted(model.scope))
        apart = self.schema.missing is MissingPolicy.MATCHES_ALL and bool(model.sensitive_attributes) and model.monotone
        if (scope, apart) not in self._known:
            self._known[scope, apart] = self._count(
                self.table.select_columns(scope) if scope else self.table, apart=apart
            )
        seen, own = self._known[scope, apart]
        if model.needs_original and self.original is not None:
            domains = {column.name: column.domain for column in self.original.sensitive}
            return seen.align_domains(domains), own.align_domains(domains)
        return seen, own

    def compared(self, model: GroupModel) -> GroupModel:
        """Return a model that can judge the groups: one that compares with the original gets to know its values."""
        if not model.needs_original:
            return model
        if self.original is None:
            raise SchemaError(
                f"{type(model).__name__} compares with the original table, which only its owner has; give original=, "
                'or let compared_with be "published".'
            )
        return model.with_reference(count_original(self.original, self.schema))

    def labels_of(self, model: GroupModel) -> npt.NDArray[np.int32]:
        """Return the group of every published row, as a model sees groups; `NOT_PUBLISHED` for a row in none."""
        buckets = self._buckets_for(model)
        if buckets is not None:
            return buckets.labels
        table = self.table.select_columns(model.scope) if model.scope else self.table
        if self.individuals is None:
            return table.grouped.labels
        labels = np.full(table.n_weighted_records, NOT_PUBLISHED, dtype=np.int32)
        labels[self.individuals] = table.take(self.individuals).grouped.labels
        return labels

    def published_values(self, model: GroupModel) -> set[str]:
        """Return the sensitive values that a model reads and the published table shows."""
        groups = self.of(model)[1]
        return {
            text
            for name in model.sensitive_attributes
            for text in _occurring(groups.domains[name], groups.totals[name])
        }

    def rarest(self, name: str) -> tuple[float, int]:
        """Return the least frequency-l-diversity of a sensitive attribute, and the records of the groups with it."""
        model = FrequencyLDiversity(l=1, sensitive=name)
        seen, own = self.of(model)
        level = np.asarray(model.levels(seen), dtype=np.float64)
        least = level.min(initial=np.inf)
        return float(least), int(own.sizes[level == least].sum())

    def _buckets_for(self, model: GroupModel) -> FlaggedBuckets | None:
        for name in model.sensitive_attributes:
            if name in self.schema.flags:
                if name not in self._buckets:
                    self._buckets[name] = self.cells.buckets(self.shown, name, self.schema, self.table.weights)
                return self._buckets[name]
            if model.applies_to_buckets and find_bucket_column(self.shown.column_names, name) is not None:
                if name not in self._buckets:
                    self._buckets[name] = whole_buckets(
                        self.shown, name, self.schema, self.table.weights, self.individuals
                    )
                return self._buckets[name]
        return None

    def _count(self, table: PublishedTable, *, apart: bool) -> tuple[Groups, Groups]:
        whole = self.whole if table is self.table else None
        if self.individuals is not None:
            table, own = count_real_records(table, self.shown, self.schema, self.individuals)
        elif whole is None:
            own = count_groups(table, self.shown, self.schema, totals=self.totals, contents=self.contents)
        else:
            own = whole
        loose = self.schema.missing is MissingPolicy.MATCHES_ALL and bool(table.columns)
        seen = matching_groups(table, own, apart=apart) if loose else own
        if self.population is None:
            return seen, own
        crowd = _Population(table, self.population, loose=loose)
        persons, uncovered = crowd.individuals()
        _check_population_contains_table(persons, own)
        presence = crowd.presence(own.sizes / persons)
        return (
            replace(seen, population=persons, uncovered=uncovered, presence=presence),
            replace(own, population=persons, uncovered=uncovered, presence=presence),
        )


def _occurring(domain: Domain, totals: Ints) -> list[str]:
    """Return the values of a domain that occur."""
    return [text for text, count in zip(domain.texts, totals.tolist(), strict=False) if count]


class _Population:
    """The people of a population, as points, and the boxes that the groups cover.

    If `loose`, missing cells of people and groups match everything.
    """

    def __init__(self, table: PublishedTable, population: CodedTable, *, loose: bool) -> None:
        looked_at = {column.name for column in table.columns}
        columns = [column for column in population.quasi if column.name in looked_at]
        widths = [len(column.domain) + 1 for column in columns]
        self.groups = len(table.grouped)
        self.rows = population.rows
        self.parts: list[tuple[npt.NDArray[np.int32], Ints, Boxes]] = []
        if not columns:
            return
        distinct = group_columns([column.codes for column in columns], widths)
        rows = representative_rows(distinct)
        points = np.array([column.codes[rows] for column in columns], dtype=np.int32)
        for mine, boxes in iter_visible_boxes(table, points, loose=loose):
            self.parts.append((np.ascontiguousarray(points[:, mine]), distinct.counts[mine], boxes))

    def individuals(self) -> tuple[Ints, int]:
        """Count the people whom every group covers, each once, and those whom none covers."""
        if not self.parts:
            return np.full(self.groups, self.rows, dtype=np.int64), 0
        persons, uncovered = np.zeros(self.groups, dtype=np.int64), 0
        for points, counts, boxes in self.parts:
            persons += count_points(points, counts, boxes)
            uncovered += int(counts[sum_over_boxes(points, boxes, np.ones(self.groups)) == 0].sum())
        return persons, uncovered

    def presence(self, chance: Floats) -> Floats:
        """Find for every group the highest chance that a person is present, summed over all groups that cover them."""
        highest = np.zeros(self.groups) if self.parts else chance
        for points, counts, boxes in self.parts:
            summed = np.minimum(sum_over_boxes(points, boxes, chance), 1.0)
            highest = np.maximum(highest, weigh_boxes(points, counts, summed, boxes)[1])
        return highest


def _check_population_contains_table(persons: Ints, own: Groups) -> None:
    """Refuse a population that does not contain everybody in the table."""
    lacking = int(np.count_nonzero(persons < own.sizes))
    if lacking:
        raise SchemaError(
            f"The population has fewer people than the published table has records in {lacking:,} of {len(own):,} "
            "groups; give the population that its records come from, and hierarchies to read its labels."
        )
