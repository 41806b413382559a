"""Which original values a published cell may represent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from math import isinf, nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.code_sets import CodeSets
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.published._labels import (
    MICROSECONDS_A_DAY,
    NO_INTERVALS,
    NO_MEMBERS,
    IntervalBatch,
    MemberBatch,
    is_mask,
    is_suffix_mask,
    parse_date_intervals,
    parse_number_intervals,
    to_datetime,
)
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Center,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    Suppressed,
    ValueSet,
)

Ints = npt.NDArray[np.int64]
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - naive, as tables are


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """For every label, the codes that it covers: from `low` to `high`, or exactly its `members` if they are listed.

    `low` above `high` covers no value; `missing` says whether a missing value is covered.
    """

    domain: Domain
    low: Ints
    high: Ints
    members: MemberBatch
    missing: npt.NDArray[np.bool_]

    def leaf_counts(self) -> Ints:
        """Count the leaves that every label covers."""
        counts: Ints = np.maximum(self.high - self.low + 1, 0)
        counts[self.members.at] = self.members.counts
        return counts

    def contains(self, label: npt.NDArray[np.integer], code: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Return for pairs of label and code whether the label covers the code."""
        return self._sets.contains(label, code)

    @cached_property
    def _sets(self) -> CodeSets:
        place = np.full(len(self.low), -1, dtype=np.int64)
        place[self.members.at] = np.arange(len(self.members))
        sets = place, self.members.offsets, self.members.codes
        return CodeSets(self.low, self.high, self.missing, *sets, self.domain.missing)


def cover_labels(labels: Sequence[Label], domain: Domain) -> Coverage:
    """Compute what labels cover in a domain."""
    return cover_label_batch(dict(enumerate(labels)), domain, NO_INTERVALS, len(labels))


def cover_label_batch(
    labels: Mapping[int, Label], domain: Domain, plain: IntervalBatch, count: int, sets: MemberBatch = NO_MEMBERS
) -> Coverage:
    """Work out what labels cover in a domain, plain intervals and sets all at once.

    Parameters
    ----------
    labels : labels by number.
    domain : the values that they speak of.
    plain : further labels, intervals with bounds on the domain's axis, by number, too.
    count : how many labels there are in all.
    sets : further labels, sets of values.
    """
    index = {text: code for code, text in enumerate(domain.texts)}
    spans, masks = _node_spans(domain), _MaskIndex(domain)
    low, high = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    missing = np.zeros(count, dtype=np.bool_)
    members: dict[int, Ints] = {}
    intervals: list[int] = []
    for number, label in labels.items():
        missing[number] = isinstance(label, Suppressed | MissingCell)
        match label:
            case Exact() if label.text in index:
                low[number] = high[number] = index[label.text]
            case Interval() | Center():
                intervals.append(number)
            case Suppressed():
                low[number], high[number] = 0, len(domain) - 1
            case ValueSet():
                members[number] = np.array(sorted(index[t] for t in set(label.texts) & index.keys()), dtype=np.int64)
            case Node() if label.text in spans:
                low[number], high[number] = spans[label.text]
            case Node() if is_mask(label.text):
                members[number] = masks.codes(label.text)
    _place_intervals(labels, intervals, domain, low, high)
    if len(plain):
        places = domain.exact_positions
        low[plain.at] = np.searchsorted(places, plain.low, "left")
        after = np.searchsorted(places, plain.high, "right"), np.searchsorted(places, plain.high, "left")
        high[plain.at] = np.where(plain.closed, *after) - 1
    return Coverage(domain, low, high, MemberBatch.from_labels(members).concatenate(sets), missing)


@dataclass(frozen=True, eq=False, repr=False)
class AxisIntervals:
    """All intervals among labels: their numbers, bounds on the domain's axis (NaN where of another kind), and ends."""

    at: Ints
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    low_closed: npt.NDArray[np.bool_]
    high_closed: npt.NDArray[np.bool_]

    @classmethod
    def from_labels(cls, labels: Mapping[int, Label], domain: Domain, plain: IntervalBatch) -> AxisIntervals:
        """Put plain intervals and those among other labels together."""
        others = {number: label for number, label in labels.items() if isinstance(label, Interval)}
        lows, highs = (
            place_bounds([i.low for i in others.values()], domain),
            place_bounds([i.high for i in others.values()], domain),
        )
        return cls(
            np.concatenate([plain.at, np.array(list(others), dtype=np.int64)]),
            np.concatenate([plain.low, lows]),
            np.concatenate([plain.high, highs]),
            np.array([True] * len(plain) + [i.low_closed for i in others.values()], dtype=np.bool_),
            np.concatenate([plain.closed, np.array([i.high_closed for i in others.values()], dtype=np.bool_)]),
        )


def find_axis_intervals(texts: Sequence[str | None], domain: Domain) -> IntervalBatch:
    """Find the intervals among texts that are written as we write them, with bounds on a domain's axis."""
    type_ = domain.values.type
    if not (pa.types.is_date(type_) or pa.types.is_timestamp(type_)):
        return parse_number_intervals(texts)
    found = parse_date_intervals(texts)
    unit = 1 if pa.types.is_date(type_) else MICROSECONDS_A_DAY
    return replace(found, low=found.low * unit, high=found.high * unit)


