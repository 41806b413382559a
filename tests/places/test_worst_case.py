"""The worst case of every person equals a plain loop over all her sets of points."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.exceptions import InvalidParameterError
from sfumato.places import Trajectories, worst_case_risk


def visited(ways):
    rows = [(person, step, place) for person, way in enumerate(ways) for step, place in enumerate(way)]
    person, step, place = (list(column) for column in zip(*rows, strict=True))
    times = [f"2026-01-{1 + each:02}T08:00Z" for each in step]
    return Trajectories(pa.table({"person": person, "time": times, "place": place}), place="place")


def instances(way, size, knowledge):
    if knowledge == "places":
        return {tuple(sorted(each)) for each in combinations(way, min(size, len(way)))}
    if knowledge == "sequence":
        return set(combinations(way, min(size, len(way))))
    kinds = {
        "unique-places": sorted(set(way)),
        "times": list(enumerate(way)),
        "frequencies": sorted(Counter(way).items()),
    }[knowledge]
    return set(combinations(kinds, min(size, len(kinds))))


def plain(ways, size, knowledge):
    owned = [instances(way, size, knowledge) for way in ways]
    return [
        max(1 / sum(each in instances(other, len(each), knowledge) for other in ways) for each in mine)
        for mine in owned
    ]


@given(
    st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 3),
    st.sampled_from(["places", "unique-places", "sequence", "times", "frequencies"]),
)
@examples(60)
def test_risks_equal_a_plain_loop(ways, size, knowledge):
    found = worst_case_risk(visited(ways), points=size, knowledge=knowledge)
    assert found.tolist() == pytest.approx(plain(ways, size, knowledge))


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match="knowledge"):
        worst_case_risk(visited(["a"]), knowledge="everything")
