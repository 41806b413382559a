"""Trips of one person: each is published with a key of its own, and those joined by one key are judged together."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories.algorithms.lkc_suppression import LKCSuppression
from sfumato.trajectories.algorithms.never_walk_alone import NeverWalkAlone
from sfumato.trajectories.algorithms.seq_anon import SeqAnon
from sfumato.trajectories.algorithms.sequence_alignment import SequenceAlignment
from sfumato.trajectories.algorithms.wait_for_me import WaitForMe
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.models.trajectory_k_anonymity import TrajectoryKAnonymity
from sfumato.trajectories.models.trajectory_km_anonymity import TrajectoryKmAnonymity
from sfumato.trajectories.models.trajectory_lkc_privacy import TrajectoryLKCPrivacy
from sfumato.trajectories.trajectories import Trajectories

PERSONS, TRIPS = 12, 2


def walked(seed=1, trips=TRIPS):
    """Make up trips of persons, one a day, that are alike and span the same hours."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "person": f"person {person}",
            "trip": trip,
            "time": f"2026-01-{5 + trip:02}T{8 + hour:02}:00:00Z",
            "longitude": 13.4 + x + hour / 100,
            "latitude": 52.5 + y,
        }
        for person in range(PERSONS)
        for trip in range(trips)
        for x, y in [rng.normal(0, 0.02, 2)]
        for hour in range(6)
    ]
    return Trajectories(pa.Table.from_pylist(rows), trip="trip")


SEARCHES = [
    (KDeltaAnonymity(k=3, delta=300), NeverWalkAlone()),
    (KDeltaAnonymity(k=3, delta=300), WaitForMe()),
    (TrajectoryKAnonymity(k=3), SequenceAlignment()),
]


def crowds(table):
    """Return, by key, the clusters or regions of its ways, and how many keys have the same ones."""
    steps = defaultdict(list)
    for row in table.to_pylist():
        key = row.pop("trip" if "trip" in row else "person")
        steps[key].append(row["cluster"] if "cluster" in row else tuple(row.values()))
    held = {key: (each[0],) if isinstance(each[0], int) else tuple(each) for key, each in steps.items()}
    return {key: sum(other == each for other in held.values()) for key, each in held.items()}


@pytest.mark.parametrize(("model", "search"), SEARCHES)
def test_every_trip_is_published_with_a_key_of_its_own(model, search, tmp_path):
    original = walked()
    release = sf.trajectories.anonymize(original, models=[model], algorithm=search)
    table = release.trajectories.to_arrow()
    assert "person" not in table.column_names
    assert len(set(table["trip"].to_pylist())) == len(release.trajectories) > PERSONS
    assert min(crowds(table).values()) >= 3
    assert release.audit.level(model.name) == min(crowds(table).values())
    assert "persons" not in release.audit.summary
    assert 0 < release.metrics["persons-kept"] <= 1
    release.write(tmp_path / "out")
    read = sf.trajectories.TrajectoriesRelease.read(tmp_path / "out" / "public")
    assert read.digest() == release.trajectories.digest()
    assert sf.trajectories.audit(read, models=[model]).to_dict() == release.audit.to_dict()
    about = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir())
    assert "person 1" not in about


