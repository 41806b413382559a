"""Read what published cells mean for answers, given the original's values, a taxonomy, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import format_value as value_text
from sfumato.queries.query import (
    Comparison,
    Condition,
    condition_positions,
    match_leaves,
    match_positions,
    unknown_values_error,
)
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published._coverage import place_bounds
from sfumato.tables.published._labels import parse_label
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import Center, Interval, Label, MissingCell, Node, Suppressed, ValueSet

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# The values of an attribute, cut so finely that neither a published cell nor a condition divides a piece.


# The values of an attribute, cut so finely that neither a published cell nor a condition divides a piece.


# The values of an attribute, cut so finely that neither a published cell nor a condition divides a piece.
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


def build_partition(
    name: str,
    texts: Sequence[str | None],
    schema: Schema,
    conditions: Sequence[Condition],
    known: tuple[Domain, bool] | None,
    *,
    whole: bool = False,
) -> ValuePartition:
    """Cut an attribute into pieces.

    Parameters
    ----------
    name : the attribute.
    texts : the distinct published texts.
    schema : roles, scales and hierarchies.
    conditions : all conditions on the attribute that will be asked.
    known : all values that the attribute can take and whether one can be missing, if that is known.
    whole : whether all values are known to be whole numbers or days.
    """
    column = PublishedColumn(name, tuple(texts), np.zeros(0, dtype=np.int32), schema, known[0] if known else None)
    if known is not None:
        return _partition_leaves(
            column, column.domain, np.ones(len(column.domain)), maybe_missing=known[1], others=False
        )
    domain = column.domain
    if name in schema.orders or isinstance(schema.hierarchies.get(name), Taxonomy | OrderedGroups):
        return _partition_leaves(column, domain, np.ones(len(domain)), maybe_missing=True, others=False)
    if domain.scale.ordered:
        return _partition_axis(column, conditions, whole=whole)
    if whole:
        raise SchemaError(f"Column {name!r} is not read as numbers or dates; it cannot hold whole numbers only.")
    asked = {value_text(value) for condition in conditions for value in condition.values} - set(domain.texts)
    leaves = pa.concat_arrays([domain.values, pa.array(sorted(asked), pa.string())])
    weight = np.append(np.ones(len(domain)), np.zeros(len(asked)))
    return _partition_leaves(column, Domain(name, domain.scale, leaves), weight, maybe_missing=True, others=True)


def _partition_leaves(
    column: PublishedColumn, domain: Domain, weight: Floats, *, maybe_missing: bool, others: bool
) -> ValuePartition:
    """Use every leaf as a piece; with `others`, stars and masks may also represent values that are not shown."""
    seen = PublishedColumn(column.name, column.texts, column.codes, column.schema, domain)
    labels, found = seen.labels, seen.coverage
    empty = sum(not isinstance(label, MissingCell) for label in np.array(labels, object)[found.leaf_counts() == 0])
    if empty and not others:
        raise SchemaError(
            f"Column {column.name!r} is published with {empty} cells that fit none of its known values; "
            "give the values, hierarchy and original that belong to this table."
        )
    first, last, members = found.low.copy(), found.high.copy(), dict(found.members)
    for at, label in enumerate(labels):
        if isinstance(label, MissingCell) and column.schema.missing is MissingPolicy.MATCHES_ALL:
            first[at], last[at] = 0, len(domain) - 1 + others
        elif others and isinstance(label, Suppressed):
            last[at] = len(domain)
        elif others and isinstance(label, Node):
            members[at] = np.append(members.get(at, np.zeros(0, dtype=np.int64)), len(domain))
    missing = found.missing & (maybe_missing or column.schema.missing is MissingPolicy.MATCHES_ALL)
    place = domain.positions if is_numeric(domain) else np.zeros(len(domain))
    place, weight = np.append(place, [0.0] * others), np.append(weight, [0.0] * others)
    return ValuePartition(
        domain, place, place, place, place, weight, weight, LabelCover(first, last, members, missing), listed=True
    )


def _partition_axis(column: PublishedColumn, conditions: Sequence[Condition], *, whole: bool) -> ValuePartition:
    """Cut the axis of numbers at every number that is shown or asked for: points, and the gaps between them.

    If all shown numbers are whole, a gap weighs as many whole numbers as it contains; otherwise, its width. Beyond
    the smallest and the largest number shown nothing is expected, but anything is possible. With `whole`, pieces
    without a whole number are left out, so that bounds are whole numbers, too.
    """
    shown = column.domain
    domain = Domain(shown.name, Scale.NUMERIC, shown.values) if shown.scale is Scale.NUMERIC else _numeric(column)
    asked = [place for condition in conditions for place in condition_positions(column.name, condition, domain)]
    own = domain.positions
    points = np.unique(np.append(own, asked))
    ends = np.concatenate([[-inf], points, [inf]])
    low, high = _interleaved(ends[:-1], points), _interleaved(ends[1:], points)
    inside = (low >= own.min(initial=inf)) & (high <= own.max(initial=-inf))
    weight, mean = np.zeros(len(low)), np.zeros(len(low))
    gap = np.arange(len(low)) % 2 == 0
    least = np.where(gap, np.floor(low) + 1, np.ceil(low))
    greatest = np.where(gap, np.ceil(high) - 1, np.floor(high))
    if whole or pa.types.is_integer(domain.values.type) or pa.types.is_date32(domain.values.type):
        weight[inside] = np.maximum(greatest - least + 1, 0)[inside]
        mean[inside] = (least[inside] + greatest[inside]) / 2
    else:
        weight[inside] = (high - low)[inside]
        mean[inside] = (low[inside] + high[inside]) / 2
    with np.errstate(invalid="ignore"):  # an axis without points has no middle
        middle = low / 2 + high / 2
    positions = np.where(np.isinf(low), low, np.where(np.isinf(high), high, middle))
    listed = (~gap & np.isin(low, own)).astype(np.float64)
    cover = _cover_labels(column, domain, points)
    pieces = ValuePartition(domain, positions, low, high, mean, weight, listed, cover, listed=False)
    return _of_whole(pieces, least, greatest) if whole else pieces


def _of_whole(pieces: ValuePartition, least: Floats, greatest: Floats) -> ValuePartition:
    """Keep the pieces with a whole number, from the least to the greatest one in each."""
    kept = least <= greatest
    cover = pieces.cover.among(kept)
    everything = np.ones(len(kept))
    empty = np.count_nonzero((pieces.cover.total(everything) > 0) & (cover.total(everything[kept]) == 0))
    if empty:
        name = pieces.domain.name
        raise SchemaError(f"Column {name!r} has {empty} different cells without a whole number; it holds fractions.")
    named = {part: getattr(pieces, part)[kept] for part in ("positions", "mean", "weight", "shown")}
    return replace(pieces, **named, low=least[kept], high=greatest[kept], cover=cover)


def _numeric(column: PublishedColumn) -> Domain:
    """Read ordinal numbers as numbers."""
    labels = [parse_label(text, Scale.NUMERIC, {}) for text in column.domain.texts]
    return Domain(column.name, Scale.NUMERIC, pa.array([label.value for label in labels if isinstance(label, Center)]))


def _interleaved(gaps: Floats, points: Floats) -> Floats:
    pieces = np.empty(len(gaps) + len(points))
    pieces[::2], pieces[1::2] = gaps, points
    return pieces


def _cover_labels(column: PublishedColumn, domain: Domain, points: Floats) -> LabelCover:
    """Find the pieces of the axis that every label covers."""
    labels = [parse_label(text, Scale.NUMERIC, {}) for text in column.texts]
    ends = [(label.low, label.high) if isinstance(label, Interval) else _label_ends(label) for label in labels]
    lows, highs = place_bounds([low for low, _ in ends], domain), place_bounds([high for _, high in ends], domain)
    low_open = np.array([isinstance(label, Interval) and not label.low_closed for label in labels], dtype=np.int64)
    high_open = np.array([isinstance(label, Interval) and not label.high_closed for label in labels], dtype=np.int64)
    first = np.where(np.isneginf(lows), 0, 2 * np.searchsorted(points, lows) + 1 + low_open)
    last = np.where(np.isposinf(highs), 2 * len(points), 2 * np.searchsorted(points, highs) + 1 - high_open)
    members: dict[int, Ints] = {}
    for at, label in enumerate(labels):
        lost = isinstance(label, MissingCell)
        if isinstance(label, ValueSet):
            numbers = [_label_ends(parse_label(text, Scale.NUMERIC, {}))[0] for text in label.texts]
            own = place_bounds(numbers, domain)
            lows[at] = own.sum()
            members[at] = np.unique(2 * np.searchsorted(points, own) + 1)
        elif lost:
            anything = column.schema.missing is MissingPolicy.MATCHES_ALL
            first[at], last[at], lows[at], highs[at] = 0, 2 * len(points) if anything else -1, 0.0, 0.0
    unread = np.isnan(lows) | (np.isnan(highs) & ~np.isin(np.arange(len(labels)), list(members)))
    if unread.any():
        raise SchemaError(
            f"Column {column.name!r} is read as numbers but has {np.count_nonzero(unread)} cells that are not numbers; "
            "give its scale or hierarchy in the schema."
        )
    missing = np.array([isinstance(label, Suppressed | MissingCell) for label in labels], dtype=np.bool_)
    return LabelCover(first.astype(np.int64), last.astype(np.int64), members, missing)


def _label_ends(label: Label) -> tuple[object, object]:
    if isinstance(label, Center):
        return label.value, label.value
    if isinstance(label, Suppressed | Node):
        return -inf, inf
    return nan, nan
