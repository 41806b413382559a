"""The values of an attribute, cut so finely that neither a published cell nor a condition divides a piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.domain import Domain
from sfumato.exceptions import InvalidParameterError
from sfumato.queries.query import (
    Comparison,
    Condition,
    condition_positions,
    match_leaves,
    match_positions,
    unknown_values_error,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


def sum_by_label(number: Ints, amounts: Floats | Truths, width: int) -> Floats:
    """Sum amounts that have the same number, for all numbers below `width`."""
    return np.bincount(number, weights=amounts, minlength=width).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class LabelCover:
    """For every label the pieces that it covers: from `first` to `last`, or `members` if they are listed.

    `missing` says which labels may also represent a missing value.
    """

    first: Ints
    last: Ints
    members: Mapping[int, Ints]
    missing: Truths

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def owned(self) -> tuple[Ints, Ints]:
        """The labels that list their pieces, and the pieces, side by side."""
        nothing = np.zeros(0, dtype=np.int64)
        owner = [np.full(len(pieces), label, dtype=np.int64) for label, pieces in self.members.items()]
        return np.concatenate([nothing, *owner]), np.concatenate([nothing, *self.members.values()])

    @cached_property
    def _listed(self) -> Ints:
        return np.fromiter(self.members, dtype=np.int64, count=len(self.members))

    def total(self, amounts: Floats) -> Floats:
        """Sum amounts of pieces over what every label covers."""
        sums = np.append(0.0, np.cumsum(amounts))
        found: Floats = sums[np.maximum(self.last, self.first - 1) + 1] - sums[self.first]
        if self.members:
            owner, piece = self.owned
            listed = sum_by_label(owner, amounts[piece], len(self))
            found[self._listed] = listed[self._listed]
        return found

    def minimum(self, values: Floats, among: Truths) -> Floats:
        """Find the smallest value among some pieces that every label covers; infinity if there is none."""
        chosen = np.flatnonzero(among)
        following = np.append(chosen, len(values))[np.searchsorted(chosen, self.first)]
        found = np.where(following <= self.last, np.append(values, np.inf)[following], np.inf)
        if self.members:
            owner, piece = self.owned
            listed = np.full(len(self), np.inf)
            np.minimum.at(listed, owner[among[piece]], values[piece[among[piece]]])
            found[self._listed] = listed[self._listed]
        return found

    def pairs(self) -> tuple[Ints, Ints]:
        """Return all pairs of a label and a piece that it covers."""
        many = np.maximum(self.last - self.first + 1, 0)
        many[self._listed] = 0
        label = np.repeat(np.arange(len(self)), many)
        within = np.arange(len(label)) - np.repeat(np.cumsum(many) - many, many)
        owner, piece = self.owned
        return np.append(label, owner), np.append(self.first[label] + within, piece)

    def among(self, kept: Truths) -> LabelCover:
        """Leave out all pieces but some."""
        before = np.append(0, np.cumsum(kept))
        members = {label: before[owned[kept[owned]]] for label, owned in self.members.items()}
        return LabelCover(before[self.first], before[np.maximum(self.last, -1) + 1] - 1, members, self.missing)

    def reversed(self, pieces: int) -> LabelCover:
        """Count the pieces from the other end."""
        turned = {label: pieces - 1 - owned for label, owned in self.members.items()}
        return LabelCover(pieces - 1 - self.last, pieces - 1 - self.first, turned, self.missing)


@dataclass(frozen=True, eq=False, repr=False)
class ConditionProbability:
    """What is known about a condition for every label or cell: its probability, and whether it must or may hold."""

    share: Floats
    sure: Truths
    possible: Truths


@dataclass(frozen=True, eq=False, repr=False)
class NumberBounds:
    """The numbers that every label or cell may represent if its condition holds; `expected` is 0 if not."""

    expected: Floats
    least: Floats
    greatest: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ValuePartition:
    """The pieces of one attribute.

    Parameters
    ----------
    domain : the values that the attribute can take, or that are shown.
    positions : a point inside every piece on the axis of a numeric domain.
    low, high, mean : the smallest, largest and mean number of every piece.
    weight : the relative share of a label's probability that goes to the piece.
    shown : the same for labels whose pieces have no weight.
    cover : which pieces every label covers.
    listed : whether the pieces are the leaves of the domain, possibly with one more for values that nothing shows.
    """

    domain: Domain
    positions: Floats
    low: Floats
    high: Floats
    mean: Floats
    weight: Floats
    shown: Floats
    cover: LabelCover
    listed: bool

    def __len__(self) -> int:
        return len(self.weight)

    def match(self, condition: Condition | None) -> Truths:
        """Return which pieces satisfy a condition; all if there is none."""
        if condition is None:
            return np.ones(len(self), dtype=np.bool_)
        name = self.domain.name
        if not self.listed:
            return match_positions(condition, condition_positions(name, condition, self.domain), self.positions)
        leaves = match_leaves(name, condition, self.domain)
        unshown = isinstance(condition, Comparison) and condition.sign == "!="
        return np.append(leaves, [unshown] * (len(self) - len(leaves))).astype(np.bool_)

    def evaluate(self, match: Truths) -> ConditionProbability:
        """Return for every label how likely, certain and possible it is that its value lies in the matching pieces."""
        met = self.cover.total(match.astype(np.float64))
        possible = met > 0
        sure = possible & (met == self._covered) & ~self.cover.missing
        share = self._mean_of(match.astype(np.float64), possible & ~sure)
        share = np.where(sure, 1.0, np.where(possible, share, 0.0))
        return ConditionProbability(np.clip(share, 0.0, 1.0), sure, possible)

    def numbers(self, match: Truths) -> NumberBounds:
        """Return for every label the expected, smallest and largest number in the matching pieces."""
        if len(self.domain) and not is_numeric(self.domain):
            raise InvalidParameterError(
                f"Only numbers can be summed and averaged, but {self.domain.name!r} has other values; choose another."
            )
        covers = self._covered > 0
        expected = np.where(covers, self._mean_of(np.where(match, self.mean, 0.0), covers), 0.0)
        turned = self.cover.reversed(len(self))
        greatest = -turned.minimum(-self.high[::-1], np.ascontiguousarray(match[::-1]))
        return NumberBounds(expected, self.cover.minimum(self.low, match), greatest)

    @cached_property
    def _covered(self) -> Floats:
        return self.cover.total(np.ones(len(self)))

    @cached_property
    def _totals(self) -> tuple[Floats, Floats]:
        return self.cover.total(self.weight), self.cover.total(self.shown)

    def _mean_of(self, amounts: Floats, needed: Truths) -> Floats:
        """Average amounts of pieces over what every label covers, by weight; refuse if it is needed and unknown."""
        weights, shown = self._totals
        measured = self.cover.total(amounts * self.weight) / np.where(weights > 0, weights, np.nan)
        counted = self.cover.total(amounts * self.shown) / np.where(shown > 0, shown, np.nan)
        found = np.where(weights > 0, measured, counted)
        if np.isnan(found[needed]).any():
            raise unknown_values_error(self.domain.name)
        return found


def is_numeric(domain: Domain) -> bool:
    """Return whether the leaves of a domain are numbers, so that they have a sum."""
    return bool(pa.types.is_integer(domain.values.type) or pa.types.is_floating(domain.values.type))
