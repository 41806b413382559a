"""Owners of places: golden crowds, a slow judge, and a search that keeps the promise with few points lost."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.trajectories._catalogue import read_recipe
from sfumato.trajectories._pipeline import anonymize
from sfumato.trajectories._release import read_published
from sfumato.trajectories.algorithms.projection_suppression import ProjectionSuppression
from sfumato.trajectories.models.partial_knowledge import PartialKnowledge
from sfumato.trajectories.trajectories import Trajectories

GOLDEN = ["abc", "acb", "ab", "bc", "abc", "ac"]
COORDINATES = pa.table({"place": list("abcd"), "lon": [13.0, 13.2, 13.201, 13.3], "lat": [52.5] * 4})


def ordered(ways, owner=None, coordinates=None):
    rows = [(number, step, place) for number, way in enumerate(ways) for step, place in enumerate(way)]
    trip, step, place = (list(column) for column in zip(*rows, strict=True))
    person = [owner[each] if owner else each for each in trip]
    table = pa.table({"person": person, "trip": trip, "order": step, "place": place})
    return Trajectories(table, trip="trip", order="order", place="place", coordinates=coordinates)


def crowds(ways, owner, owned):
    """Return the sets of other places of the persons of every crowd, by all visits at the owned places."""
    visits: dict[int, list[str]] = {}
    others: dict[int, set[str]] = {}
    for number, way in enumerate(ways):
        seen = "".join(place for place in way if place in owned)
        visits.setdefault(owner[number], []).extend([seen] if seen else [])
        others.setdefault(owner[number], set()).update(set(way) - set(owned))
    found: dict[tuple[str, ...], list[set[str]]] = {}
    for person, mine in visits.items():
        found.setdefault(tuple(sorted(mine)), []).append(others[person])
    return found


def shares(ways, owner, owned):
    for persons in crowds(ways, owner, owned).values():
        counts = Counter(place for mine in persons for place in mine)
        yield from (many / len(persons) for many in counts.values())


def test_golden_crowds():
    found = crowds(GOLDEN, range(6), "ab")
    assert {visits: [sum("c" in mine for mine in each), len(each)] for visits, each in found.items()} == {
        ("ab",): [3, 4],
        ("a",): [1, 1],
        ("b",): [1, 1],
    }
    verdict = PartialKnowledge(owners=[["a", "b"]], share=0.75).evaluate(ordered(GOLDEN))
    assert (verdict.level, verdict.violations, verdict.holds) == (1.0, 2, False)
    only = [way for way in GOLDEN if {"a", "b"} <= set(way)]
    assert PartialKnowledge(owners=[["a", "b"]], share=0.75).evaluate(ordered(only)).holds
    assert PartialKnowledge(owners=[["a", "b"]], share=0.74).evaluate(ordered(only)).violations == 1


ways_of_persons = st.lists(
    st.tuples(st.text("abcd", min_size=1, max_size=5), st.integers(0, 4)), min_size=1, max_size=9
)
owners = st.sampled_from([("ab",), ("a", "c"), ("abc",), ("d",), ("ab", "cd")])
shared = st.sampled_from([0.0, 0.3, 0.5, 2 / 3, 1.0])


def drawn(persons):
    ways, owner = zip(*persons, strict=True)
    return list(ways), list(owner)


@given(ways_of_persons, owners, shared)
@examples(60)
def test_verdicts_equal_those_of_a_slow_judge(persons, owned, share):
    ways, owner = drawn(persons)
    model = PartialKnowledge(owners=[list(each) for each in owned], share=share)
    if not all(set(each) & set("".join(ways)) for each in owned):
        with pytest.raises(SchemaError, match="Nobody visits a place of owner"):
            model.evaluate(ordered(ways, owner))
        return
    expected = [each for one in owned for each in shares(ways, owner, one)]
    verdict = model.evaluate(ordered(ways, owner))
    assert verdict.level == max(expected, default=0.0)
    assert verdict.violations == sum(each > share for each in expected)


@given(ways_of_persons, owners, shared, st.booleans())
@examples(60)
def test_what_is_found_keeps_the_promise_even_for_single_ways_that_are_seen(persons, owned, share, placed):
    ways, owner = drawn(persons)
    model = PartialKnowledge(owners=[list(each) for each in owned], share=share)
    original = ordered(ways, owner, COORDINATES if placed else None)
    try:
        found = ProjectionSuppression().search(Request(data=original, models=[model]))
    except (InfeasibleError, SchemaError):
        return
    assert model.evaluate(found).holds
    table = found.to_frame()
    named = {name: name for name in ("trip", "order", "place") if name in table.column_names}
    assert Trajectories(table, **named).equals(found)
    left, person = dict[int, str](), dict[int, int]()
    for row in table.to_pylist():
        trip = row.get("trip", row["person"])
        left[trip], person[trip] = left.get(trip, "") + row["place"], row["person"]
    for one in owned:
        whole = crowds(list(left.values()), [person[each] for each in left], one).values()
        pooled = Counter(place for crowd in whole for mine in crowd for place in mine)
        assert max(pooled.values(), default=0) <= share * found.points.n_individuals
        seen = [way for way in left.values() if set(way) & set(one)]
        assert max(shares(seen, range(len(seen)), one), default=0.0) <= share


def test_points_with_short_detours_are_left_out_first():
    ways = ["abc", "abc", "abd", "abd", "ab"]
    model = PartialKnowledge(owners=[["a", "b"]], share=0.2)
    found = ProjectionSuppression().search(Request(data=ordered(ways, coordinates=COORDINATES), models=[model]))
    assert sorted(Counter(found.to_frame()["place"].to_pylist()).items()) == [("a", 5), ("b", 5), ("c", 1), ("d", 1)]
    near = ["cab", "acb"]  # between a and b, c is nearly on the way; before a it is a detour
    half = PartialKnowledge(owners=[["a", "b"]], share=0.5)
    found = ProjectionSuppression().search(Request(data=ordered(near, coordinates=COORDINATES), models=[half]))
    assert sorted(found.points.lengths.tolist()) == [2, 3]
    assert found.to_frame().filter(pc.field("place") == "c")["order"].to_pylist() == [1]


def test_a_crowd_joins_another_if_that_costs_less():
    ways = ["adcdbdc", *["dcdb", "b", "db", "cb", "b", "bc"]]
    model = PartialKnowledge(owners=[["a", "b"]], share=0.6)
    found = ProjectionSuppression().search(Request(data=ordered(ways), models=[model]))
    assert "a" not in found.points.names
    assert len(found.points) == sum(map(len, ways)) - 1


def test_a_release_tells_no_times_and_its_recipe_makes_it_again(tmp_path):
    model = PartialKnowledge(owners=[["a", "b"]], share=0.5)
    release = anonymize(ordered(GOLDEN), models=[model], algorithm=ProjectionSuppression())
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public" / "ways.csv")
    assert read.to_frame().column_names == ["person", "order", "place"]
    assert model.evaluate(read).holds
    assert read_recipe(tmp_path / "out" / "internal" / "recipe.toml").models == (model,)


def test_bad_input_is_refused():
    for wrong in ([], ["ab"], [[]], [["a", 1]], "ab"):
        with pytest.raises(InvalidParameterError, match=r"PartialKnowledge\.owners"):
            PartialKnowledge(owners=wrong, share=0.5)
    with pytest.raises(InvalidParameterError, match=r"PartialKnowledge\.share"):
        PartialKnowledge(owners=[["a"]], share=1.5)
    model = PartialKnowledge(owners=[["a"]], share=0.5)
    timed = pa.table({"person": [1], "time": ["2026-01-31T08:00Z"], "place": ["a"]})
    with pytest.raises(SchemaError, match="tell moments"):
        model.evaluate(Trajectories(timed, place="place"))
    nameless = pa.table({"person": [1], "order": [1], "lon": [13.0], "lat": [52.0]})
    with pytest.raises(SchemaError, match="no names of places"):
        model.evaluate(Trajectories(nameless, order="order"))
    both = PartialKnowledge(owners=[["a"], ["b"]], share=0.0)
    with pytest.raises(InfeasibleError, match="larger share"):
        ProjectionSuppression().search(Request(data=ordered(["ab"]), models=[both]))
