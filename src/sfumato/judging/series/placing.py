"""Which published row is whose, where nobody has written it down: rows that fit one group only are in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import Grouped, group_columns, representative_rows
from sfumato.core.published.boxes import make_boxes
from sfumato.core.published.table import read_bucket_numbers
from sfumato.exceptions import SchemaError
from sfumato.judging.audit.truth import MOST_PAIRS, PAIRS_AT_ONCE, UnchangedColumn, cells_cover, encode_together
from sfumato.judging.evidence import AuditContext

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowPlacement:
    """The original row of every published row, -1 where it belongs to nobody; how many rows fit several groups."""

    rows: Ints
    several: int


def place_rows(evidence: AuditContext) -> RowPlacement:
    """Give every original row a published row of the only group that covers it and shows its sensitive values.

    Where buckets number sensitive values, rows that are `*` in all quasi-identifiers belong to nobody. A row that fits
    several groups is placed in none of them, and counted.
    """
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    table, shown = evidence.table, evidence.published
    names = [name for name in evidence.schema.sensitive if name not in evidence.schema.flags]
    buckets = {name: found for name in names if (found := read_bucket_numbers(shown, name)) is not None}
    alike = {name: encode_together(shown[name], evidence.source[name]) for name in names}
    kept = [alike[name] for name in names if name not in buckets]
    numbers = [each - each.min(initial=0) for each in buckets.values()]
    out = group_columns(
        [table.grouped.labels, *numbers, *(each.shown for each in kept)],
        [len(table.grouped), *(int(each.max(initial=0)) + 1 for each in numbers), *(each.width for each in kept)],
    )
    own: list[tuple[npt.NDArray[np.integer], int]] = [
        *((column.codes, len(column.domain) + 1) for column in coded.quasi),
        *((each.original, each.width) for each in alike.values()),
    ]
    into = group_columns(
        [np.zeros(coded.rows, dtype=np.int64), *(each[0] for each in own)], [1, *(each[1] for each in own)]
    )
    places, sources = representative_rows(out), representative_rows(into)
    here, there = _pairs(evidence, places, sources, nobody=bool(buckets))
    for name, each in alike.items():
        fits = (
            _in_bucket(buckets[name], each, places[here], each.original[sources[there]])
            if name in buckets
            else each.equal(places[here], sources[there])
        )
        here, there = here[fits], there[fits]
    cells = [
        _cells_of(buckets[name], alike[name], places[here], alike[name].original[sources[there]]) for name in buckets
    ]
    return _match_unique(out, into, here, there, cells)


def _pairs(evidence: AuditContext, places: Ints, sources: Ints, *, nobody: bool) -> tuple[Ints, Ints]:
    """List the pairs of a published and an original combination whose quasi-identifiers fit."""
    table, coded = evidence.table, evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    groups = table.grouped.labels[places]
    quasi = [np.zeros(coded.rows, dtype=np.int64), *(column.codes for column in coded.quasi)]
    widths = [1, *(len(column.domain) + 1 for column in coded.quasi)]
    known = group_columns(quasi, widths)
    points = representative_rows(known)
    covered = _covering(evidence, points, nobody=nobody)
    by_group, by_point = np.argsort(groups, kind="stable"), np.argsort(known.labels[sources], kind="stable")
    first = _expand(covered[0], groups[by_group], by_group)
    second = _expand(covered[1][first[0]], known.labels[sources][by_point], by_point)
    return first[1][second[0]], second[1]


def _expand(keys: npt.NDArray[np.integer], held: npt.NDArray[np.integer], places: Ints) -> tuple[Ints, Ints]:
    """Join keys with sorted ones: the index of the key and the place of the other, for all pairs."""
    begin, end = np.searchsorted(held, keys, side="left"), np.searchsorted(held, keys, side="right")
    many = end - begin
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(np.arange(len(keys)), many), places[np.repeat(begin, many) + within]


def _covering(evidence: AuditContext, points: Ints, *, nobody: bool) -> tuple[Ints, Ints]:
    """List the pairs of a published group and a point that it covers; groups of `*` cover nobody if that is said."""
    table, coded = evidence.table, evidence.coded
    assert coded is not None  # noqa: S101 - a version has an original
    groups = np.ones(len(table.grouped), dtype=np.bool_)
    if nobody and table.columns:
        groups &= ~np.logical_and.reduce([column.mask_suppressed()[table.first_rows] for column in table.columns])
    boxes = make_boxes(table)
    exact = groups & (boxes.low == boxes.high).all(axis=1) & (boxes.member_rows < 0).all(axis=1)
    codes = np.array([column.codes[points] for column in coded.quasi], dtype=np.int64).reshape(-1, len(points))
    widths = [1, *(len(column.domain) + 2 for column in coded.quasi)]
    ones = np.flatnonzero(exact)
    both = np.concatenate([boxes.low[ones].T.astype(np.int64), codes], axis=1)
    alike = group_columns([np.zeros(both.shape[1], dtype=np.int64), *both], widths).labels
    order = np.argsort(alike[: len(ones)], kind="stable")
    there, at = _expand(alike[len(ones) :], alike[: len(ones)][order], ones[order])
    wide = np.flatnonzero(groups & ~exact)
    if len(wide) * len(points) > MOST_PAIRS:
        raise SchemaError(
            f"Finding out who is in which group would compare {len(wide) * len(points):,} pairs; give the "
            "correspondence of every published table, too."
        )
    found = [(at, there)]
    many = max(1, PAIRS_AT_ONCE // max(1, len(points)))
    for begin in range(0, len(wide), many):
        some = wide[begin : begin + many]
        here, there = np.repeat(some, len(points)), np.tile(np.arange(len(points)), len(some))
        for number, column in enumerate(table.columns):
            fits = cells_cover(column, table.by_group(column)[here], codes[number][there])
            here, there = here[fits], there[fits]
        found.append((here, there))
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


def _own_buckets(buckets: Ints) -> Ints:
    """Return the buckets, with one of its own for every cell that stands in none."""
    return np.where(buckets >= 0, buckets, buckets.max(initial=0) + 1 + np.arange(len(buckets)))


def _in_bucket(buckets: Ints, kept: UnchangedColumn, rows: Ints, codes: Ints) -> npt.NDArray[np.bool_]:
    """Return whether the bucket of a published row shows a value; a cell in no bucket shows its own."""
    bucket = _own_buckets(buckets)
    return np.isin(bucket[rows] * kept.width + codes, np.unique(bucket * kept.width + kept.shown))


def _cells_of(buckets: Ints, kept: UnchangedColumn, rows: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Return a number for the values that buckets show: that of every pair, and how often each is shown."""
    bucket = _own_buckets(buckets)
    held, counts = np.unique(bucket * kept.width + kept.shown, return_counts=True)
    return np.searchsorted(held, bucket[rows] * kept.width + codes), counts


