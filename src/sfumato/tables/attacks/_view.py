"""A published table as an adversary sees it who knows some columns of her targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.coded_table import CodedTable
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._beliefs import Floats, Ints, ValueBeliefs
from sfumato.tables.published._containment import (
    count_points,
    find_exact_codes,
    iter_visible_boxes,
    list_containment_pairs,
    list_equal_pairs,
)
from sfumato.tables.published._counting import count_groups
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import PublishedTable

Points = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class MatchingGroups:
    """The published groups that match each target: pairs of target and group, sorted by target."""

    targets: int
    target: Ints
    group: Ints
    sizes: Ints

    @cached_property
    def records(self) -> Ints:
        """The number of published records that match each target."""
        return np.bincount(self.target, weights=self.sizes[self.group], minlength=self.targets).astype(np.int64)

    def draw_groups(self, rng: np.random.Generator) -> Ints:
        """Draw one matching record for every target, and return its group; -1 if none matches."""
        total = np.cumsum(self.sizes[self.group])
        stop = np.searchsorted(self.target, np.arange(self.targets), side="right")
        before = np.append(0, total)[stop] - self.records
        drawn = before + np.minimum((rng.random(self.targets) * self.records).astype(np.int64), self.records - 1)
        place = np.searchsorted(total, drawn, side="right")
        found = self.records > 0
        groups = np.full(self.targets, -1, dtype=np.int64)
        groups[found] = self.group[place[found]]
        return groups


@dataclass(frozen=True, eq=False, repr=False)
class PublishedView:
    """One published table, read by the columns that the adversary knows."""

    table: PublishedTable
    groups: Groups
    loose: bool

    @classmethod
    def of(cls, shown: pa.Table, schema: Schema, people: CodedTable) -> PublishedView:
        """Read a table; `schema` names what is known, `people` are all the people the adversary knows."""
        table = PublishedTable.read(shown, schema, {column.name: column.domain for column in people.quasi})
        loose = schema.missing is MissingPolicy.MATCHES_ALL and bool(table.columns)
        return cls(table, count_groups(table, shown, schema), loose)

    def candidates(self, points: Points) -> MatchingGroups:
        """Find the groups that match each target; `points` has a row per column and a column per target."""
        places = None if self.loose else find_exact_codes(self.table)
        if places is not None:
            return MatchingGroups(points.shape[1], *list_equal_pairs(points, places), self.groups.sizes)
        target: list[Ints] = [np.zeros(0, dtype=np.int64)]
        group: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for mine, boxes in iter_visible_boxes(self.table, points, loose=self.loose):
            numbers = np.arange(points.shape[1])[mine]
            point, box = list_containment_pairs(np.ascontiguousarray(points[:, mine]), boxes)
            target.append(numbers[point])
            group.append(box)
        order = np.argsort(np.concatenate(target), kind="stable")
        return MatchingGroups(
            points.shape[1], np.concatenate(target)[order], np.concatenate(group)[order], self.groups.sizes
        )

    def individuals_covered(self, points: Points) -> Ints:
        """Count the people that every group matches."""
        covered = np.zeros(len(self.groups), dtype=np.int64)
        for mine, boxes in iter_visible_boxes(self.table, points, loose=self.loose):
            here = np.ascontiguousarray(points[:, mine])
            covered += count_points(here, np.ones(here.shape[1], dtype=np.int64), boxes)
        return covered

    def beliefs(self, candidates: MatchingGroups, sensitive: str) -> ValueBeliefs:
        """Return what the matching records say about a sensitive attribute; unknown cells count as the worst case."""
        histogram = self.groups.histograms[sensitive].worst_case
        spread = np.diff(histogram.offsets)[candidates.group]
        stop = np.cumsum(spread)
        entry = np.repeat(histogram.offsets[candidates.group] - stop + spread, spread) + np.arange(int(spread.sum()))
        weight = np.repeat(candidates.sizes[candidates.group] / histogram.sizes[candidates.group], spread)
        return ValueBeliefs.of_entries(
            np.repeat(candidates.target, spread),
            histogram.codes[entry].astype(np.int64),
            weight * histogram.counts[entry],
            targets=candidates.targets,
            width=histogram.width,
        )

    def prior(self, sensitive: str) -> Floats:
        """Return the share of every value in the whole published table."""
        totals = self.groups.totals[sensitive].astype(np.float64)
        shares: Floats = totals / max(totals.sum(), 1.0)
        return shares

    def texts(self, sensitive: str) -> Sequence[str]:
        """Return the texts of the values of a sensitive attribute, in the order of their codes."""
        return self.groups.domains[sensitive].texts


def draw_rows(groups: Ints, labels: npt.NDArray[np.int32], rng: np.random.Generator) -> Ints:
    """Draw a published row of every given group; -1 stays -1."""
    sizes = np.bincount(labels)
    wanted = np.zeros(len(sizes), dtype=np.bool_)
    wanted[groups[groups >= 0]] = True
    rows = np.flatnonzero(wanted[labels])
    order = rows[np.argsort(labels[rows], kind="stable")]
    held = np.where(wanted, sizes, 0)
    starts = np.cumsum(held) - held
    size = sizes[groups]
    place = starts[groups] + np.minimum((rng.random(len(groups)) * size).astype(np.int64), size - 1)
    return np.where(groups >= 0, order[np.minimum(place, len(order) - 1)], -1)