def _node_spans(domain: Domain) -> dict[str, tuple[int, int]]:
    if domain.hierarchy is None:
        return {}
    spans: dict[str, tuple[int, int]] = {}
    for nodes, texts in zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True):
        starts = np.searchsorted(nodes, np.arange(len(texts)), side="left")
        stops = np.searchsorted(nodes, np.arange(len(texts)), side="right") - 1
        spans.update(zip(texts, zip(starts.tolist(), stops.tolist(), strict=True), strict=True))
    return spans


class _MaskIndex:
    """Find the leaves that begin with a prefix, or end with a suffix, and are as long as its mask."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def codes(self, mask: str) -> Ints:
        turned = is_suffix_mask(mask)
        by_length = self._reversed if turned else self._by_length
        texts, codes = by_length.get(len(mask), ([], np.zeros(0, dtype=np.int64)))
        prefix = (mask[::-1] if turned else mask).rstrip(SUPPRESSED_TEXT)
        first = bisect_left(texts, prefix)
        last = bisect_right(texts, prefix, lo=first, key=lambda text: text[: len(prefix)])
        return np.sort(codes[first:last])

    @cached_property
    def _by_length(self) -> dict[int, tuple[list[str], Ints]]:
        return self._sorted(list(self._domain.texts))

    @cached_property
    def _reversed(self) -> dict[int, tuple[list[str], Ints]]:
        return self._sorted([text[::-1] for text in self._domain.texts])

    @staticmethod
    def _sorted(texts: list[str]) -> dict[int, tuple[list[str], Ints]]:
        found: dict[int, list[tuple[str, int]]] = {}
        for code, text in enumerate(texts):
            found.setdefault(len(text), []).append((text, code))
        return {
            length: ([text for text, _ in sorted(leaves)], np.array([code for _, code in sorted(leaves)]))
            for length, leaves in found.items()
        }


def _place_intervals(labels: Mapping[int, Label], at: list[int], domain: Domain, low: Ints, high: Ints) -> None:
    if not at:
        return
    intervals = [_to_interval(labels[number]) for number in at]
    places = domain.exact_positions
    if domain.scale is Scale.NUMERIC:
        bottoms, known_bottoms = _exact_bounds([i.low for i in intervals], domain)
        tops, known_tops = _exact_bounds([i.high for i in intervals], domain)
    else:
        ranks = {text: rank for rank, text in enumerate(domain.texts)}
        bottoms, known_bottoms = _to_floats_if_exact([ranks.get(str(i.low), nan) for i in intervals])
        tops, known_tops = _to_floats_if_exact([ranks.get(str(i.high), nan) for i in intervals])
    low_closed = np.array([i.low_closed for i in intervals])
    high_closed = np.array([i.high_closed for i in intervals])
    first = np.where(low_closed, np.searchsorted(places, bottoms, "left"), np.searchsorted(places, bottoms, "right"))
    last = np.where(high_closed, np.searchsorted(places, tops, "right"), np.searchsorted(places, tops, "left")) - 1
    low[at], high[at] = first, np.where(known_bottoms & known_tops, last, -1)


def _to_interval(label: Label) -> Interval:
    if isinstance(label, Interval):
        return label
    assert isinstance(label, Center)  # noqa: S101 - nothing else has a place on the axis
    return Interval(label.value, label.value)


def _exact_bounds(values: Sequence[object], domain: Domain) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Place interval bounds on the domain's axis without rounding, and tell which have a place there."""
    return _to_floats_if_exact([_axis_position(value, domain) for value in values])


def _to_floats_if_exact(places: Sequence[float]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Take places as floats if all of them are, and else as Python's numbers, which it compares exactly."""
    known = np.array([place == place for place in places], dtype=np.bool_)  # noqa: PLR0124 - only NaN differs
    found = np.array([place if fine else 0 for place, fine in zip(places, known, strict=True)], dtype=object)
    rounded = found.astype(np.float64)
    return (rounded if all(rounded == found) else found), known


def place_bounds(values: Sequence[object], domain: Domain) -> npt.NDArray[np.float64]:
    """Place interval bounds on the domain's axis, rounded; NaN for a bound of another kind (a date among numbers)."""
    return np.array([_axis_position(value, domain) for value in values], dtype=np.float64)


def _axis_position(value: object, domain: Domain) -> float:
    type_ = domain.values.type
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return _datetime_position(value, timedelta(days=1) if pa.types.is_date(type_) else timedelta(microseconds=1))
    return value if isinstance(value, int | float) else nan


def _datetime_position(value: object, unit: timedelta) -> float:
    if isinstance(value, float) and isinf(value):
        return value
    moment = to_datetime(value)
    if not isinstance(moment, datetime):
        return nan
    whole, rest = divmod(moment - EPOCH, unit)
    return whole + rest / unit if rest else whole
