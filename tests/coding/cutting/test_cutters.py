"""The compiled cutter and the plain one find the same cuts and carry them out alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._segments import _compiled_cutter
from sfumato.tables.algorithms._segments import cuts as partition
from sfumato.tables.algorithms._segments._compiled_cutter import CompiledCutter, SegmentPieces
from sfumato.tables.algorithms._segments._plain_cutter import PlainCutter
from sfumato.tables.algorithms._segments.cuts import ALL_TIES, NO_CUT, CuttingRule, Records, choose_cutter, make_axes
from strategies import hierarchies

LEAVES = st.integers(1, 6) | st.just(3000)  # so many that codes are sorted, not counted


@st.composite
def domains(draw):
    kind = draw(st.sampled_from(["numeric", "ordinal", "tree"]))
    count = draw(LEAVES if kind != "tree" else st.integers(1, 7))
    if kind == "numeric":
        steps = [draw(st.integers(1, 9)) for _ in range(min(count, 7))]
        values = np.cumsum(np.resize(steps, count))
        return Domain("x", Scale.NUMERIC, pa.array(values))
    leaves = [f"leaf {i:04}" for i in range(count)]
    if kind == "ordinal":
        return Domain("x", Scale.ORDINAL, pa.array(leaves))
    hierarchy = draw(hierarchies(leaves))
    return Domain("x", Scale.CATEGORICAL, pa.array(hierarchy.labels[0]), hierarchy)


@st.composite
def cases(draw):
    """Draw records in segments with their axes, and a rule."""
    drawn = draw(st.lists(domains(), min_size=1, max_size=3))
    rows = draw(st.integers(1, 25))
    relaxed = draw(st.booleans())
    pools = [sorted({0, len(d) // 2, len(d) // 2 + 1, len(d) - 1, len(d)} - {len(d) + 1}) for d in drawn]
    if not draw(st.booleans()):
        pools = [pool[:-1] for pool in pools]
    codes = [draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows)) for pool in pools]
    weights = [1] * rows if relaxed else draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows))
    bounds = draw(st.lists(st.integers(1, rows), max_size=3, unique=True))
    records = Records(
        codes=np.array(codes, dtype=np.uint16),
        extra=np.array([np.arange(rows) % 3], dtype=np.uint8),
        weight=np.array(weights, dtype=np.int64),
        origin=np.random.default_rng(rows).permutation(rows).astype(np.int32),
        offsets=np.unique([0, *bounds, rows]).astype(np.int64),
    )
    return records, make_axes(drawn), CuttingRule(draw(st.integers(1, 4)), relaxed)


def copied(records):
    return replace(records, **{name: getattr(records, name).copy() for name in ("codes", "extra", "weight", "origin")})


def assert_same(mine, theirs, names):
    for name in names:
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist(), name


def assert_same_cuts(mine, theirs):
    assert_same(mine, theirs, ("axis", "total", "rank"))
    proposed = np.flatnonzero(theirs.axis != NO_CUT)
    assert_same(mine.select(proposed), theirs.select(proposed), ("code", "ties", "left"))


@given(cases(), st.sampled_from([1, 3, 1000]))
def test_both_cutters_agree_at_every_depth(case, piece_rows):
    records, axes, rule = case
    plain, compiled = PlainCutter(), CompiledCutter()
    theirs = copied(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_compiled_cutter, "PIECE_ROWS", piece_rows)
        while records.segments:
            ranges = plain.ranges(records, axes)
            assert_same(compiled.ranges(theirs, axes), ranges, ("low", "high", "missing"))
            everything = np.arange(records.segments)
            cuts = plain.propose(records, axes, rule, ranges, everything, np.zeros_like(everything))
            found = compiled.propose(theirs, axes, rule, ranges, everything, np.zeros_like(everything))
            assert_same_cuts(found, cuts)
            some = everything[::2]
            again = (axes, rule, ranges, some, cuts.rank[some] + 1)
            assert_same_cuts(compiled.propose(theirs, *again), plain.propose(records, *again))
            cut = np.flatnonzero(cuts.axis != NO_CUT)
            left = plain.sides(records, cut, cuts.select(cut))
            assert compiled.sides(theirs, cut, found.select(cut)).tolist() == left.tolist()
            halves = plain.halves(records, cut, left, 3)
            assert [each.tolist() for each in compiled.halves(theirs, cut, left, 3)] == [
                each.tolist() for each in halves
            ]
            numbers = [np.full(len(records.origin), -1, dtype=np.int32).repeat(30) for _ in range(2)]
            plain.number(records, some, 5, numbers[0])
            compiled.number(theirs, some, 5, numbers[1])
            assert numbers[0].tolist() == numbers[1].tolist()
            records, theirs = plain.split(records, cut, left), compiled.split(theirs, cut, left)
            assert_same(theirs, records, ("codes", "extra", "weight", "origin", "offsets"))


@given(cases())
def test_cuts_are_what_they_say(case):
    """What a proposal says about weights is what its sides have, and sides follow codes and ties."""
    records, axes, rule = case
    cutter = PlainCutter()
    ranges = cutter.ranges(records, axes)
    segments = np.arange(records.segments)
    cuts = cutter.propose(records, axes, rule, ranges, segments, np.zeros_like(segments))
    cut = np.flatnonzero(cuts.axis != NO_CUT)
    left = cutter.sides(records, cut, cuts.select(cut))
    rows, place = records.list_rows(cut)
    for number, segment in enumerate(cut.tolist()):
        mine = rows[place == number]
        goes = left[place == number]
        codes = records.codes[cuts.axis[segment], mine]
        assert records.weight[mine].sum() == cuts.total[segment]
        assert records.weight[mine][goes].sum() == cuts.left[segment]
        assert rule.smallest <= cuts.left[segment] <= cuts.total[segment] - rule.smallest
        assert codes[goes].max() <= codes[~goes].min()
        if cuts.ties[segment] == ALL_TIES:
            assert codes[goes].max() < codes[~goes].min()
        else:
            assert rule.relaxed
            assert abs(int(goes.sum()) - int((~goes).sum())) <= 1


@given(cases())
def test_splitting_keeps_records_whole_and_in_order(case):
    records, axes, rule = case
    cutter = PlainCutter()
    segments = np.arange(records.segments)
    cuts = cutter.propose(records, axes, rule, cutter.ranges(records, axes), segments, np.zeros_like(segments))
    cut = np.flatnonzero(cuts.axis != NO_CUT)
    left = cutter.sides(records, cut, cuts.select(cut))
    halves = cutter.split(records, cut, left)
    rows, place = records.list_rows(cut)
    expected = [rows[(place == number) & side].tolist() for number in range(len(cut)) for side in (left, ~left)]
    whole = {origin: number for number, origin in enumerate(records.origin.tolist())}
    for number, half in enumerate(expected):
        found = slice(halves.offsets[number], halves.offsets[number + 1])
        assert [whole[origin] for origin in halves.origin[found].tolist()] == half
        assert halves.codes[:, found].tolist() == records.codes[:, half].tolist()
        assert halves.extra[:, found].tolist() == records.extra[:, half].tolist()
        assert halves.weight[found].tolist() == records.weight[half].tolist()
    assert halves.segments == len(expected)


@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=8), min_size=1, max_size=4))
def test_both_cutters_count_halves_and_their_most_frequent_values(segments):
    drawn = [each for segment in segments for each in segment]
    values = np.array([[value for _, value in drawn]], dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, segments)])
    records = Records(
        values, values, np.ones(len(drawn), dtype=np.int64), np.arange(len(drawn), dtype=np.int32), offsets
    )
    named = np.arange(len(segments))[::2]
    left = np.array([side for segment in segments[::2] for side, _ in segment])
    halves = [
        [[value for side, value in segment if side], [value for side, value in segment if not side]]
        for segment in segments[::2]
    ]
    for cutter in (PlainCutter(), CompiledCutter()):
        sizes, largest = cutter.halves(records, named, left, 5)
        assert sizes.tolist() == [[len(half) for half in both] for both in halves]
        assert largest.tolist() == [[max(Counter(half).values(), default=0) for half in both] for both in halves]


def test_rows_of_segments_come_in_order():
    empty = np.zeros((1, 6), dtype=np.uint8)
    records = Records(empty, empty, empty[0], empty[0], np.array([0, 2, 3, 6]))
    rows, place = records.list_rows(np.array([2, 0]))
    assert rows.tolist() == [3, 4, 5, 0, 1]
    assert place.tolist() == [0, 0, 0, 1, 1]
    assert [len(found) for found in records.list_rows(np.zeros(0, dtype=np.int64))] == [0, 0]


def test_pieces_cover_segments_once_and_stay_inside(monkeypatch):
    monkeypatch.setattr(_compiled_cutter, "PIECE_ROWS", 4)
    starts, stops = np.array([3, 20, 9]), np.array([9, 21, 20])
    pieces = SegmentPieces.from_segments(starts, stops)
    rows = Counter(row for a, b in zip(pieces.starts, pieces.stops, strict=True) for row in range(a, b))
    assert rows == Counter(row for a, b in zip(starts, stops, strict=True) for row in range(a, b))
    assert (pieces.sizes <= 4).all()
    assert pieces.segment.tolist() == [0, 0, 1, 2, 2, 2]
    assert pieces.first_of.tolist() == [0, 2, 3]


def test_many_records_are_cut_by_compiled_loops(monkeypatch):
    monkeypatch.setattr(partition, "COMPILED_ROWS", 10)
    assert isinstance(choose_cutter(9), PlainCutter)
    assert isinstance(choose_cutter(10), CompiledCutter)
    assert isinstance(choose_cutter(1, one_of_many=True), CompiledCutter)
    assert isinstance(choose_cutter(0, one_of_many=True), PlainCutter)
