"""What published ways have lost: every measure against plain loops, for every form that is published."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import floor, hypot, log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato._randomness import seeded_generator
from sfumato.trajectories._space_time_boxes import SpaceTimeBoxes
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.geometry import Area, haversine
from sfumato.trajectories.metrics import (
    CELL,
    SEED,
    SHARE,
    compare_place_names,
    compute_metrics,
    density_divergence,
    displacement,
    most_frequent_successor,
    next_place_accuracy,
    range_count_error,
    trip_divergence,
    trip_length_error,
)
from sfumato.trajectories.trajectories import Points, Trajectories

AREA = Area(west=13.3, south=52.4, east=13.4, north=52.45)
HOUR = 3_600_000_000
Step = tuple[float, float, float, float, float, float]  # low and high of x, y and time
WAY = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 20)), min_size=1, max_size=4)
WAYS = st.lists(WAY, min_size=1, max_size=4)


def spread(ways):
    """Make ways of points, given in units of 150 meters and of hours."""
    rows = [step for way in ways for step in sorted(way, key=lambda each: each[2])]
    x, y, hour = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    longitudes, latitudes = AREA.to_degrees(150 * x + 1, 150 * y + 1)
    points = Points(
        individual_of=np.arange(len(ways)),
        offsets=np.append(0, np.cumsum([len(way) for way in ways])),
        times=(hour * HOUR).astype(np.int64),
        longitudes=longitudes,
        latitudes=latitudes,
    )
    return SpaceTimeBoxes.from_points(points, AREA)


def regions(ways):
    """Make ways of regions: from every step to 450 meters and two hours beyond, every way twice."""
    boxes, intervals = [], []
    for way in ways:
        for x, y, hour in [*sorted(way, key=lambda each: each[2])]:
            corner = AREA.to_degrees(
                np.array([150 * x + 1.0, 150 * x + 451.0]), np.array([150 * y + 1, 150 * y + 451.0])
            )
            boxes.append([corner[0][0], corner[1][0], corner[0][1], corner[1][1]])
            intervals.append([hour * HOUR, (hour + 2) * HOUR])
    lengths = [len(way) for way in ways]
    return SpaceTimeBoxes.from_cloaked(
        CloakedTrajectories(
            individual_of=np.arange(2 * len(ways)),
            offsets=np.append(0, np.cumsum(lengths * 2)),
            boxes=np.array(boxes * 2),
            intervals=np.array(intervals * 2, dtype=np.int64),
        ),
        AREA,
    )


def steps(ways: SpaceTimeBoxes) -> list[list[Step]]:
    """Return every way as a list of boxes, as often as it is there."""
    found = []
    for way, many in enumerate(ways.times):
        own = range(ways.offsets[way], ways.offsets[way + 1])
        found += [[(*ways.low[each], *ways.high[each]) for each in own]] * int(many)
    return found


def cell(step: Step) -> tuple[int, int]:
    return floor((step[0] + step[3]) / 2 / CELL), floor((step[1] + step[4]) / 2 / CELL)


def share(low, high, start, end):
    if high == low:
        return float(start <= low <= end)
    return max(0.0, min(high, end) - max(low, start)) / (high - low)


def divergence(before: Counter, after: Counter) -> float:
    total = 0.0
    for one in (before, after):
        for key, count in one.items():
            p = count / sum(one.values())
            middle = (before[key] / sum(before.values()) + after[key] / sum(after.values())) / 2
            total += p * log2(p / middle) / 2 if p else 0
    return total


def density_by_loops(ways: SpaceTimeBoxes) -> Counter:
    found = Counter()
    for x, y, _, to_x, to_y, _ in (step for way in steps(ways) for step in way):
        for column in range(floor(x / CELL), floor(to_x / CELL) + 1):
            for row in range(floor(y / CELL), floor(to_y / CELL) + 1):
                part = share(x, to_x, column * CELL, (column + 1) * CELL) if x != to_x else 1.0
                found[column, row] += part * (share(y, to_y, row * CELL, (row + 1) * CELL) if y != to_y else 1.0)
    return found


def range_by_loops(before: SpaceTimeBoxes, after: SpaceTimeBoxes, boxes: int) -> float:
    low, high = before.low.min(axis=0), before.high.max(axis=0)
    side = (high - low) * [SHARE**0.5, SHARE**0.5, SHARE]
    total = 0.0
    for drawn in seeded_generator(SEED).random((boxes, 3)):
        start = low + drawn * (high - low - side)
        found = []
        for ways in (before, after):
            inside = [
                np.prod([share(step[axis], step[axis + 3], start[axis], start[axis] + side[axis]) for axis in range(3)])
                for way in steps(ways)
                for step in way
            ]
            found.append(float(np.mean(inside)))
        total += abs(found[0] - found[1]) / max(found) if max(found) else 0
    return total / boxes


def next_by_loops(before: SpaceTimeBoxes, after: SpaceTimeBoxes) -> float:
    def moves(ways):
        for way in steps(ways):
            for one, other in pairwise(way):
                if cell(one) != cell(other):
                    yield cell(one), cell(other)

    right = []
    for ways in (before, after):
        visits = Counter(cell(step) for way in steps(ways) for step in way)
        favorite = min(visits, key=lambda each: (-visits[each], each))
        following: dict = {}
        for one, other in moves(ways):
            following.setdefault(one, Counter())[other] += 1
        foretold = {one: min(each, key=lambda to: (-each[to], to)) for one, each in following.items()}
        right.append(sum(foretold.get(one, favorite) == other for one, other in moves(before)))
    return right[1] / right[0] if right[0] else 1.0


@given(WAYS, WAYS, st.booleans())
@examples(25)
def test_measures_of_space_are_what_plain_loops_find(first, second, boxed):
    before, after = spread(first), (regions if boxed else spread)(second)
    assert range_count_error(before, after, 15) == pytest.approx(range_by_loops(before, after, 15))
    assert density_divergence(before, after) == pytest.approx(
        divergence(density_by_loops(before), density_by_loops(after)), abs=1e-9
    )
    trips = [Counter((cell(way[0]), cell(way[-1])) for way in steps(ways)) for ways in (before, after)]
    assert trip_divergence(before, after) == pytest.approx(divergence(*trips), abs=1e-9)
    means = [
        np.mean(
            [
                sum(hypot(a[0] + a[3] - b[0] - b[3], a[1] + a[4] - b[1] - b[4]) / 2 for a, b in pairwise(way))
                for way in steps(ways)
            ]
        )
        for ways in (before, after)
    ]
    error = abs(means[0] - means[1]) / means[0] if means[0] else float(means[1] > 0)
    assert trip_length_error(before, after) == pytest.approx(error)
    assert next_place_accuracy(before, after) == pytest.approx(next_by_loops(before, after))
    assert next_place_accuracy(before, after) <= 1


@given(WAYS)
@examples(10)
def test_nothing_is_lost_where_nothing_changes(rows):
    ways = spread(rows)
    assert range_count_error(ways, ways, 15) == density_divergence(ways, ways) == trip_divergence(ways, ways) == 0
    assert next_place_accuracy(ways, ways) == 1


def test_of_equally_frequent_places_the_first_is_foretold_and_else_the_most_visited():
    place, offsets = np.array([0, 1, 0, 2, 3]), np.array([0, 4, 5])
    assert most_frequent_successor(place, offsets, 5, np.ones(2, dtype=np.int64)).tolist() == [1, 0, 0, 0, 0]
    assert most_frequent_successor(np.array([0, 2, 0, 1]), np.array([0, 2, 4]), 3, np.array([3, 1])).tolist() == [
        2,
        0,
        0,
    ]


def visited(ways):
    rows = [(person, step, place) for person, way in enumerate(ways) for step, place in enumerate(way)]
    person, step, place = (list(column) for column in zip(*rows, strict=True))
    return Trajectories(
        pa.table({"person": person, "order": step, "place": place}), order="order", place="place"
    ).points


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), min_size=1, max_size=5),
    st.sampled_from([{}, {"a": "a | b", "b": "a | b"}, dict.fromkeys("abc", "a | b | c")]),
)
@examples(25)
def test_named_places_are_compared_as_plain_loops_do(ways, merged):
    before, after = visited(ways), visited([[merged.get(each, each) for each in way] for way in ways])
    found = compare_place_names(before, after)
    known = Counter(place for way in ways for place in way)
    shown: Counter = Counter()
    trips, shown_trips = Counter((way[0], way[-1]) for way in ways), Counter()
    for way in ways:
        sets = [merged.get(each, each).split(" | ") for each in way]
        for each in sets:
            shown.update({member: 1 / len(each) for member in each})
        for first in sets[0]:
            for last in sets[-1]:
                shown_trips[first, last] += 1 / len(sets[0]) / len(sets[-1])
    assert found["density-divergence"] == pytest.approx(divergence(known, shown), abs=1e-9)
    assert found["origin-destination-divergence"] == pytest.approx(divergence(trips, shown_trips), abs=1e-9)
    assert 0 <= found["next-place-kept"] <= 1
    if not merged:
        assert found["next-place-kept"] == 1


def test_one_of_two_merged_places_is_guessed_in_half_of_the_cases():
    """From a to b in two of three steps, half of which are right, and back to a in one."""
    before = visited(["abab"] * 4)
    after = visited([["a", "b | c"] * 2] * 4)
    assert compare_place_names(before, after)["next-place-kept"] == pytest.approx(2 / 3)


def test_points_moved_by_so_many_meters_have_moved_so_far():
    original = Trajectories(sf.datasets.generate_trajectories(6, 1, seed=2)).points
    north = np.where(np.arange(len(original)) % 10 == 0, 0.01, 0.001)
    moved = Points(
        individual_of=original.individual_of,
        offsets=original.offsets,
        times=original.times,
        longitudes=original.longitudes,
        latitudes=original.latitudes + north,
        origin=np.arange(original.n_trajectories),
    )
    far = [
        haversine(*(np.array([each]) for each in (x, y, x, y + more)))[0]
        for x, y, more in zip(original.longitudes, original.latitudes, north, strict=True)
    ]
    found = displacement(original, moved)
    assert found["distance-moved"] == pytest.approx(np.mean(far))
    assert found["distance-moved-95"] == pytest.approx(np.quantile(far, 0.95))


SPATIAL = {
    "range-count-error",
    "density-divergence",
    "origin-destination-divergence",
    "trip-length-error",
    "next-place-kept",
}
ALWAYS = {"ways-kept", "persons-kept", "points-kept", "unicity-before", "unicity-after"}


def test_every_form_is_measured(tmp_path):
    original = Trajectories(sf.datasets.generate_trajectories(24, 2, seed=3))
    moved = sf.trajectories.anonymize(
        original,
        models=[sf.trajectories.KDeltaAnonymity(k=2, delta=300)],
        algorithm=sf.trajectories.NeverWalkAlone(span=43_200),
    )
    assert {*ALWAYS, *SPATIAL, "distance-moved", "distance-moved-95"} == set(moved.metrics)
    boxes = sf.trajectories.anonymize(
        original, models=[sf.trajectories.TrajectoryKAnonymity(k=2)], algorithm=sf.trajectories.SequenceAlignment()
    )
    assert {*ALWAYS, *SPATIAL, "region-square-kilometers", "region-hours"} == set(boxes.metrics)
    accountant = sf.dp.Accountant(tmp_path / "budget", total=10_000)
    squares = sf.trajectories.SquareGrid(area=sf.datasets.mobility.CITY, order=2)
    tree = sf.trajectories.private_prefix_tree(
        original, places=squares, epsilon=9000, accountant=accountant, analyst="ann", height=3
    )
    made_up = compute_metrics(original, tree.synthesize())
    assert {*ALWAYS, *SPATIAL} == set(made_up)
    assert all(0 <= value <= 1.5 for name, value in made_up.items())
