"""Meetings and tracks: plain examples, and made-up friends."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets.mobility import generate_mobility
from sfumato.errors import SchemaError
from sfumato.trajectories.attacks.co_location import find_co_locations, infer_friends
from sfumato.trajectories.attacks.tracking import track, tracking_attack
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.trajectories import Points, Trajectories

HERE = Area(west=13, south=52.4, east=13.4, north=52.6)


def test_pairs_who_meet_and_where():
    rows = [("a", 8, "x"), ("b", 8, "x"), ("a", 9, "x"), ("b", 9, "x"), ("a", 10, "y"), ("b", 10, "y"), ("c", 11, "x")]
    person, hour, place = (list(column) for column in zip(*rows, strict=True))
    times = [f"2026-01-05T{each:02}:00Z" for each in hour]
    ways = Trajectories(pa.table({"person": person, "time": times, "place": place}), place="place")
    met = find_co_locations(ways)
    assert met.pairs.tolist() == [[0, 1]]
    assert met.places.tolist() == [2]
    assert met.rarity == pytest.approx([-np.log(3 / 3) - np.log(2 / 3)])
    assert met.score(np.array([[1, 0], [0, 2]]))[0].tolist() == [2, 0]


def test_friends_are_found_by_where_they_meet():
    movers = generate_mobility(60, 21, seed=2)
    ways = Trajectories(movers.observe(rate=0.8, error=20, seed=1))
    found = infer_friends(ways, movers.friends, meters=300, seed=1)
    assert found.gains
    assert found.rate == pytest.approx(
        (found.details["friends found"] + 1 - found.details["strangers taken for friends"]) / 2
    )
    assert found.details["friends found"] > 0.6
    assert found.details["strangers taken for friends"] < 0.3
    assert 0.3 < found.control < 0.7


def walkers(tracks, minutes=10):
    count = len(tracks)
    times = np.tile(np.arange(minutes) * 60_000_000, count)
    x, y = np.array(tracks, dtype=float).reshape(-1, 2).T
    longitudes, latitudes = HERE.to_degrees(x, y, widest=True)
    return Trajectories.from_points(
        Points(
            individual_of=np.arange(count),
            offsets=np.arange(count + 1) * minutes,
            times=times,
            longitudes=longitudes,
            latitudes=latitudes,
        )
    )


def test_persons_who_walk_straight_are_followed_to_the_end():
    tracks = [[(1000 + 60 * t, 2000 * way) for t in range(10)] for way in range(4)]
    found = tracking_attack(walkers(tracks))
    assert found.rate == 1
    assert found.details["median seconds"] == 540


def test_crossing_straight_ways_are_told_apart_by_speed():
    tracks = [
        [(1000 + 100 * t, 1000 + 100 * t) for t in range(10)],
        [(1000 + 100 * t, 1950 - 100 * t) for t in range(10)],
    ]
    assert track(walkers(tracks)).right.all()


def test_nobody_is_faster_than_agreed():
    """Two persons change places within a minute: who is no faster than walking must have stayed."""
    tracks = [[(1000, 1000)] * 5 + [(3000, 1000)] * 5, [(3000, 1000)] * 5 + [(1000, 1000)] * 5]
    assert not track(walkers(tracks), fastest=2).right.all()
    assert track(walkers(tracks), fastest=2).time_to_confusion().tolist() == [240, 240]


def test_ways_of_different_times_are_refused():
    one = walkers([[(1000, 1000)] * 10] * 2).points
    later = Points(
        individual_of=one.individual_of,
        offsets=one.offsets,
        times=np.where(one.trajectory == 1, one.times + 10**12, one.times),
        longitudes=one.longitudes,
        latitudes=one.latitudes,
    )
    with pytest.raises(SchemaError, match="share too little time"):
        track(Trajectories.from_points(later))
