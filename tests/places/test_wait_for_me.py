"""Wait For Me: edit distances against a slow oracle, brute force on the promise, and fewer ways left out."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.trajectories._kernels import edit_distances, match_points
from sfumato.trajectories._pipeline import audit
from sfumato.trajectories.algorithms.never_walk_alone import NeverWalkAlone
from sfumato.trajectories.algorithms.wait_for_me import EditDistances, WaitForMe
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.trajectories import Points, Trajectories

HERE = Area(west=13, south=52.4, east=13.4, north=52.6)
MINUTE = 60_000_000


def ways_of(*ways, owner=None):
    """Make ways of (minute, x, y) points, x and y in meters."""
    rows = np.array([point for way in ways for point in way], dtype=float)
    longitudes, latitudes = HERE.to_degrees(rows[:, 1], rows[:, 2], widest=True)
    points = Points(
        individual_of=np.arange(len(ways)) if owner is None else np.array(owner),
        offsets=np.append(0, np.cumsum([len(way) for way in ways])),
        times=(rows[:, 0] * MINUTE).astype(np.int64),
        longitudes=longitudes,
        latitudes=latitudes,
    )
    return Trajectories.from_points(points, area=HERE)


def edited(first, second, meters, window):
    """Return the edit distance by trying every edit of (time, x, y) points."""

    @cache
    def cheapest(i, j):
        if i == len(first) or j == len(second):
            return len(first) - i + len(second) - j
        options = [1 + cheapest(i + 1, j), 1 + cheapest(i, j + 1)]
        apart = float(np.hypot(first[i][1] - second[j][1], first[i][2] - second[j][2]))
        if abs(first[i][0] - second[j][0]) <= window and apart < meters:
            options.append(2 * apart / meters + cheapest(i + 1, j + 1))
        return min(options)

    return cheapest(0, 0) / (len(first) + len(second))


way = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6).map(sorted)


@given(way, way, st.sampled_from([0.5, 2.0, 10.0]), st.integers(0, 9))
@examples(80)
def test_distances_and_matches_equal_those_of_every_edit(first, second, meters, window):
    rows = np.array([*first, *second], dtype=float)
    places, times = np.ascontiguousarray(rows[:, 1:]), rows[:, 0].astype(np.int64)
    offsets = np.array([0, len(first), len(rows)])
    expected = edited(first, second, meters, window)
    assert edit_distances(places, times, offsets, 1, meters, window)[0] == pytest.approx(expected)
    assert edit_distances(places, times, offsets, 0, meters, window)[1] == pytest.approx(expected)
    found = match_points(places, times, offsets[:2], offsets[1:], meters, window)
    pairs = [(first[i], second[j]) for j, i in enumerate(found) if i >= 0]
    assert (np.diff(found[found >= 0]) > 0).all()
    assert all(abs(one[0] - other[0]) <= window for one, other in pairs)
    moved = sum(np.hypot(one[1] - other[1], one[2] - other[2]) / meters for one, other in pairs)
    assert len(rows) - 2 * len(pairs) + 2 * moved == pytest.approx(expected * len(rows))


def together(rows, delta):
    """Say of published rows of two persons whether they are never more than delta apart, by looking at every second."""
    sides = [[row for row in rows if row["person"] == person] for person in sorted({row["person"] for row in rows})]
    spans = [(side[0]["time"], side[-1]["time"]) for side in sides]
    if spans[0] != spans[1]:
        return False
    clock = np.arange(spans[0][0].timestamp(), spans[0][1].timestamp() + 1)
    at = []
    for side in sides:
        seconds = [row["time"].timestamp() for row in side]
        x, y = HERE.to_plane(
            *(np.array([row[name] for row in side]) for name in ("longitude", "latitude")), widest=True
        )
        at.append([np.interp(clock, seconds, x), np.interp(clock, seconds, y)])
    return np.hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]).max() <= delta


@given(st.integers(0, 10_000), st.integers(2, 3), st.sampled_from([0.0, 50.0, 1000.0]))
@examples(12)
def test_brute_force_on_six_ways_of_five_points(seed, k, delta):
    rng = np.random.default_rng(seed)
    tracks = rng.uniform(5000, 9000, (6, 1, 2)) + np.cumsum(rng.normal(0, 300, (6, 5, 2)), axis=1)
    begins = rng.uniform(0, 15, 6)
    drawn = ways_of(*[[(b + 20 * t, *track[t]) for t in range(5)] for b, track in zip(begins, tracks, strict=True)])
    found = WaitForMe().search(
        Request(data=drawn, models=[KDeltaAnonymity(k=k, delta=delta)], stream=KeyedRandom("5f" * 32))
    )
    clusters: dict[int, list] = {}
    for row in found.to_arrow().to_pylist():
        clusters.setdefault(row["cluster"], []).append(row)
    for rows in clusters.values():
        persons = {row["person"] for row in rows}
        assert len(persons) >= k
        for pair in combinations(persons, 2):
            assert together([row for row in rows if row["person"] in pair], delta)
    read = Trajectories(found.to_frame(), cluster="cluster")
    assert read.equals(found)
    assert audit(read, models=[KDeltaAnonymity(k=k, delta=delta)]).holds


def test_ways_of_other_spans_follow_and_are_not_left_out():
    late = [[(minute + 13 * number, 5000 + 10 * minute, 5000) for minute in range(0, 300, 20)] for number in range(6)]
    request = Request(data=ways_of(*late), models=[KDeltaAnonymity(k=3, delta=50)])
    assert len(WaitForMe().search(request)) == 6
    assert len(NeverWalkAlone(every=600).search(request)) < 6


def test_matched_points_keep_their_place_and_others_are_created_or_deleted():
    pivot = [(0, 0, 0), (60, 1000, 0), (120, 2000, 0)]
    short = [(5, 0, 10), (125, 2000, 10)]
    detour = [(0, 0, 0), (30, 500, 3000), (60, 1000, 0), (120, 2000, 0)]
    edits = EditDistances(ways_of(pivot, pivot, short, detour), 200, 10 * MINUTE)
    places = edits.translate_to_pivot(np.arange(4), 0, 100).round()
    assert places[2].tolist() == [[0, 10], [950, 6], [2000, 10]]  # created on the circle, where she came from
    assert places[3].tolist() == [[0, 0], [1000, 0], [2000, 0]]  # the detour is deleted
    kept = edits.translate_to_pivot(np.arange(4), 0, 4).round(1)
    assert kept[2].tolist() == [[0, 4.5], [998, 0.2], [2000, 4.5]]


def test_of_two_ways_within_the_tolerance_the_nearer_one_is_nearer():
    tracks = [[(20 * t, 100 * t, aside) for t in range(5)] for aside in (0, 10, 50, 100, 101)]
    far = EditDistances(ways_of(*tracks), 100.5, MINUTE).distances_to(0)
    assert far[:4].tolist() == sorted(far[:4].tolist())
    assert far[1] < far[2] < far[3] < 1
    assert far[4] == np.inf


def test_ways_that_match_nowhere_are_never_together():
    apart = [[(t + 600 * number, 0, 0) for t in range(3)] for number in range(3)]
    with pytest.raises(InfeasibleError, match="match anywhere"):
        WaitForMe(seconds=60).search(Request(data=ways_of(*apart), models=[KDeltaAnonymity(k=2, delta=1)]))


def test_trips_of_one_person_count_once():
    same = [[(0, 0, 0), (10, 100, 0)]] * 4
    found = WaitForMe().search(Request(data=ways_of(*same, owner=[0, 0, 1, 2]), models=[KDeltaAnonymity(k=3, delta=1)]))
    assert KDeltaAnonymity(k=3, delta=1).evaluate(found).level == 3
    with pytest.raises(InfeasibleError, match="fewer than k = 4"):
        WaitForMe().search(Request(data=ways_of(*same, owner=[0, 0, 1, 2]), models=[KDeltaAnonymity(k=4, delta=1)]))


def test_what_cannot_be_done_is_refused():
    model = KDeltaAnonymity(k=1, delta=1)
    split = ways_of([(0, 0, 0), (0, 100, 0)])
    with pytest.raises(SchemaError, match="two places at one moment"):
        WaitForMe().search(Request(data=split, models=[model]))
    named = Trajectories(pa.table({"person": [1], "order": [1], "place": ["mall"]}), order="order", place="place")
    with pytest.raises(SchemaError, match="no moments or no coordinates"):
        WaitForMe().search(Request(data=named, models=[model]))
    for wrong in ({"meters": 0}, {"seconds": -1}, {"trash": 1}):
        with pytest.raises(InvalidParameterError, match="WaitForMe"):
            WaitForMe(**wrong)
