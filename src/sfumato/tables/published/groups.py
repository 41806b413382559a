"""The waist, part 2: group sizes and value counts per group, which is all that models judge.

Counts can be added (the same groups counted in parts) and groups can be merged (unions), so a model
that reads only `Groups` works wherever groups can be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding._counts import sparse_counts, sum_by_key
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError
from sfumato.schema.roles import MissingPolicy

Counts = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of one attribute's values in every group, as sorted rows of a sparse matrix.

    `codes[offsets[g]:offsets[g + 1]]` are the values that occur in group g, ascending, and `counts` says
    how often. `missing` counts cells that may be any value (policy matches-all); under the policy
    own-value a missing cell is an ordinary value and `missing` is zero.
    """

    offsets: Counts
    codes: npt.NDArray[np.int32]
    counts: Counts
    width: int
    missing: Counts

    @property
    def sizes(self) -> Counts:
        """The weight of each group: its records, or a multiple if values are only expected there."""
        return self.reduce(np.add, self.counts) + self.missing

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        """The group of every stored count."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def reduce(self, function: np.ufunc, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Reduce one number per stored count to one number per group; 0 for an empty group."""
        starts = self.offsets[:-1]
        filled = self.offsets[1:] > starts
        if filled.all():
            return function.reduceat(values, starts, dtype=values.dtype)
        result = np.zeros(len(starts), dtype=values.dtype)
        if filled.any():
            result[filled] = function.reduceat(values, starts[filled], dtype=values.dtype)
        return result

    def look_up_counts(self, groups: npt.NDArray[np.integer], codes: npt.NDArray[np.integer]) -> Counts:
        """Look up how often a group has a value, for pairs of group and value."""
        keys = np.append(self.rows * self.width + self.codes, np.iinfo(np.int64).max)
        wanted = groups.astype(np.int64) * self.width + codes
        place = np.searchsorted(keys, wanted)
        return np.where(keys[place] == wanted, np.append(self.counts, 0)[place], 0)

    @cached_property
    def worst_case(self) -> Histogram:
        """The worst-case histogram: the missing cells of each group have its most frequent value.

        If a group has missing cells only, they all have the same value.
        """
        if not self.missing.any():
            return self
        unknown = np.flatnonzero((np.diff(self.offsets) == 0) & (self.missing > 0))
        rows, largest = self.rows, self.reduce(np.maximum, self.counts)
        top = np.flatnonzero(self.counts == largest[rows])
        groups, first = np.unique(rows[top], return_index=True)
        worst = self.counts.copy()
        worst[top[first]] += self.missing[groups]
        return _sum_entries(
            np.concatenate([rows, unknown]),
            np.concatenate([self.codes, np.full(len(unknown), self.width - 1, dtype=np.int32)]),
            np.concatenate([worst, self.missing[unknown]]),
            self.width,
            np.zeros_like(self.missing),
        )

    @classmethod
    def from_entries(
        cls,
        rows: npt.NDArray[np.integer],
        codes: npt.NDArray[np.integer],
        counts: Counts,
        *,
        groups: int,
        width: int,
    ) -> Histogram:
        """Sum counts given as (group, value, count) in any order."""
        return _sum_entries(
            rows.astype(np.intp), codes.astype(np.int32), counts, width, np.zeros(groups, dtype=np.int64)
        )

    def separate_missing(self) -> Histogram:
        """Remove the missing cells, which the last value represents, from the values."""
        lost = self.codes == self.width - 1
        missing = self.missing + self.reduce(np.add, np.where(lost, self.counts, 0))
        offsets = self.offsets - np.append(0, np.cumsum(lost))[self.offsets]
        return Histogram(offsets, self.codes[~lost], self.counts[~lost], self.width, missing)

    def merge_values(self, nodes: npt.NDArray[np.integer]) -> Histogram:
        """Count coarser values: value v becomes part of `nodes[v]`."""
        width = int(nodes.max()) + 1 if len(nodes) else 0
        if (nodes[1:] > nodes[:-1]).all():  # nothing falls together
            return self.renumber(nodes, width)
        return _sum_entries(self.rows, nodes[self.codes].astype(np.int32), self.counts, width, self.missing)

    def renumber(self, places: npt.NDArray[np.integer], width: int) -> Histogram:
        """Give values other numbers: value v gets the number `places[v]`, which no other gets, of so many."""
        if (places[1:] > places[:-1]).all():
            return Histogram(self.offsets, places[self.codes].astype(np.int32), self.counts, width, self.missing)
        return _sum_entries(self.rows, places[self.codes].astype(np.int32), self.counts, width, self.missing)

    def take(self, groups: npt.NDArray[np.intp]) -> Histogram:
        """Keep some groups, in the given order."""
        lengths = np.diff(self.offsets)[groups]
        offsets = np.append(0, np.cumsum(lengths))
        entries = np.repeat(self.offsets[groups] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Histogram(offsets, self.codes[entries], self.counts[entries], self.width, self.missing[groups])

    def merge_groups(self, labels: npt.NDArray[np.intp], groups: int) -> Histogram:
        """Count merged groups: old group g becomes part of new group `labels[g]`."""
        missing = np.bincount(labels, weights=self.missing, minlength=groups).astype(np.int64)
        return _sum_entries(labels[self.rows], self.codes, self.counts, self.width, missing)

    def __add__(self, other: Histogram) -> Histogram:
        return _sum_entries(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.counts, other.counts]),
            self.width,
            self.missing + other.missing,
        )


