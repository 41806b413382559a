"""Counts of segments are what counting row by row gives, however the rows come."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.tables.algorithms._segments import streamed as batching
from sfumato.tables.algorithms._segments._kernels import BLOCK
from sfumato.tables.algorithms._segments._plain_cutter import PlainCutter
from sfumato.tables.algorithms._segments.cuts import Axes, Records
from sfumato.tables.algorithms._segments.streamed import Batch, CodeLayout, CutTree, SegmentCounts, count_segments

WIDTHS = (4, 1, 7)


@st.composite
def streams(draw):
    """Draw the rows of a table, a tree that cuts them, some of its leaves, and batches of the rows in another order."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    rows = draw(st.integers(1, 40))
    watched = draw(st.sampled_from([(), (3,), (2, 5)]))
    layout = CodeLayout(WIDTHS, watched)
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    columns = [
        [rng.integers(0, width, rows).astype(kind) for width in widths] for widths in (layout.axes, layout.watched)
    ]
    weights = rng.integers(1, 6, rows) if draw(st.booleans()) else None
    tree = CutTree.single_segment()
    for _ in range(draw(st.integers(0, 3))):
        some = tree.leaves[rng.random(tree.segments) < 0.6]
        tree = tree.cut(some, rng.integers(0, 3, len(some)), rng.integers(0, 4, len(some)))
    chosen = rng.permutation(tree.leaves)[: draw(st.integers(0, tree.segments))]
    whole, size = Batch.from_columns(*columns, weights), draw(st.integers(1, 15))
    order = rng.permutation(rows)
    parts = [whole.take(order[begin : begin + size]) for begin in range(0, rows, size)]
    return whole, parts, tree, chosen, layout


def counted_by_row(batch, tree, nodes, layout):
    """Count cell by cell: (kind, segment, attribute, code) to weight."""
    found = Counter()
    place = {node: number for number, node in enumerate(nodes.tolist())}
    leaf_of = tree.leaves[tree.descend(batch.codes)].tolist()
    weights = [1] * len(batch) if batch.weights is None else batch.weights.tolist()
    for row, (leaf, weight) in enumerate(zip(leaf_of, weights, strict=True)):
        if leaf in place:
            for kind, matrix in (("axis", batch.codes), ("watched", batch.watched)):
                for number, code in enumerate(matrix[:, row].tolist()):
                    found[kind, place[leaf], number, code] += weight
    assert layout.axes == WIDTHS
    return found


def cells(counts):
    found = Counter()
    for kind, widths, of in (
        ("axis", counts.layout.axes, counts.on_axis),
        ("watched", counts.layout.watched, counts.select_model_attribute),
    ):
        for number, width in enumerate(widths):
            dense = of(number)
            assert dense.shape == (len(counts), width)
            for segment, code in np.argwhere(dense).tolist():
                found[kind, segment, number, code] = int(dense[segment, code])
    return found


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@given(stream=streams(), room=st.sampled_from([1, 1 << 25]), workers=st.none() | st.integers(1, 3))
def test_counts_are_those_of_counting_row_by_row(compiled, stream, room, workers):
    whole, parts, tree, nodes, layout = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "LONG_BATCH", 0 if compiled else 10**9)
        patch.setattr(batching, "MAX_CELLS", room)
        counts = count_segments(parts, tree, nodes, layout, workers=workers)
    expected = counted_by_row(whole, tree, nodes, layout)
    assert cells(counts) == expected
    sizes = Counter()
    for (kind, segment, number, _), weight in expected.items():
        sizes[segment] += weight * (kind == "axis" and number == 0)
    assert counts.sizes.tolist() == [sizes[segment] for segment in range(len(nodes))]


@pytest.mark.parametrize("weighted", [False, True])
def test_long_batches_are_counted_block_by_block(weighted):
    rng, rows = np.random.default_rng(0), 3 * BLOCK + 5
    layout = CodeLayout(WIDTHS, (3,))
    columns = [[rng.integers(0, width, rows).astype(np.uint8) for width in some] for some in (WIDTHS, (3,))]
    batch = Batch.from_columns(*columns, rng.integers(1, 6, rows) if weighted else None)
    tree = CutTree.single_segment().cut(np.array([0]), np.array([2]), np.array([3]))
    nodes = tree.leaves[1:]
    assert cells(count_segments([batch], tree, nodes, layout)) == counted_by_row(batch, tree, nodes, layout)


@given(streams(), st.data())
def test_counts_of_parts_add_up_also_as_entries_from_other_processes(stream, data):
    _, parts, tree, nodes, layout = stream
    split = data.draw(st.integers(0, len(parts)))
    halves = [count_segments(some, tree, nodes, layout) for some in (parts[:split], parts[split:])]
    whole = count_segments(parts, tree, nodes, layout)
    sent = [pickle.loads(pickle.dumps(half.entries())) for half in halves]  # noqa: S301 - our own
    index, weights = (np.concatenate(each) for each in zip(*sent, strict=True))
    for sums in (halves[0] + halves[1], SegmentCounts.from_entries(len(nodes), layout, index, weights)):
        assert sums.axes.tolist() == whole.axes.tolist()
        assert sums.watched.tolist() == whole.watched.tolist()
    assert all((weights > 0).all() for _, weights in sent)


MISFITS = {
    "an axis too few": ([[3], [0]], [[0]], None),
    "a code too large": ([[3], [0], [7]], [[0]], None),
    "a watched code too large": ([[3], [0], [6]], [[3]], None),
    "nothing watched": ([[3], [0], [6]], [], None),
    "a weight too many": ([[3], [0], [6]], [[2]], np.ones(2, dtype=np.int64)),
}


@pytest.mark.parametrize(("codes", "watched", "weights"), MISFITS.values(), ids=MISFITS)
def test_batches_that_do_not_fit_are_refused_before_they_are_counted(codes, watched, weights):
    columns = [[np.array(column, dtype=np.uint8) for column in some] for some in (codes, watched)]
    with pytest.raises(InvalidParameterError, match="same domains"):
        count_segments(
            [Batch.from_columns(*columns, weights)], CutTree.single_segment(), np.array([0]), CodeLayout(WIDTHS, (3,))
        )


@given(streams())
def test_ranges_are_those_of_the_records(stream):
    whole, parts, tree, _, layout = stream
    found = count_segments(parts, tree, tree.leaves, layout)
    segment_of = tree.descend(whole.codes)
    filled, sizes = np.unique(segment_of, return_counts=True)
    order = np.argsort(segment_of, kind="stable")
    records = Records(
        codes=whole.codes[:, order],
        extra=whole.watched[:, order],
        weight=np.ones(len(order), dtype=np.int32),
        origin=order.astype(np.int32),
        offsets=np.append(0, np.cumsum(sizes)),
    )
    leaves = np.array([width - 1 for width in WIDTHS])
    nothing = np.zeros(0)
    expected = PlainCutter().ranges(records, Axes(leaves, leaves * 0, leaves, nothing, leaves, nothing, nothing))
    for name in ("low", "high", "missing"):
        assert getattr(found.select(filled).ranges, name).tolist() == getattr(expected, name).tolist(), name
