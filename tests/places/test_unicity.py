"""Unicity equals a plain search through all sets of points."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError
from sfumato.trajectories.risk import unicity
from sfumato.trajectories.trajectories import Trajectories

GOLDEN = {"A": [1, 2, 3], "B": [1, 2, 4], "C": [1, 3, 4], "D": [5]}


def checked_in(places_of):
    rows = [(person, place) for person, places in places_of.items() for place in places]
    persons, places = zip(*rows, strict=True)
    times = [f"2026-01-31T08:{number % 60:02}:00Z" for number in range(len(rows))]
    return Trajectories(pa.table({"person": persons, "time": times, "place": list(map(str, places))}), place="place")


def plain(places_of, size):
    """Ask everybody for all sets."""
    shares = []
    for person, places in places_of.items():
        sets = list(combinations(sorted(set(places)), min(size, len(set(places)))))
        others = [set(each) for other, each in places_of.items() if other != person]
        shares.append(np.mean([not any(set(known) <= other for other in others) for known in sets]))
    return float(np.mean(shares))


@pytest.mark.parametrize(("size", "share"), [(1, 0.25), (2, 0.5), (3, 1.0), (4, 1.0)])
def test_golden_shares(size, share):
    found = unicity(checked_in(GOLDEN), points=size, seconds=3600)
    assert found.share == pytest.approx(share)
    assert found.fewer == [0, 1, 1, 4][size - 1]


@given(
    st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 5), min_size=1, max_size=5), min_size=1),
    st.integers(1, 4),
)
@examples(30)
def test_all_sets_are_asked_where_there_are_few(places_of, size):
    found = unicity(checked_in(places_of), points=size, seconds=86_400)
    assert found.share == pytest.approx(plain(places_of, size))


def test_drawn_sets_agree_with_all_sets():
    rng = np.random.default_rng(3)
    places_of = {person: rng.choice(12, 9, replace=False).tolist() for person in range(30)}
    drawn = unicity(checked_in(places_of), points=4, seconds=86_400, draws=100, seed=1)
    assert drawn.share == pytest.approx(plain(places_of, 4), abs=0.03)
    again = unicity(checked_in(places_of), points=4, seconds=86_400, draws=100, seed=1)
    assert drawn == again


def test_points_are_coarsened_before_they_are_drawn():
    rows = {
        "person": [1, 2],
        "time": ["2026-01-31T08:05Z", "2026-01-31T08:50Z"],
        "lon": [13.4, 13.401],
        "lat": [52.5] * 2,
    }
    ways = Trajectories(pa.table(rows))
    assert unicity(ways, points=1, meters=500, seconds=3600).share == 0
    assert unicity(ways, points=1, meters=10, seconds=3600).share == 1
    assert unicity(ways, points=1, meters=500, seconds=60).share == 1


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match=r"unicity\.points must be a whole number"):
        unicity(checked_in(GOLDEN), points=0)
    with pytest.raises(InvalidParameterError, match=r"meters must be a number above 0"):
        unicity(checked_in(GOLDEN), meters=0)
