"""The groups of one published table, counted for the quasi-identifiers that a model looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._flagged_cells import FlaggedBuckets, FlaggedCells, whole_buckets
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published._containment import Boxes, count_points, iter_visible_boxes, sum_over_boxes, weigh_boxes
from sfumato.tables.published._counting import count_groups, count_original, count_real_records
from sfumato.tables.published._sensitive_values import BucketContents, SensitiveTotals
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import PublishedTable, find_bucket_column
from sfumato.tables.published.solution import NOT_PUBLISHED

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# What is kept of the groups of a table that was judged piece by piece: their sizes, and the worst of their values.


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseCounts:
    """Sizes of all groups of a table, its sensitive values as a whole, and what its worst groups give away.

    Everything else about single groups was counted, judged and forgotten.
    """

    schema: Schema
    sizes: npt.NDArray[np.int64]
    totals: SensitiveTotals
    rare: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """The domains of the sensitive attributes."""
        return {name: column.domain for name, column in self.totals.columns.items()}

    def of(self, model: GroupModel) -> tuple[Groups, Groups]:
        """Return the groups for a model of their sizes; refuse one of sensitive values or of some columns."""
        if model.sensitive_attributes or model.scope or model.needs_population:
            raise InvalidParameterError(
                f"{type(model).__name__} cannot be judged any more: the table was judged in pieces, and of its groups "
                "only the sizes are kept; name the model when the table is audited."
            )
        groups = Groups(self.sizes)
        return groups, groups

    def compared(self, model: GroupModel) -> GroupModel:
        """Return a model as it is: those that read values are refused anyway."""
        return model

    def labels_of(self, model: GroupModel) -> npt.NDArray[np.int32]:
        """Refuse to tell the group of a row: no rows are kept."""
        raise InvalidParameterError(
            f"Which rows break {type(model).__name__} is not known of a table that was judged in pieces; audit the "
            "piece that holds them."
        )

    def published_values(self, model: GroupModel) -> set[str]:
        """Return the sensitive values that a model reads and the published table shows."""
        return {text for name in model.sensitive_attributes for text in self.totals.texts(name)}

    def rarest(self, name: str) -> tuple[float, int]:
        """Return the least frequency-l-diversity of a sensitive attribute, and the records of the groups with it."""
        return self.rare[name]


# Groups under the policy matches-all: a missing cell may be anything, and the worst it may be is what counts.


# Groups under the policy matches-all: a missing cell may be anything, and the worst it may be is what counts.
Mask = npt.NDArray[np.bool_]


def matching_groups(table: PublishedTable, groups: Groups, *, apart: bool = False) -> Groups:
    """Add to every group the records of other groups that an adversary cannot tell from it, whatever she knows.

    She knows what the missing cells of her target would say, and in the worst case nobody else's cell says that. So a
    group gets the records that miss the cells that it misses, and more, and are equal to it elsewhere or missing.
    Records that are missing everywhere would match everybody, and a few of them would make anything look safe: they
    count for nobody but themselves. Whoever matches two groups of which neither misses all that the other misses can
    meet both at once, in the eyes of somebody whose target would fit both. With `apart`, such records count for nobody
    else either: then what any adversary meets is a union of these groups that share no record, and keeps what each of
    them keeps, if merging good groups cannot break it.

    Groups are processed by their pattern of missing cells: the work grows with groups times patterns, never with pairs
    of groups.
    """
    cells = np.column_stack([table.by_group(column) for column in table.columns]).astype(np.int64)
    lost = np.column_stack([_missing(column.texts)[cells[:, j]] for j, column in enumerate(table.columns)])
    if not lost.any():
        return groups
    widths = [len(column.texts) for column in table.columns]
    patterns, pattern_of = np.unique(lost, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == number) for number in range(len(patterns))]
    sources, sums, givers, targets = [], [], [], []
    used = 0
    for number, pattern in enumerate(patterns):
        takers = [taker for taker, other in enumerate(patterns) if (other <= pattern).all()]
        if pattern.all() or (apart and not _nested(patterns[takers])):
            takers = [number]
        shared, theirs = np.flatnonzero(~pattern).tolist(), members[number]
        mine = np.concatenate([members[taker] for taker in takers])
        here, there = _keys(cells[mine][:, shared], cells[theirs][:, shared], [widths[j] for j in shared])
        met = np.isin(here, there)
        sources.append(theirs)
        sums.append(used + there)
        givers.append(used + here[met])
        targets.append(mine[met])
        used += int(there.max()) + 1
    summed = groups.take(np.concatenate(sources)).merge_groups(np.concatenate(sums))
    return summed.take(np.concatenate(givers)).merge_groups(np.concatenate(targets))


def _nested(patterns: Mask) -> bool:
    """Tell whether of any two patterns one misses all that the other misses."""
    ordered = patterns[np.argsort(patterns.sum(axis=1), kind="stable")]
    return bool((ordered[:-1] <= ordered[1:]).all())


def _missing(texts: tuple[str | None, ...]) -> Mask:
    return np.array([text is None for text in texts], dtype=np.bool_)


def _keys(mine: Ints, others: Ints, widths: list[int]) -> tuple[Ints, Ints]:
    """Return a number for every row of two tables, the same for equal rows."""
    if not widths:
        return np.zeros(len(mine), dtype=np.int64), np.zeros(len(others), dtype=np.int64)
    both = np.concatenate([mine, others])
    keys = group_columns([both[:, j] for j in range(both.shape[1])], widths).labels.astype(np.int64)
    return keys[: len(mine)], keys[len(mine) :]


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
