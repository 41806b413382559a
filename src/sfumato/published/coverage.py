"""Which original values a published cell may stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attributes.scales import Scale
from sfumato.engine.domain import Domain, axis
from sfumato.publication import Exact, Interval, Label, MissingCell, Node, Suppressed, ValueSet
from sfumato.published.labels import is_mask

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coverage:
    """For every label the codes that it covers: from `low` to `high`, or exactly `members` where it is listed there.

    `low` above `high` covers no value; `missing` tells whether a missing value is covered.
    """

    domain: Domain
    low: Ints
    high: Ints
    members: Mapping[int, Ints]
    missing: npt.NDArray[np.bool_]

    def leaf_counts(self) -> Ints:
        """Count the leaves that every label covers."""
        counts: Ints = np.maximum(self.high - self.low + 1, 0)
        for label, codes in self.members.items():
            counts[label] = len(codes)
        return counts

    def contains(self, label: npt.NDArray[np.integer], code: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Tell for pairs of label and code whether the label covers the code."""
        code = code.astype(np.int64)
        covered = (self.low[label] <= code) & (code <= self.high[label])
        if self.members:
            listed = np.isin(label, list(self.members))
            covered[listed] = np.isin(label[listed] * (len(self.domain) + 1) + code[listed], self._member_keys)
        return np.asarray(np.where(code == self.domain.missing, self.missing[label], covered))

    @cached_property
    def _member_keys(self) -> Ints:
        span = len(self.domain) + 1
        return np.concatenate([label * span + codes for label, codes in self.members.items()])


def cover(labels: Sequence[Label], domain: Domain) -> Coverage:
    """Work out what labels cover in a domain."""
    index = {text: code for code, text in enumerate(domain.texts)}
    spans = _node_spans(domain)
    low, high = np.zeros(len(labels), dtype=np.int64), np.full(len(labels), -1, dtype=np.int64)
    members: dict[int, Ints] = {}
    intervals: list[int] = []
    for number, label in enumerate(labels):
        match label:
            case Exact() if label.text in index:
                low[number] = high[number] = index[label.text]
            case Interval():
                intervals.append(number)
            case Suppressed():
                low[number], high[number] = 0, len(domain) - 1
            case ValueSet():
                members[number] = np.array(sorted(index[t] for t in set(label.texts) & index.keys()), dtype=np.int64)
            case Node() if label.text in spans:
                low[number], high[number] = spans[label.text]
            case Node() if is_mask(label.text):
                members[number] = _masked(domain, label.text)
    _place_intervals(labels, intervals, domain, low, high)
    missing = np.array([isinstance(label, Suppressed | MissingCell) for label in labels], dtype=np.bool_)
    return Coverage(domain, low, high, members, missing)


def _node_spans(domain: Domain) -> dict[str, tuple[int, int]]:
    if domain.hierarchy is None:
        return {}
    spans: dict[str, tuple[int, int]] = {}
    for nodes, texts in zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True):
        starts = np.searchsorted(nodes, np.arange(len(texts)), side="left")
        stops = np.searchsorted(nodes, np.arange(len(texts)), side="right") - 1
        spans.update(zip(texts, zip(starts.tolist(), stops.tolist(), strict=True), strict=True))
    return spans


def _masked(domain: Domain, mask: str) -> Ints:
    prefix = mask.rstrip("*")
    found = [i for i, text in enumerate(domain.texts) if len(text) == len(mask) and text.startswith(prefix)]
    return np.array(found, dtype=np.int64)


def _place_intervals(labels: Sequence[Label], at: list[int], domain: Domain, low: Ints, high: Ints) -> None:
    if not at:
        return
    intervals = [label for label in (labels[number] for number in at) if isinstance(label, Interval)]
    if domain.scale is Scale.NUMERIC:
        places = domain.positions
        bottoms, tops = (
            bounds([i.low for i in intervals], domain),
            bounds([i.high for i in intervals], domain),
        )
    else:
        ranks = {text: rank for rank, text in enumerate(domain.texts)}
        places = np.arange(len(domain), dtype=np.float64)
        bottoms = np.array([ranks.get(str(i.low), inf) for i in intervals], dtype=np.float64)
        tops = np.array([ranks.get(str(i.high), -inf) for i in intervals], dtype=np.float64)
    low_closed = np.array([i.low_closed for i in intervals])
    high_closed = np.array([i.high_closed for i in intervals])
    low[at] = np.where(low_closed, np.searchsorted(places, bottoms, "left"), np.searchsorted(places, bottoms, "right"))
    high[at] = np.where(high_closed, np.searchsorted(places, tops, "right"), np.searchsorted(places, tops, "left")) - 1


def bounds(values: Sequence[object], domain: Domain) -> npt.NDArray[np.float64]:
    """Place interval bounds on the domain's axis; a bound of another kind (a date among numbers) covers nothing."""
    type_ = domain.values.type
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        moments = [_as_moment(value, type_) for value in values]
        placed = axis(pa.array(moments, type_).fill_null(_as_moment(date(1970, 1, 1), type_)))
        return np.where([moment is None for moment in moments], np.nan, placed)
    return np.array([value if isinstance(value, int | float) else np.nan for value in values], dtype=np.float64)


def _as_moment(value: object, type_: pa.DataType) -> date | datetime | None:
    if not isinstance(value, date):
        return None
    if pa.types.is_date(type_):
        return value.date() if isinstance(value, datetime) else value
    return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001 - naive, as tables are
