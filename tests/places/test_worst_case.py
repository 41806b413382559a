"""The worst case of every person equals a plain loop over all her sets of points."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.trajectories.risk import KNOWLEDGE, worst_case_risk
from sfumato.trajectories.trajectories import Trajectories

DAY = (date(2026, 1, 1) - date(1970, 1, 1)).days


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
    if knowledge == "times":
        return {tuple(sorted(each)) for each in combinations(binned(way), min(size, len(way)))}
    counts = sorted(Counter(way).items())
    if knowledge == "proportions":
        return {
            tuple((place, Fraction(many, max(m for _, m in chosen))) for place, many in chosen)
            for chosen in combinations(counts, min(size, len(counts)))
        }
    kinds = {
        "unique-places": sorted(set(way)),
        "frequencies": counts,
        "probabilities": [(place, Fraction(many, len(way))) for place, many in counts],
    }[knowledge]
    return set(combinations(kinds, min(size, len(kinds))))


def binned(way):
    """Two days are one bin."""
    return [(place, (DAY + step) // 2) for step, place in enumerate(way)]


def plain(ways, size, knowledge):
    owned = [instances(way, size, knowledge) for way in ways]
    return [
        max(1 / sum(each in instances(other, len(each), knowledge) for other in ways) for each in mine)
        for mine in owned
    ]


@given(
    st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 3),
    st.sampled_from(KNOWLEDGE),
)
@examples(100)
def test_risks_equal_a_plain_loop(ways, size, knowledge):
    found = worst_case_risk(visited(ways), points=size, knowledge=knowledge, seconds=2 * 86_400)
    assert found.tolist() == pytest.approx(plain(ways, size, knowledge))


def test_a_place_known_twice_must_be_visited_twice():
    ways = visited(["aab", "ab", "b"])
    assert worst_case_risk(ways, points=2).tolist() == [1.0, 0.5, 1 / 3]
    assert worst_case_risk(ways, points=2, knowledge="unique-places").tolist() == [0.5, 0.5, 1 / 3]
    for knowledge, risk in (("frequencies", 1.0), ("probabilities", 1.0), ("proportions", 1.0)):
        assert worst_case_risk(ways, points=2, knowledge=knowledge)[0] == risk
    doubled = visited(["aabb", "ab"])
    assert worst_case_risk(doubled, points=2, knowledge="frequencies").tolist() == [1.0, 1.0]
    for knowledge in ("probabilities", "proportions"):
        assert worst_case_risk(doubled, points=2, knowledge=knowledge).tolist() == [0.5, 0.5]


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr("sfumato.trajectories.risk.MAX_SETS", 3)
    assert worst_case_risk(visited(["abc"]), points=2).tolist() == [1.0]
    with pytest.raises(InfeasibleError, match="ask for fewer points"):
        worst_case_risk(visited(["abc", "ab"]), points=2)


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match="knowledge"):
        worst_case_risk(visited(["a"]), knowledge="everything")
