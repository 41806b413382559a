"""(k, delta)-anonymity: golden examples, a slow judge, and clusters that keep together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories.algorithms.never_walk_alone import NeverWalkAlone, choose_span, choose_step
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.trajectories import Points, Trajectories

HERE = Area(west=13, south=52.4, east=13.4, north=52.6)
MINUTE = 60_000_000


def ways_of(*ways, clusters=None, owner=None, zero=HERE):
    """Make ways of (minute, x, y) points, x and y in meters."""
    lengths = [len(way) for way in ways]
    rows = np.array([point for way in ways for point in way], dtype=float)
    longitudes, latitudes = zero.to_degrees(rows[:, 1], rows[:, 2], widest=True)
    points = Points(
        individual_of=np.arange(len(ways)) if owner is None else np.array(owner),
        offsets=np.append(0, np.cumsum(lengths)),
        times=(rows[:, 0] * MINUTE).astype(np.int64),
        longitudes=longitudes,
        latitudes=latitudes,
        clusters=None if clusters is None else np.array(clusters),
    )
    return Trajectories.from_points(points)


def test_golden_ways_that_share_no_moment_are_compared():
    apart = ways_of([(t, 0, 0) for t in (0, 2, 4)], [(t, 1000, 0) for t in (0, 1, 3, 4)], clusters=[0, 0])
    assert not KDeltaAnonymity(k=2, delta=100).evaluate(apart).holds
    assert KDeltaAnonymity(k=2, delta=1001).evaluate(apart).holds
    other_span = ways_of([(t, 0, 0) for t in (0, 2, 4)], [(t, 1000, 0) for t in (1, 3)], clusters=[0, 0])
    assert not KDeltaAnonymity(k=2, delta=2000).evaluate(other_span).holds


@pytest.mark.parametrize(("minutes", "seconds"), [((0, 1, 2, 60), 60), ((0, 61, 200), 7200), ((0, 5000), 86_400)])
def test_places_are_published_about_as_often_as_they_are_known(minutes, seconds):
    far = 10_000  # minutes: the time between two ways is none between points
    ways = ways_of([(t, 0, 0) for t in minutes], [(t + far, 0, 0) for t in minutes])
    assert choose_step(ways.points) == seconds
    assert choose_step(ways_of([(0, 0, 0)], [(far, 0, 0)]).points) == 1


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        ((0, 10_080), (0, 10_080), 86_400),
        ((50, 10_000), (55, 10_010), 21_600),
        ((1, 200), (40, 200), 3600),
        ((1, 2), (3, 4), 86_400),
    ],
)
def test_ways_are_cut_where_most_of_those_with_k_persons_is_kept(first, second, seconds):
    ways = ways_of([(t, 0, 0) for t in first], [(t, 9, 9) for t in second])
    assert choose_span(ways.points, 2) == seconds


def test_a_detour_between_common_moments_is_seen():
    straight = [(0, 0, 0), (10, 1000, 0)]
    detour = [(0, 0, 0), (5, 500, 400), (10, 1000, 0)]
    both = ways_of(straight, detour, clusters=[0, 0])
    assert KDeltaAnonymity(k=2, delta=401).evaluate(both).holds
    assert not KDeltaAnonymity(k=2, delta=399).evaluate(both).holds


def test_trips_of_one_person_are_judged_together():
    same = [[(0, 0, 0), (10, 100, 0)]] * 4
    model = KDeltaAnonymity(k=2, delta=1)
    assert model.evaluate(ways_of(*same, clusters=[0, 0, 0, 0])).level == 4
    assert model.evaluate(ways_of(*same, clusters=[0, 0, 0, 0], owner=[0, 0, 1, 1])).level == 2
    assert model.evaluate(ways_of(*same, clusters=[0, 0, 1, 1], owner=[0, 1, 0, 1])).holds
    twice = model.evaluate(ways_of(*same[:3], clusters=[0, 0, 0], owner=[0, 0, 1]))  # who has two ways there is alone
    assert (twice.level, twice.violations) == (1, 1)
    pairs = model.evaluate(
        ways_of(*same, clusters=[0, 0, 1, 1], owner=[0, 1, 0, 2])
    )  # who is in both clusters is alone
    assert (pairs.level, pairs.violations) == (1, 2)


def test_ways_without_clusters_are_refused():
    with pytest.raises(SchemaError, match="no clusters"):
        KDeltaAnonymity(k=2, delta=1).evaluate(ways_of([(0, 0, 0)]))


def random_ways(count, seed):
    rng = np.random.default_rng(seed)
    starts = rng.uniform(5000, 9000, (count, 2))
    steps = rng.normal(0, 300, (count, 9, 2))
    tracks = starts[:, None] + np.cumsum(steps, axis=1)
    return [[(20 * t + rng.uniform(-3, 3), *track[t]) for t in range(9)] for track in tracks]


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.0, 50.0, 1000.0]))
@examples(15)
def test_what_is_found_keeps_together(seed, k, delta):
    original = ways_of(*random_ways(12, seed))
    model = KDeltaAnonymity(k=k, delta=delta)
    found = NeverWalkAlone(every=600).search(Request(data=original, models=[model], stream=KeyedRandom("5f" * 32)))
    verdict = model.evaluate(found)
    assert verdict.holds
    assert verdict.level >= k
    read = Trajectories(found.to_frame(), cluster="cluster")
    assert read.equals(found)
    assert len(found) >= 10


def test_points_within_delta_are_not_moved():
    tracks = [[(t, 10 * number, t) for t in (0, 60, 120)] for number in range(4)]
    found = NeverWalkAlone().search(Request(data=ways_of(*tracks), models=[KDeltaAnonymity(k=4, delta=500)]))
    x, _ = HERE.to_plane(found.points.longitudes, found.points.latitudes, widest=True)
    assert {round(each) for each in x} == {0, 10, 20, 30}


def test_too_few_persons_or_no_common_span_are_refused():
    request = Request(data=ways_of(*random_ways(3, 1)), models=[KDeltaAnonymity(k=4, delta=1)])
    with pytest.raises(InfeasibleError, match="fewer than k = 4"):
        NeverWalkAlone().search(request)
    shops = Trajectories(pa.table({"person": [1], "order": [1], "place": ["mall"]}), order="order", place="place")
    with pytest.raises(SchemaError, match="no moments or no coordinates"):
        NeverWalkAlone().search(Request(data=shops, models=[KDeltaAnonymity(k=1, delta=1)]))
    short = ways_of([(1, 0, 0), (2, 0, 0)], [(1, 0, 0), (2, 0, 0)])
    with pytest.raises(InfeasibleError, match="other spans"):
        NeverWalkAlone(span=3600).search(Request(data=short, models=[KDeltaAnonymity(k=2, delta=1)]))
    assert (
        NeverWalkAlone().search(Request(data=short, models=[KDeltaAnonymity(k=2, delta=1)])).points.n_trajectories == 2
    )
