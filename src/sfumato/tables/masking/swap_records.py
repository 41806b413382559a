"""Record swapping: units that stand out at their place change places with similar units from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._locale.messages import LocalizedText
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, is_integer, require, suggest_closest
from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding._row_order import rank_column
from sfumato.errors import SchemaError
from sfumato.tables.masking._swapping import pair_units_across_places
from sfumato.tables.masking.base import (
    MaskingStep,
    StepDescription,
    changed_share,
    check_names,
    format_names,
    replace_columns,
)

Ints = npt.NDArray[np.int64]
MOST_RATE = 0.5


@dataclass(frozen=True, kw_only=True)
class SwapRecords(MaskingStep):
    """Exchange the places of units that stand out there with those of similar units from other places [1]_.

    A unit is risky at a place if fewer than k persons there have the values of one of its members in `risk`. From the
    coarsest place to the finest, every risky unit that has not moved exchanges all its places with a unit of another
    place of that level that has not moved either and has the same values in `similar`; who stands out is more likely
    to be drawn. At the finest places further units follow, until the share `rate` of every place has moved. A unit
    without a partner stays, and so does one whose place is missing.

    Parameters
    ----------
    place : the columns that are exchanged, from coarse to fine; every finer place lies in one coarser.
    risk : the columns by which persons stand out.
    k : how many persons of a place must share these values, at least 2, for a unit not to be risky.
    similar : the columns in which partners are equal, or several such lists, of which later ones are tried for whoever
        finds no partner by the earlier.
    rate : the share of the units of every finest place that moves at least, up to 0.5.
    unit : a column that tells units such as households apart, which move as a whole; without it every row is a unit.

    References
    ----------
    .. [1] Dalenius and Reiss, "Data-swapping: a technique for disclosure control", Journal of Statistical Planning and
       Inference 6(1), 1982; targeted and by households as in sdcMicro's record swapping.
    """

    name = "swap-records"
    reference = "Dalenius, Reiss, Journal of Statistical Planning and Inference 6(1), 1982"
    description = StepDescription(
        promise="Some records are shown at the place of a similar one, above all those that stood out. Every place "
        "keeps its number of units, and of units with the same values in the columns by which partners are similar.",
        open="No number of persons is promised to look alike, and most records stay where they were: who stands out at "
        "a place is probably there. Relations between places and other columns are weakened.",
    )

    place: Sequence[str]
    risk: Sequence[str]
    k: int
    similar: Sequence[str] | Sequence[Sequence[str]]
    rate: float = 0.05
    unit: str | None = None

    def __post_init__(self) -> None:
        flat = isinstance(self.similar, list | tuple) and all(isinstance(each, str) for each in self.similar)
        profiles = [self.similar] if flat else self.similar
        require(isinstance(profiles, list | tuple) and bool(profiles), self, "similar", "lists of names", self.similar)
        found = tuple(check_names(self, "similar", each) for each in profiles)
        object.__setattr__(self, "similar", found)
        for name in ("place", "risk"):
            object.__setattr__(self, name, check_names(self, name, getattr(self, name)))
        require(not {*self.place} & {*self.risk}, self, "risk", "columns other than place", self.risk)
        require(not {*self.place} & {*sum(found, ())}, self, "similar", "columns other than place", self.similar)
        require(is_integer(self.k) and self.k > 1, self, "k", "a whole number of at least 2", self.k)
        fine = is_finite_number(self.rate) and 0 <= self.rate <= MOST_RATE
        require(fine, self, "rate", f"a share from 0 to {MOST_RATE}, for every move is a move of two", self.rate)
        require(self.unit is None or isinstance(self.unit, str), self, "unit", "the name of a column", self.unit)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that are exchanged."""
        return tuple(self.place)

    @property
    def random(self) -> bool:
        """Partners are drawn."""
        return True

    @property
    def profiles(self) -> tuple[tuple[str, ...], ...]:
        """The lists of columns in which partners are equal."""
        return tuple(tuple(each) for each in self.similar)

    def check_columns(self, table: pa.Table) -> None:
        """Refuse columns that the table does not have, also among those that are only read."""
        super().check_columns(table)
        for name in (*self.risk, *sum(self.profiles, ()), *([] if self.unit is None else [self.unit])):
            if name not in table.column_names:
                hint = suggest_closest(name, table.column_names) or "; name a column of the table."
                raise SchemaError(f"SwapRecords reads {name!r}, which is not in the table{hint}")

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Swap units."""
        units = self._units(table)
        partner = self._partners(units, stream)
        moved = partner[units.of_row] >= 0
        source = np.where(moved, units.first[partner[units.of_row]], np.arange(table.num_rows))
        return replace_columns(table, {name: table[name].take(pa.array(source)) for name in self.place})

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure who moved, who stood out and stayed, and how far an adversary can trust whoever stands out now.

        `stand-out-true` is the share of those who are alone with their values in `risk` at their published finest place
        that are really from there.
        """
        units = self._units(before)
        stayed = np.logical_and.reduce([_unchanged(before, after, name) for name in self.place])
        risky = np.logical_or.reduce([counts < self.k for counts in units.counts]) & units.placed
        known = units.placed[units.of_row]
        alone = (_counts(after, [self.place[-1], *self.risk]) == 1) & known
        return {
            "changed-cells": changed_share(before, after, self.place),
            "moved-units": float((~stayed[units.first]).mean()),
            "risky-units": float(risky.sum()),
            "stuck-units": float((risky & stayed[units.first]).sum()),
            "stand-out-true": float(stayed[alone].mean()) if alone.any() else 0.0,
        }

    def warnings(self, before: pa.Table, after: pa.Table, measures: Mapping[str, float]) -> tuple[str, ...]:
        """Tell how many units stood out and found no partner."""
        stuck = int(measures["stuck-units"])
        told = [LocalizedText("masking.warnings.stuck", n=stuck)] if stuck else []
        return (*super().warnings(before, after, measures), *told)

    def _partners(self, units: _Units, stream: KeyedRandom) -> Ints:
        """Return the partner of every unit, or a number below 0.

        Keys are exponential, in proportion to the counts: taken from the lowest up, units are drawn by 1 / count.
        """
        partner = np.where(units.placed, -1, -2)
        for level, counts in zip(units.places, units.counts, strict=True):
            keys = np.asarray(-np.log(stream.uniform(len(counts))) * counts, dtype=np.float64)
            order = np.argsort(keys, kind="stable")
            risky = order[counts[order] < self.k]
            need = np.full(int(level.max(initial=0)) + 1, len(counts))
            for profile in units.profiles:
                pair_units_across_places(risky, keys=keys, profile=profile, place=level, need=need, partner=partner)
        finest = units.places[-1]
        there = np.bincount(finest[units.placed], minlength=int(finest.max(initial=0)) + 1)
        gone = np.bincount(finest[partner >= 0], minlength=len(there))
        need = np.ceil(self.rate * there - 1e-9).astype(np.int64) - gone
        for profile in units.profiles:
            pair_units_across_places(order, keys=keys, profile=profile, place=finest, need=need, partner=partner)
        return partner

    def _units(self, table: pa.Table) -> _Units:
        self.check_columns(table)
        of_row, first = _unit_rows(table, self.unit)
        for name in {*self.place, *sum(self.profiles, ())} if self.unit is not None else ():
            codes = rank_column(table[name])[0]
            if (codes != codes[first][of_row]).any():
                raise SchemaError(
                    f"Column {name!r} varies inside units of {self.unit!r}, which move as a whole; name another column."
                )
        ranked = [rank_column(table[name]) for name in self.place]
        placed = np.logical_and.reduce([codes[first] < width - 1 for codes, width in ranked])
        for coarse, fine in zip(range(len(ranked)), range(1, len(ranked)), strict=False):
            self._check_nested(coarse, fine, [codes[first][placed] for codes, _ in ranked])
        counts = []
        for level in self.place:
            smallest = np.full(len(first), table.num_rows)
            np.minimum.at(smallest, of_row, _counts(table, [level, *self.risk]))
            counts.append(smallest)
        return _Units(
            of_row=of_row,
            first=first,
            placed=placed,
            places=[codes[first] for codes, _ in ranked],
            counts=counts,
            profiles=[_labels(table, profile)[first] for profile in self.profiles],
        )

    def _check_nested(self, coarse: int, fine: int, places: list[Ints]) -> None:
        pairs = np.unique(np.stack([places[fine], places[coarse]], axis=1), axis=0)
        if len(np.unique(pairs[:, 0])) < len(pairs):
            raise SchemaError(
                f"A place of {self.place[fine]!r} lies in several of {self.place[coarse]!r}; order "
                f"{format_names(self.place)} from coarse to fine, each place in one coarser."
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Units:
    """Units that move as a whole: which rows, whether their place is known, and per level place and smallest count."""

    of_row: Ints
    first: Ints
    placed: npt.NDArray[np.bool_]
    places: list[Ints]
    counts: list[Ints]
    profiles: list[Ints]


def _unit_rows(table: pa.Table, unit: str | None) -> tuple[Ints, Ints]:
    """Return the unit of every row, and the first row of every unit; rows that miss the unit are units of their own."""
    rows = np.arange(table.num_rows)
    if unit is None:
        return rows, rows
    codes, width = rank_column(table[unit])
    codes = np.where(codes < width - 1, codes, width + rows)
    _, first, of_row = np.unique(codes, return_index=True, return_inverse=True)
    return of_row.astype(np.int64), first.astype(np.int64)


def _labels(table: pa.Table, names: Sequence[str]) -> Ints:
    """Return the number of every row's combination of values, missing being a value."""
    ranked = [rank_column(table[name]) for name in names]
    return group_columns([codes for codes, _ in ranked], [width for _, width in ranked]).labels.astype(np.int64)


def _counts(table: pa.Table, names: Sequence[str]) -> Ints:
    """Return for every row how many rows have its values in some columns."""
    labels = _labels(table, names)
    return np.bincount(labels)[labels] if len(labels) else labels


def _unchanged(before: pa.Table, after: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Return which rows have the value they had."""
    both = pa.chunked_array([*before[name].chunks, *after[name].chunks], before[name].type)
    codes = rank_column(both)[0]
    return np.asarray(codes[: before.num_rows] == codes[before.num_rows :])