@pytest.mark.parametrize(("model", "search"), SEARCHES)
def test_no_crowd_holds_two_trips_of_one_person(model, search):
    for seed in range(4):
        original = walked(seed, trips=1)
        points = original.points
        owner = points.individual_of // 2  # two ways at the same time are one person's
        twins = Trajectories.from_points(points.take(np.arange(len(original))), area=original.area)
        twins.points = replace(points, individual_of=owner)
        ways = sf.trajectories.anonymize(twins, models=[model], algorithm=search).trajectories
        shown = ways if model.name == "k-ways" else ways.points
        label = ways.identical_groups[0] if model.name == "k-ways" else shown.clusters
        pairs = list(zip(label.tolist(), owner[shown.origin].tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(("model", "search"), SEARCHES[:2])
def test_trips_that_are_joined_by_their_person_fail_the_audit(model, search):
    original = walked(3)
    ways = sf.trajectories.anonymize(original, models=[model], algorithm=search).trajectories
    table = ways.to_arrow()
    owner = original.points.individual_of[ways.points.origin][table["trip"].to_numpy() - 1]
    joined = Trajectories(table.append_column("person", pa.array(owner)), trip="trip", cluster="cluster")
    verdict = model.evaluate(joined)
    assert not verdict.holds
    assert verdict.level == 1


def test_one_way_of_each_person_keeps_the_key_of_persons():
    release = sf.trajectories.anonymize(
        walked(trips=1), models=[KDeltaAnonymity(k=3, delta=300)], algorithm=NeverWalkAlone()
    )
    assert "person" in release.trajectories.to_arrow().column_names
    assert "persons" in release.audit.summary


def test_known_points_attack_each_trip_and_habits_are_not_put_together():
    original = walked()
    release = sf.trajectories.anonymize(original, models=[KDeltaAnonymity(k=3, delta=300)], algorithm=NeverWalkAlone())
    found = sf.trajectories.attack(release.trajectories, original, points=6, seed=1)
    known = next(each for each in found.results if each.attack == "known-points")
    assert known.details["matching persons"] >= 1
    assert "key of its own" in found.skipped["signal-linking"]
    bare = Trajectories.from_points(original.points)  # nothing is moved: whoever knows a trip finds its key
    every = np.arange(len(original))
    bare.points = replace(original.points, individual_of=every, origin=every, trip_keys=True)
    alone = sf.trajectories.attack(bare, original, points=6, meters=1, seconds=1, seed=1, attacks=["known-points"])
    assert alone.results[0].successes == PERSONS


def visited(trips, *, ill=None):
    """Make trips of persons, two each, of visits to places, an hour after the other."""
    rows = [
        {
            "person": number // 2,
            "trip": number,
            "time": f"2026-01-05T{6 * (number % 2) + hour:02}:10:00Z",
            "place": place,
            "ill": "flu" if ill is None else ill[number // 2],
        }
        for number, places in enumerate(trips)
        for hour, place in enumerate(places)
    ]
    return Trajectories(pa.Table.from_pylist(rows), trip="trip", place="place", sensitive="ill")


def known(table, most):
    """Return, by key, every set of at most so many visits in all rows of the key, and its sensitive value."""
    visits, values = defaultdict(list), {}
    for row in table.to_pylist():
        visits[row["person"]].append((row["time"], row["place"]))
        values[row["person"]] = row["sensitive"]
    return {
        key: {frozenset(each) for size in range(1, most + 1) for each in combinations(sorted(own), size)}
        for key, own in visits.items()
    }, values


two_trips = st.lists(st.text("ab", min_size=1, max_size=3), min_size=8, max_size=14).filter(
    lambda each: len(each) % 2 == 0
)


@given(two_trips, st.sampled_from([2, 3]), st.sampled_from([0.7, 1.0]))
@examples(40)
def test_visits_of_all_trips_of_a_person_are_those_of_k_persons(trips, k, c):
    ill = ["flu", "pox"] * len(trips)
    try:
        release = sf.trajectories.anonymize(
            visited(trips, ill=ill), models=[TrajectoryLKCPrivacy(l=2, k=k, c=c)], algorithm=LKCSuppression()
        )
    except InfeasibleError:
        return
    sets, values = known(release.trajectories.to_arrow(), 2)
    for visits in set().union(*sets.values()):
        holders = [key for key, mine in sets.items() if visits in mine]
        assert len(holders) >= k
        assert max(Counter(values[key] for key in holders).values()) <= c * len(holders)


def test_visits_of_two_trips_of_one_person_are_judged_together():
    trips = ["a", "c", "a", "d", "b", "c", "b", "d"]
    apart = replace(visited(trips).points, individual_of=np.arange(len(trips)))
    assert TrajectoryLKCPrivacy(l=2, k=2).evaluate(Trajectories.from_points(apart)).level == 2
    joined = TrajectoryLKCPrivacy(l=2, k=2).evaluate(visited(trips))
    assert (joined.level, joined.violations) == (1, 4)


def test_places_of_two_trips_of_one_person_are_judged_together():
    rows = [(0, 0, "a"), (0, 1, "b"), (1, 2, "a"), (1, 3, "c"), (2, 4, "b"), (2, 5, "c")]
    table = pa.table(dict(zip(("person", "trip", "place"), zip(*rows, strict=True), strict=True)))
    ways = Trajectories(table.append_column("order", pa.array([1] * 6)), order="order", trip="trip", place="place")
    assert TrajectoryKmAnonymity(k=2, m=1).evaluate(ways).holds
    assert TrajectoryKmAnonymity(k=2, m=2).evaluate(ways).level == 1
    release = sf.trajectories.anonymize(
        ways, models=[TrajectoryKmAnonymity(k=2, m=2)], algorithm=SeqAnon(rare="suppress", repeats="collapse")
    )
    assert len(release.trajectories) == release.trajectories.points.n_individuals
    assert release.trajectories.to_arrow().column_names == ["person", "order", "place"]


def test_a_person_with_two_sensitive_values_is_refused():
    points = visited(["a", "b", "a", "b"]).points
    ways = Trajectories.from_points(replace(points, values=np.array([0, 1, 0, 0]), value_names=("flu", "pox")))
    with pytest.raises(SchemaError, match="several sensitive values"):
        TrajectoryLKCPrivacy(l=1, k=1, c=0.5).evaluate(ways)
