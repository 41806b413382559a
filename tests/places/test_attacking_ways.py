"""Known points find persons in the original, and not among those who share a way."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.exceptions import InvalidParameterError

KNOWN = ["known-points"]


@pytest.fixture(scope="module")
def original():
    return sf.places.Trajectories(sf.samples.generate_ways(40, 2, seed=3))


def test_points_find_most_persons_of_the_original(original):
    found = sf.places.attack(original, original, points=5, meters=100, seed=1, attacks=KNOWN).results[0]
    assert found.rate > 0.7
    assert found.succeeds
    assert found.precision == 1


def test_points_find_nobody_among_those_who_share_a_way(original):
    release = sf.places.anonymize(original, models=[sf.places.KWays(k=4)], algorithm=sf.places.AlignWays())
    found = sf.places.attack(release.ways, original, points=5, meters=100, seed=1, attacks=KNOWN).results[0]
    assert found.successes == 0
    assert found.details["in the crowd"] > 0.7


def test_a_file_alone_does_not_tell_who_is_who(original):
    algorithm = sf.places.NeverWalkAlone(span=43_200, every=3600)
    release = sf.places.anonymize(original, models=[sf.places.KDelta(k=2, delta=50)], algorithm=algorithm)
    inside = sf.places.attack(release.ways, original, points=3, seed=1, attacks=KNOWN)
    assert inside.results
    read = sf.places.Trajectories(release.ways.to_frame(), cluster="cluster")
    outside = sf.places.attack(read, original, points=3, seed=1, attacks=KNOWN)
    assert outside.results == ()
    assert "known-points" in outside.skipped
    told = sf.places.attack(read, original, points=3, seed=1, attacks=KNOWN, origin=release.ways.points.origin)
    assert told.results == inside.results


def test_the_control_counts_claims_about_the_only_other(original):
    two = sf.places.Trajectories.of(original.points.take(np.array([0, 1])))
    found = sf.places.attack(two, two, points=1, meters=1e6, seconds=1e9, seed=1, attacks=KNOWN).results[0]
    assert found.claims == 0
    assert found.control == 1


def test_bad_parameters_are_refused(original):
    with pytest.raises(InvalidParameterError, match=r"attack\.points"):
        sf.places.attack(original, original, points=0)
    with pytest.raises(InvalidParameterError, match=r"attack\.meters"):
        sf.places.attack(original, original, meters=-1)