def _sum_entries(
    rows: npt.NDArray[np.intp], codes: npt.NDArray[np.int32], counts: Counts, width: int, missing: Counts
) -> Histogram:
    keys, summed = sum_by_key(rows.astype(np.int64) * width + codes, counts)
    offsets = np.searchsorted(keys, np.arange(len(missing) + 1, dtype=np.int64) * width)
    return Histogram(offsets, (keys % width).astype(np.int32), summed, width, missing)


@dataclass(frozen=True, eq=False)
class Groups:
    """Sizes of groups, histograms of sensitive attributes in them, and the table's own distribution.

    `totals` is what the distribution inside a group is compared with: by default the sum over all groups.
    `domains` give the order and hierarchy of the values where known. `population` counts the people of the
    population that each group covers, if one is known, and `uncovered` those whom no group covers; `presence`
    is the highest chance of one of these people to be in the table, over all groups that cover them.
    """

    sizes: Counts
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    totals: Mapping[str, Counts] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    population: Counts | None = None
    uncovered: int = 0
    presence: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        totals = {
            name: self.totals[name]
            if name in self.totals
            else np.bincount(h.codes, weights=h.counts, minlength=h.width).astype(np.int64)
            for name, h in self.histograms.items()
        }
        object.__setattr__(self, "totals", totals)

    def __len__(self) -> int:
        return len(self.sizes)

    def __add__(self, other: Groups) -> Groups:
        """Add counts of the same groups that were counted in two parts."""
        return Groups(
            self.sizes + other.sizes,
            {name: h + other.histograms[name] for name, h in self.histograms.items()},
            {name: total + other.totals[name] for name, total in self.totals.items()},
            self.domains,
            None if self.population is None or other.population is None else self.population + other.population,
            self.uncovered + other.uncovered,
        )

    def merge_groups(self, labels: npt.NDArray[np.intp]) -> Groups:
        """Merge groups: old group g becomes part of new group `labels[g]`; the totals of the table stay."""
        groups = int(labels.max()) + 1 if len(labels) else 0
        sizes = np.bincount(labels, weights=self.sizes, minlength=groups).astype(np.int64)
        histograms = {name: h.merge_groups(labels, groups) for name, h in self.histograms.items()}
        population = None
        if self.population is not None:
            population = np.bincount(labels, weights=self.population, minlength=groups).astype(np.int64)
        return Groups(sizes, histograms, self.totals, self.domains, population, self.uncovered)

    def align_domains(self, domains: Mapping[str, Domain]) -> Groups:
        """Give values the numbers of other domains, which have them all, where another is given.

        Counts stay what they are, so nobody has to count again to compare with another table.
        """
        histograms, totals = dict(self.histograms), dict(self.totals)
        for name in self.domains.keys() & domains.keys():
            values, domain = self.domains[name].values, domains[name]
            if values.equals(domain.values):
                continue
            places = np.append(domain.encode(pa.chunked_array([values])).astype(np.int64), domain.missing)
            histograms[name] = self.histograms[name].renumber(places, len(domain) + 1)
            totals[name] = np.zeros(len(domain) + 1, dtype=np.int64)
            np.add.at(totals[name], places, self.totals[name])
        return replace(
            self,
            histograms=histograms,
            totals=totals,
            domains={name: domains.get(name, mine) for name, mine in self.domains.items()},
        )

    def take(self, groups: npt.NDArray[np.intp]) -> Groups:
        """Keep some groups, in the given order; the totals of the table stay."""
        histograms = {name: h.take(groups) for name, h in self.histograms.items()}
        population = None if self.population is None else self.population[groups]
        presence = None if self.presence is None else self.presence[groups]
        return Groups(self.sizes[groups], histograms, self.totals, self.domains, population, self.uncovered, presence)

    @classmethod
    def from_counts(
        cls,
        *,
        domains: Mapping[str, Domain] | None = None,
        totals: Mapping[str, Counts] | None = None,
        missing: Mapping[str, Sequence[int]] | None = None,
        **dense: Sequence[Sequence[int]],
    ) -> Groups:
        """Build groups from one dense count matrix per attribute (groups in rows, values in columns).

        >>> groups = Groups.from_counts(disease=[[2, 2], [3, 1]])
        >>> groups.sizes
        array([4, 4])
        """
        histograms: dict[str, Histogram] = {}
        sizes = np.zeros(0, dtype=np.int64)
        for name, matrix in dense.items():
            counts = np.asarray(matrix, dtype=np.int64)
            lost = np.asarray((missing or {}).get(name, np.zeros(len(counts))), dtype=np.int64)
            if histograms and not np.array_equal(sizes, counts.sum(axis=1) + lost):
                raise InvalidParameterError(
                    f"Groups.from_counts: {name!r} must have the same group sizes as the first."
                )
            sizes = counts.sum(axis=1) + lost
            rows, codes = np.nonzero(counts)
            offsets = np.searchsorted(rows, np.arange(len(counts) + 1))
            histograms[name] = Histogram(offsets, codes.astype(np.int32), counts[rows, codes], counts.shape[1], lost)
        return cls(sizes, histograms, totals or {}, domains or {})

    @classmethod
    def from_rows(
        cls,
        group: npt.NDArray[np.integer],
        groups: int,
        columns: Sequence[CodedColumn] = (),
        missing: MissingPolicy = MissingPolicy.OWN_VALUE,
        *,
        weights: npt.NDArray[np.integer] | None = None,
        totals: Mapping[str, Counts] | None = None,
    ) -> Groups:
        """Count records per group, and values of each column per group; negative groups are left out."""
        if len(group) and group.min() < 0:
            published = np.flatnonzero(group >= 0)
            group = group[published]
            columns = [column.take(published) for column in columns]
            weights = None if weights is None else weights[published]
        sizes = np.bincount(group, weights, minlength=groups).astype(np.int64)
        histograms = {}
        for column in columns:
            width = len(column.domain) + 1
            counted = sparse_counts(group, groups, column.codes, width, weights)
            histogram = Histogram(*counted, width, np.zeros(groups, dtype=np.int64))
            histograms[column.name] = (
                histogram.separate_missing() if missing is MissingPolicy.MATCHES_ALL else histogram
            )
        return cls(sizes, histograms, totals or {}, {column.name: column.domain for column in columns})