def _match_unique(
    out: Grouped, into: Grouped, here: Ints, there: Ints, cells: Sequence[tuple[Ints, Ints]]
) -> RowPlacement:
    """Place the rows that fit one combination only; where that is full, nobody else is in it.

    `cells` number for every pair what else has room for so many only: the values that a bucket shows.
    """
    rooms = [(here, out.counts), *cells]
    open_pairs = np.ones(len(here), dtype=np.bool_)
    while True:
        sole = open_pairs & (np.bincount(there[open_pairs], minlength=len(into)) == 1)[there]
        full = np.zeros(len(here), dtype=np.bool_)
        for at, room in rooms:
            taken = np.bincount(at[sole], into.counts[there[sole]], len(room))
            full |= (taken >= room)[at] & ~sole
        if not (full & open_pairs).any():
            break
        open_pairs &= ~full
    for at, room in rooms:  # more persons than rows: some were left out, and nobody can say who
        sole &= (np.bincount(at[sole], into.counts[there[sole]], len(room)) <= room)[at]
    rows = np.full(len(out.labels), -1)
    many = into.counts[there[sole]]
    rows[_take_from_combination(out, np.repeat(here[sole], many))] = _take_from_combination(
        into, np.repeat(there[sole], many)
    )
    fitting = np.zeros(len(into), dtype=np.bool_)
    fitting[there] = True
    fitting[there[sole]] = False
    return RowPlacement(rows, int(into.counts[fitting].sum()))


def _take_from_combination(grouped: Grouped, wanted: Ints) -> Ints:
    """Return another row of the combination for every one that is wanted."""
    rows = np.argsort(grouped.labels, kind="stable")
    starts = np.append(0, np.cumsum(grouped.counts))
    order = np.argsort(wanted, kind="stable")
    rank = np.empty(len(wanted), dtype=np.int64)
    rank[order] = np.arange(len(wanted)) - np.searchsorted(wanted[order], wanted[order], side="left")
    return np.asarray(rows[starts[wanted] + rank])
