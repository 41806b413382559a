"""Known points find persons in the original, and not among those who share a way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError

KNOWN = ["known-points"]


@pytest.fixture(scope="module")
def original():
    return sf.trajectories.Trajectories(sf.datasets.generate_trajectories(40, 2, seed=3))


def test_points_find_most_persons_of_the_original(original):
    found = sf.trajectories.attack(original, original, points=5, meters=100, seed=1, attacks=KNOWN).results[0]
    assert found.rate > 0.7
    assert found.gains
    assert found.precision == 1


def test_points_find_nobody_among_those_who_share_a_way(original):
    release = sf.trajectories.anonymize(
        original, models=[sf.trajectories.TrajectoryKAnonymity(k=4)], algorithm=sf.trajectories.SequenceAlignment()
    )
    found = sf.trajectories.attack(release.trajectories, original, points=5, meters=100, seed=1, attacks=KNOWN).results[
        0
    ]
    assert found.successes == 0
    assert found.details["in the crowd"] > 0.7


def test_a_file_alone_does_not_tell_who_is_who(original):
    algorithm = sf.trajectories.NeverWalkAlone(span=43_200, every=3600)
    release = sf.trajectories.anonymize(
        original, models=[sf.trajectories.KDeltaAnonymity(k=2, delta=50)], algorithm=algorithm
    )
    inside = sf.trajectories.attack(release.trajectories, original, points=3, seed=1, attacks=KNOWN)
    assert inside.results
    read = sf.trajectories.Trajectories(release.trajectories.to_frame(), cluster="cluster")
    outside = sf.trajectories.attack(read, original, points=3, seed=1, attacks=KNOWN)
    assert outside.results == ()
    assert "known-points" in outside.skipped
    told = sf.trajectories.attack(
        read, original, points=3, seed=1, attacks=KNOWN, origin=release.trajectories.points.origin
    )
    assert told.results == inside.results


def test_the_control_counts_claims_about_the_only_other(original):
    two = sf.trajectories.Trajectories.from_points(original.points.take(np.array([0, 1])))
    found = sf.trajectories.attack(two, two, points=1, meters=1e6, seconds=1e9, seed=1, attacks=KNOWN).results[0]
    assert found.claims == 0
    assert found.control == 1


def ordered(ways, owner=None):
    rows = [(number, step, place) for number, way in enumerate(ways) for step, place in enumerate(way)]
    trip, step, place = (list(column) for column in zip(*rows, strict=True))
    person = [owner[each] if owner else each for each in trip]
    table = pa.table({"person": person, "trip": trip, "order": step, "place": place})
    return sf.trajectories.Trajectories(table, trip="trip", order="order", place="place")


def test_places_match_in_order_and_those_left_out_are_not_asked_for():
    original = ordered(["abc", "cba", "abx"])
    found = sf.trajectories.attack(original, original, points=3, seed=1).results[0]
    assert found.successes == 3
    published = ordered(["abc", "cba", "ab"])
    found = sf.trajectories.attack(published, original, points=3, seed=1, origin=np.arange(3)).results[0]
    assert (found.claims, found.successes) == (2, 2)  # ab is known of two
    assert found.details == {"matching persons": pytest.approx(4 / 3), "in the crowd": 1.0}


def test_a_visit_may_be_two_that_were_collapsed():
    original = ordered(["bc", "ba", "ab", "bab"])
    z = "b | c"
    others = [[z, "a"], ["a", z], [z, "a", z]]
    kept, once = ordered([[z, z], *others]), ordered([[z], *others])
    asked = {"points": 3, "seed": 1, "origin": np.arange(4)}
    assert sf.trajectories.attack(kept, original, **asked).results[0].successes == 1  # bab is more than ba and ab
    found = sf.trajectories.attack(once, original, **asked).results[0]
    assert found.details["in the crowd"] == 1.0
    assert found.details["matching persons"] == pytest.approx((4 + 2 + 2 + 1) / 4)  # bc may be any


def test_known_points_of_several_trips_find_their_person():
    original = ordered(["ab", "cd", "ad", "cb"], owner=[0, 0, 1, 1])
    found = sf.trajectories.attack(original, original, points=4, seed=1).results[0]
    assert found.successes == 2


def test_moments_match_the_bins_that_are_published():
    table = {"person": [1, 2], "time": ["2026-01-05T09:00Z", "2026-01-05T14:00Z"], "place": ["a", "a"]}
    original = sf.trajectories.Trajectories(pa.table(table), place="place")
    release = sf.trajectories.anonymize(
        original,
        models=[sf.trajectories.TrajectoryLKCPrivacy(l=1, k=1, seconds=43_200)],
        algorithm=sf.trajectories.LKCSuppression(),
    )
    assert sf.trajectories.attack(release.trajectories, original, seconds=60, seed=1).results[0].successes == 2
    more = {"person": [1, 2, 2], "time": [*table["time"], "2026-01-07T14:00Z"], "place": ["a", "a", "b"]}
    original = sf.trajectories.Trajectories(pa.table(more), place="place")  # b was left out, and is not asked for
    found = sf.trajectories.attack(
        release.trajectories, original, seconds=60, seed=1, origin=release.trajectories.points.origin
    )
    assert found.results[0].successes == 2


def test_bad_parameters_are_refused(original):
    with pytest.raises(InvalidParameterError, match=r"attack\.points"):
        sf.trajectories.attack(original, original, points=0)
    with pytest.raises(InvalidParameterError, match=r"attack\.meters"):
        sf.trajectories.attack(original, original, meters=-1)
