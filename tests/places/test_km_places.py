"""k^m-anonymity of places: golden supports, all subsequences as oracle, and searches that keep it."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories._pipeline import anonymize
from sfumato.trajectories._subsequences import count_subsequences
from sfumato.trajectories.algorithms.seq_anon import SeqAnon
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.models.trajectory_km_anonymity import TrajectoryKmAnonymity
from sfumato.trajectories.trajectories import Trajectories

GOLDEN = ["abc", "acb", "ab", "bc", "abc", "ac"]
COORDINATES = pa.table({"place": list("abcdz"), "lon": [13.0, 13.2, 13.201, 13.3, 13.4], "lat": [52.5] * 5})


def ordered(ways, *, owner=None, coordinates=COORDINATES):
    rows = [(person, step, place) for person, way in enumerate(ways) for step, place in enumerate(way)]
    person, step, place = (list(column) for column in zip(*rows, strict=True))
    table = {
        "person": [owner[each] if owner else each for each in person],
        "trip": person,
        "order": step,
        "place": place,
    }
    return Trajectories(pa.table(table), trip="trip", order="order", place="place", coordinates=coordinates)


def supports(ways, most, owner=None):
    """Count by listing all subsequences of everybody."""
    owned: dict[int, set[str]] = {}
    for number, way in enumerate(ways):
        mine = owned.setdefault(owner[number] if owner else number, set())
        mine |= {"".join(each) for size in range(1, most + 1) for each in combinations(way, size)}
    return {found: sum(found in mine for mine in owned.values()) for mine in owned.values() for found in mine}


def counted(ways, most, owner=None):
    points = ordered(ways, owner=owner).points
    return {
        "".join(points.names[place] for place in sequence): int(support)
        for found in count_subsequences(points.places, points.offsets, points.individual_of, most)
        for sequence, support in zip(found.sequences, found.support, strict=True)
    }


def test_golden_supports():
    found = counted(GOLDEN, 3)
    assert {name: found[name] for name in ("a", "b", "c", "ab", "ac", "bc", "cb", "abc", "acb")} == {
        "a": 5,
        "b": 5,
        "c": 5,
        "ab": 4,
        "ac": 4,
        "bc": 3,
        "cb": 1,
        "abc": 2,
        "acb": 1,
    }


def test_golden_supports_of_merged_places():
    kept = [way.replace("b", "z").replace("c", "z") for way in GOLDEN]
    assert counted(kept, 3) == {"a": 5, "z": 6, "az": 5, "zz": 4, "azz": 3}
    collapsed = [way.replace("zz", "z") for way in kept]
    assert counted(collapsed, 3) == {"a": 5, "z": 6, "az": 5}


@given(st.lists(st.text("abcd", min_size=1, max_size=6), min_size=1, max_size=7), st.integers(1, 3), st.booleans())
@examples(40)
def test_supports_equal_those_of_all_subsequences(ways, most, shared):
    owner = [number // 2 for number in range(len(ways))] if shared else None
    assert counted(ways, most, owner) == supports(ways, most, owner)


@pytest.mark.parametrize(
    ("repeats", "k", "m", "names"),
    [("keep", 4, 2, ["a", "b | c"]), ("keep", 3, 3, ["a", "b | c"]), ("collapse", 5, 3, ["a", "b | c"])],
)
def test_golden_merge_of_the_nearest_places(repeats, k, m, names):
    found = SeqAnon(repeats=repeats).search(Request(data=ordered(GOLDEN), models=[TrajectoryKmAnonymity(k=k, m=m)]))
    assert list(found.points.names) == names
    assert TrajectoryKmAnonymity(k=k, m=m).evaluate(found).level == k


def test_places_that_few_visit_are_merged_before_those_that_many_do():
    ways = ["ab"] * 4 + ["ad", "da", "az", "za"]
    near = pa.table({"place": list("abdz"), "lon": [13.0, 13.001, 13.3, 13.31], "lat": [52.5] * 4})
    request = Request(data=ordered(ways, coordinates=near), models=[TrajectoryKmAnonymity(k=2, m=2)])
    assert SeqAnon().search(request).points.names == ("a", "b", "d | z")


@given(
    st.lists(st.text("abcd", min_size=1, max_size=5), min_size=4, max_size=8),
    st.integers(2, 4),
    st.sampled_from(["merge", "suppress"]),
    st.sampled_from(["keep", "collapse"]),
)
@examples(30)
def test_what_is_found_keeps_the_promise_and_reads_back(ways, k, rare, repeats):
    model = TrajectoryKmAnonymity(k=k, m=2)
    request = Request(data=ordered(ways), models=[model])
    try:
        found = SeqAnon(rare=rare, repeats=repeats).search(request)
    except InfeasibleError:
        assert rare == "suppress" or repeats == "keep"
        return
    assert model.evaluate(found).holds
    named = {name: name for name in found.to_frame().column_names if name in {"trip", "order", "place"}}
    assert Trajectories(found.to_frame(), **named).equals(found)


def test_a_release_of_places_tells_no_times_and_no_coordinates(tmp_path):
    release = anonymize(ordered(GOLDEN), models=[TrajectoryKmAnonymity(k=4, m=2)], algorithm=SeqAnon())
    assert release.trajectories.to_frame().column_names == ["person", "order", "place"]
    lost = {"points-kept": 1.0, "places-kept": 2 / 3, "places-merged": pytest.approx((5 + 2 * 10) / 15)}
    assert {name: release.metrics[name] for name in lost} == lost
    release.write(tmp_path / "out")
    assert (tmp_path / "out" / "public" / "ways.csv").exists()


def test_what_cannot_be_done_is_refused():
    with pytest.raises(SchemaError, match="squares="):
        TrajectoryKmAnonymity(k=2, m=2).evaluate(
            Trajectories(pa.table({"person": [1], "time": ["2026-01-31T08:00Z"], "lon": [1.0], "lat": [1.0]}))
        )
    unplaced = ordered(GOLDEN, coordinates=None)
    with pytest.raises(SchemaError, match='rare="suppress"'):
        SeqAnon().search(Request(data=unplaced, models=[TrajectoryKmAnonymity(k=2, m=2)]))
    with pytest.raises(InfeasibleError, match="fewer than k = 7"):
        SeqAnon().search(Request(data=ordered(GOLDEN), models=[TrajectoryKmAnonymity(k=7, m=1)]))
    with pytest.raises(Exception, match="cannot keep k-delta"):
        anonymize(ordered(GOLDEN), models=[KDeltaAnonymity(k=2, delta=1)], algorithm=SeqAnon())
