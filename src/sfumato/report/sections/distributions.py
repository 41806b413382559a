"""The distribution of an attribute before and after: bars for values or bins, never for records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core._formatting import json_number
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain, to_axis
from sfumato.io._values import count_missing, format_values
from sfumato.io._values import encode_distinct as distinct_and_codes
from sfumato.report.charts.scales import Bins, Numbers, choose_bins
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import PublishedColumn

Counts = npt.NDArray[np.int64]

MAX_VALUES = 12
DIGITS = 6  # of estimated counts, so that the order of a sum does not matter


@dataclass(frozen=True, eq=False)
class BeforeAfterCounts:
    """Counts before and after, for every value or bin; `ordered` if the order has a meaning."""

    kind: str
    texts: tuple[str, ...]
    before: npt.NDArray[np.number]
    after: npt.NDArray[np.number]
    ordered: bool


@dataclass(frozen=True, eq=False)
class RecordWeights:
    """How many records a row of the original and of the published table stands for; None if it is one."""

    before: Counts | None = None
    after: Counts | None = None


SINGLE = RecordWeights()


def quasi_identifier_distribution(
    column: PublishedColumn, coded: CodedColumn, *, fewest: int, weights: RecordWeights = SINGLE
) -> dict[str, Any]:
    """Compare a quasi-identifier with its published cells, read the way a receiver would read them.

    A generalized cell counts evenly for all values that it covers: numbers and dates over the whole width of an
    interval, other values over the leaves. A suppressed cell counts for none: it is only counted, in
    `suppressed_cells`. Values with fewer than `fewest` records are not named.
    """
    domain, coverage = coded.domain, column.coverage
    shown = np.bincount(column.codes, weights.after, minlength=len(column.texts)).astype(np.int64)
    leaves = coverage.leaf_counts()
    lost = (leaves == 0) & coverage.missing & ~column.starred_texts
    before = np.bincount(coded.codes, weights.before, minlength=len(domain) + 1).astype(np.int64)
    bins = choose_bins(domain.values, before[:-1]) if domain.scale is Scale.NUMERIC else None
    suppressed = int(shown[column.starred_texts].sum())
    placed = np.where((leaves > 0) & ~column.starred_texts, shown, 0)
    if bins is not None:
        positions = domain.positions
        after = _distribute_over_axis(column, placed, leaves, bins)
        bars = BeforeAfterCounts("bins", bins.texts, bins.count(positions, before[:-1]), after, ordered=True)
    else:
        bars = _readable_leaves(domain, before[:-1], _distribute_over_leaves(column, placed, leaves))
    return {
        "distinct": {"before": int(np.count_nonzero(before[:-1])), "after": sum(t is not None for t in column.texts)},
        "missing": {"before": int(before[-1]), "after": int(shown[lost].sum())},
        "suppressed_cells": suppressed,
        "unread_cells": int(shown.sum() - placed.sum() - shown[lost].sum()) - suppressed,
        "labels": _labels(column, shown),
        **_most_frequent(bars, fewest),
    }


def _labels(column: PublishedColumn, shown: Counts) -> list[dict[str, Any]]:
    """List the published cells that are no single values, with their records; none if there are too many."""
    used = [(text, int(shown[place])) for place, text in enumerate(column.texts) if text is not None and shown[place]]
    if len(used) > MAX_VALUES or all(text in column.domain.texts for text, _ in used):
        return []
    return [{"text": text, "records": records} for text, records in sorted(used, key=lambda each: (-each[1], each[0]))]


def unchanged_distribution(
    name: str,
    published: pa.ChunkedArray,
    original: pa.ChunkedArray,
    schema: Schema,
    *,
    fewest: int,
    weights: RecordWeights = SINGLE,
) -> dict[str, Any]:
    """Compare an attribute that is published unchanged."""
    before, after = value_counts(original, weights.before), value_counts(published, weights.after)
    bins = choose_bins(*before) if published.type == original.type else None
    if bins is not None:
        counted = [bins.count(to_axis(values), counts) for values, counts in (before, after)]
        bars = BeforeAfterCounts("bins", bins.texts, counted[0], counted[1], ordered=True)
    else:
        order = schema.orders.get(name)
        listed = format_values(before[0]) if order is None else pa.array(order, pa.string())
        known = pa.chunked_array([listed, format_values(before[0]), format_values(after[0])]).unique()
        sides = [_counts_at(known, values, counts) for values, counts in (before, after)]
        bars = BeforeAfterCounts("values", tuple(known.to_pylist()), sides[0], sides[1], ordered=order is not None)
    return {
        "distinct": {"before": len(before[0]), "after": len(after[0])},
        "missing": {
            "before": count_missing(original, weights.before),
            "after": count_missing(published, weights.after),
        },
        "suppressed_cells": 0,
        "unread_cells": 0,
        "labels": [],
        **_most_frequent(bars, fewest),
    }


def value_counts(column: pa.ChunkedArray, weights: Counts | None = None) -> tuple[pa.Array, Counts]:
    """Return the distinct values of a column, in order of first occurrence, and how often each occurs."""
    if weights is None:
        counted = pc.value_counts(column.drop_null())
        return counted.field("values"), np.asarray(counted.field("counts").to_numpy(zero_copy_only=False))
    known = ~np.asarray(column.is_null())
    values, places = distinct_and_codes(column.drop_null())
    records = np.bincount(np.asarray(places), weights[known], minlength=len(values)).astype(np.int64)
    return values.filter(pa.array(records > 0)), records[records > 0]


def _counts_at(known: pa.Array, values: pa.Array, counts: Counts) -> Counts:
    places = pc.index_in(format_values(values), value_set=known).to_numpy(zero_copy_only=False)
    return np.bincount(places, weights=counts, minlength=len(known)).astype(np.int64)


def _distribute_over_axis(column: PublishedColumn, shown: Counts, leaves: Counts, bins: Bins) -> Numbers:
    coverage, places = column.coverage, column.domain.positions
    last = len(places) - 1
    low = places[np.clip(coverage.low, 0, last)] - bins.half
    high = places[np.clip(coverage.high, 0, last)] + bins.half
    shown_as = column.all_intervals()
    least, greatest = places[0] - bins.half, places[-1] + bins.half
    inward_low = np.where(shown_as.low_closed, -bins.half, bins.half)
    inward_high = np.where(shown_as.high_closed, bins.half, -bins.half)
    low[shown_as.at] = np.clip(shown_as.low + inward_low, least, greatest)
    high[shown_as.at] = np.clip(shown_as.high + inward_high, least, greatest)
    spanned = shown > 0
    spanned[list(coverage.members)] = False
    mass = bins.distribute(low[spanned], high[spanned], shown[spanned])
    for number, codes in coverage.members.items():
        if leaves[number]:
            mass += bins.count(places[codes], np.full(len(codes), shown[number] / len(codes)))
    return mass


def _distribute_over_leaves(column: PublishedColumn, shown: Counts, leaves: Counts) -> Numbers:
    coverage, width = column.coverage, len(column.domain)
    listed = np.zeros(len(shown), dtype=np.bool_)
    listed[list(coverage.members)] = True
    single = (leaves == 1) & ~listed
    mass = np.bincount(coverage.low[single], weights=shown[single], minlength=width).astype(np.float64)
    several = (leaves > 1) & ~listed
    share = shown[several] / leaves[several]
    steps = np.bincount(coverage.low[several], weights=share, minlength=width + 1)
    steps -= np.bincount(coverage.high[several] + 1, weights=share, minlength=width + 1)
    mass += np.cumsum(steps)[:width]
    for number, codes in coverage.members.items():
        if leaves[number]:
            mass[codes] += shown[number] / len(codes)
    return np.maximum(mass, 0)


def _readable_leaves(domain: Domain, before: Counts, after: Numbers) -> BeforeAfterCounts:
    """Return the leaves, or broader terms if the most frequent leaves are only a small part."""
    ordered = domain.scale.ordered
    top = np.sort(before)[::-1][:MAX_VALUES].sum()
    if domain.hierarchy is not None and 2 * top < before.sum():
        for nodes, labels in zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True):
            if 1 < len(labels) <= MAX_VALUES:
                sums = [np.bincount(nodes, weights=side, minlength=len(labels)) for side in (before, after)]
                return BeforeAfterCounts("values", labels, sums[0], sums[1], ordered=True)
    return BeforeAfterCounts("values", domain.texts, before, after, ordered=ordered)


def _most_frequent(bars: BeforeAfterCounts, fewest: int) -> dict[str, Any]:
    """Return the bars; values that are rare or beyond the most frequent ones are only counted."""
    before, after = bars.before, np.round(bars.after.astype(np.float64), DIGITS)
    everything = np.arange(len(bars.texts))
    if bars.kind == "bins":
        named, rest = everything, everything[:0]
    else:
        named = np.argsort(-before, kind="stable")[:MAX_VALUES]
        named = named[before[named] >= fewest]
        named = np.sort(named) if bars.ordered else named
        occurring = (before > 0) | (after > 0)
        rest = np.setdiff1d(everything[occurring], named)
    return {
        "kind": bars.kind,
        "bars": [
            {"text": bars.texts[at], "before": int(before[at]), "after": json_number(float(after[at]))}
            for at in named.tolist()
        ],
        "other": {
            "values": len(rest),
            "before": int(before[rest].sum()),
            "after": json_number(float(np.round(after[rest].sum(), DIGITS))),
        },
    }


# What a raw column looks like, for its owner: a histogram of numbers and dates, or the most frequent values.


def column_summary(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the bars of a column: bins of numbers and dates in order, other values by decreasing frequency.

    Every value is named, however rare: this is for the owner of the table alone.

    >>> column_summary(pa.chunked_array([["a", "b", None, "a"]]))["bars"]
    [{'text': 'a', 'count': 2}, {'text': 'b', 'count': 1}]
    """
    values, counts = value_counts(column)
    bins = choose_bins(values, counts)
    if bins is not None:
        placed = bins.count(to_axis(values), counts).astype(np.int64)
        kind, named, shown = "bins", list(bins.texts), placed.tolist()
    else:
        most = np.lexsort((np.arange(len(counts)), -counts))[:MAX_VALUES]
        kind, named, shown = "values", format_values(values.take(pa.array(most))).to_pylist(), counts[most].tolist()
    return {
        "kind": kind,
        "distinct": len(values),
        "missing": column.null_count,
        "bars": [{"text": text, "count": number} for text, number in zip(named, shown, strict=True)],
        "other": {"values": 0 if bins else len(values) - len(named), "count": int(counts.sum()) - sum(shown)},
    }
