"""Compiled containment against comparing everything with everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.published import _containment
from sfumato.tables.published._containment import (
    BoxContents,
    Boxes,
    list_containment_pairs,
    list_equal_pairs,
    match_points,
    weigh_boxes,
)


@st.composite
def scenes(draw):
    """Draw points and boxes: narrow and wide ones, with sets, many alike."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    axes, count, boxes = draw(st.integers(1, 4)), draw(st.integers(1, 400)), draw(st.integers(1, 120))
    widths = rng.integers(1, 60, axes)
    points = np.array([rng.integers(0, width, count) for width in widths], dtype=np.int32)
    low = np.array([rng.integers(0, width, boxes) for width in widths], dtype=np.int32).T
    spans = np.array([rng.integers(0, rng.integers(1, width + 1), boxes) for width in widths], dtype=np.int32).T
    high = np.minimum(low + spans, widths - 1).astype(np.int32)
    member_rows = np.full((boxes, axes), -1, dtype=np.int64)
    members = [np.zeros(0, dtype=np.bool_)]
    for box in np.flatnonzero(rng.random(boxes) < 0.2).tolist():
        axis = int(rng.integers(0, axes))
        member_rows[box, axis] = sum(map(len, members))
        members.append(rng.random(widths[axis]) < 0.5)
    return points, Boxes(np.ascontiguousarray(low), np.ascontiguousarray(high), member_rows, np.concatenate(members))


def contents_of(boxes: Boxes, columns: int) -> BoxContents:
    rng = np.random.default_rng(len(boxes.low))
    held = rng.integers(0, 5, (len(boxes.low), columns)).astype(np.float64)
    box, column = np.nonzero(held)
    offsets = np.searchsorted(box, np.arange(len(boxes.low) + 1))
    return BoxContents(held.sum(axis=1), offsets.astype(np.int64), column.astype(np.int64), held[box, column])


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(_containment, "NUMPY_PAIRS", -1)


def plainly(function, *given):
    """Call a function on its plain path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_containment, "NUMPY_PAIRS", 1 << 60)
        return function(*given)


@given(scenes())
@pytest.mark.usefixtures("compiled")
def test_sums_over_boxes_are_those_of_all_pairs(scene):
    points, boxes = scene
    own = np.array([points[0] % 7], dtype=np.int64)
    contents = contents_of(boxes, 7)
    found, expected = match_points(points, own, boxes, contents), plainly(match_points, points, own, boxes, contents)
    assert np.array_equal(found.records, expected.records)
    assert np.array_equal(found.own, expected.own)


@given(scenes())
@pytest.mark.usefixtures("compiled")
def test_weights_of_points_are_those_of_all_pairs(scene):
    points, boxes = scene
    weights, values = points[0].astype(np.int64) + 1, points[0] / 7.0
    for found, expected in zip(
        weigh_boxes(points, weights, values, boxes), plainly(weigh_boxes, points, weights, values, boxes), strict=True
    ):
        assert np.array_equal(found, expected)


@given(scenes())
@pytest.mark.usefixtures("compiled")
def test_pairs_are_listed_by_point_and_box(scene):
    found, expected = list_containment_pairs(*scene), plainly(list_containment_pairs, *scene)
    assert all(np.array_equal(mine, other) for mine, other in zip(found, expected, strict=True))


@given(scenes())
def test_equal_pairs_are_the_pairs_of_boxes_that_are_single_places(scene):
    points, boxes = scene
    places = np.unique(boxes.low, axis=0)
    single = Boxes(places, places, np.full(places.shape, -1), np.zeros(0, dtype=np.bool_))
    found, expected = (
        list_equal_pairs(points, np.ascontiguousarray(places.T)),
        plainly(list_containment_pairs, points, single),
    )
    assert all(np.array_equal(mine, other) for mine, other in zip(found, expected, strict=True))


@pytest.mark.usefixtures("compiled")
def test_many_boxes_of_one_place_each_are_found():
    points = np.arange(4000, dtype=np.int32).reshape(1, -1)
    places = np.arange(4000, dtype=np.int32).reshape(-1, 1)
    boxes = Boxes(places, places, np.full(places.shape, -1), np.zeros(0, dtype=np.bool_))
    point, box = list_containment_pairs(points, boxes)
    assert np.array_equal(point, np.arange(4000))
    assert np.array_equal(box, point)
