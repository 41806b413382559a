"""Cloaking: golden examples, reciprocity, and what only seems safe."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.grids import GridSnapshot
from sfumato.trajectories.locations.cloaking import cloak
from sfumato.trajectories.locations.reciprocity import Reciprocity

SQUARE = Area(west=0, south=0, east=0.04, north=0.04)
USERS = np.array([(0, 0), (1, 0), (3, 0), (0, 1), (2, 2), (3, 3), (0, 3), (1, 3)])


def regions(method, k, users=USERS, **options):
    at = (users + 0.5) / 100
    return cloak(at[:, 0], at[:, 1], k=k, method=method, area=SQUARE, order=2, **options)


def box(found, person):
    return tuple(int(side[person]) for side in found.sides)


def test_golden_places_along_the_curve():
    columns, rows = (each.ravel().astype(np.int64) for each in np.meshgrid(range(4), range(4)))
    found = GridSnapshot(columns=columns, rows=rows, order=2, area=SQUARE).hilbert_index().reshape(4, 4)
    assert found.tolist() == [[0, 1, 14, 15], [3, 2, 13, 12], [4, 7, 8, 11], [5, 6, 9, 10]]


@pytest.mark.parametrize(("k", "buckets"), [(2, [{0, 1}, {3, 6}, {7, 4}, {5, 2}]), (3, [{0, 1, 3}, {2, 4, 5, 6, 7}])])
def test_golden_buckets_along_the_curve(k, buckets):
    found = regions("hilbert", k)
    sharing = {frozenset(p for p in range(8) if box(found, p) == box(found, person)) for person in range(8)}
    assert sharing == {frozenset(each) for each in buckets}


def test_golden_quadrants_give_somebody_away():
    found = regions("quadrants", 2)
    assert box(found, 2) == (0, 0, 4, 4)
    assert sum(box(found, person) == (0, 0, 4, 4) for person in range(8)) == 1
    assert not Reciprocity(k=2).evaluate(found).holds


def test_golden_casper_gives_somebody_away():
    found = regions("casper", 2)
    assert box(found, 0) == (0, 0, 2, 1)
    assert box(found, 3) == (0, 0, 1, 2)
    assert box(found, 2) == (2, 0, 4, 4)
    assert not Reciprocity(k=2).evaluate(found).holds


def test_casper_regions_are_as_large_as_asked_for():
    least = 2 * SQUARE.width * SQUARE.height / 16
    assert (regions("casper", 1, smallest=least).square_meters >= least * (1 - 1e-9)).all()
    assert (regions("casper", 1).square_meters < least).all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30),
    st.integers(1, 4),
    st.sampled_from(["hilbert", "halving", "quadrants", "casper"]),
)
@examples(60)
def test_everybody_stands_in_her_region_with_k_persons(users, k, method):
    users = np.array(users)
    found = regions(method, k, users)
    inside = (found.west <= users[:, 0]) & (users[:, 0] < found.east)
    inside &= (found.south <= users[:, 1]) & (users[:, 1] < found.north)
    assert inside.all()
    for person in range(len(users)):
        west, south, east, north = box(found, person)
        standing = (users[:, 0] >= west) & (users[:, 0] < east) & (users[:, 1] >= south) & (users[:, 1] < north)
        assert standing.sum() >= k
    if method in {"hilbert", "halving"}:
        verdict = Reciprocity(k=k).evaluate(found)
        assert verdict.holds
        assert verdict.level >= k


def test_regions_hold_several_kinds_of_places():
    at = (np.array([(0, 0), (1, 1), (2, 2), (3, 3)]) + 0.5) / 100
    kinds = (at[:, 0], at[:, 1], ["clinic", "clinic", "shop", "school"])
    found = regions("hilbert", 2, kinds=kinds, diversity=2)
    assert Reciprocity(k=2).evaluate(found).holds
    for person in range(8):
        west, south, east, north = box(found, person)
        inside = {kinds[2][place] for place in range(4) if west <= place < east and south <= place < north}
        assert len(inside) >= 2
    with pytest.raises(InfeasibleError, match="not 4 kinds"):
        regions("hilbert", 2, kinds=kinds, diversity=4)
    with pytest.raises(InvalidParameterError, match="Diversity needs"):
        regions("halving", 2, diversity=2)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8),
    st.integers(1, 20),
    st.tuples(st.floats(-170, 170), st.floats(-60, 60), st.floats(0.02, 0.5)),
    st.sampled_from(["hilbert", "halving", "quadrants", "casper"]),
)
@examples(60)
def test_published_sides_are_rounded_and_still_hold_everybody(users, order, corner, method):
    west, south, side = corner
    area = Area(west=west, south=south, east=west + side, north=south + side)
    at = np.clip(np.array(users) * side + (west, south), (west, south), (area.east, area.north))
    assume((at != 0).any(axis=1).all())
    told = cloak(at[:, 0], at[:, 1], k=1, method=method, area=area, order=order).to_degrees()
    assert (told["west"] <= at[:, 0]).all()
    assert (at[:, 0] <= told["east"]).all()
    assert (told["south"] <= at[:, 1]).all()
    assert (at[:, 1] <= told["north"]).all()
    decimals = int(np.ceil(-np.log10(side / 2**order / 4)) + 1)
    for name, sides in told.items():
        rim = area.west if name in {"west", "east"} else area.south
        assert all(degrees in {rim, rim + side} or degrees == round(degrees, decimals) for degrees in sides.tolist())


def test_a_hair_beside_a_decimal_is_still_inside():
    area = Area(west=84.6, south=10, east=84.6 + 0.6, north=10.4)
    at = np.array([84.89999999999999])
    told = cloak(at, np.array([10.2]), k=1, method="casper", area=area, order=2).to_degrees()
    assert told["west"][0] <= at[0] <= told["east"][0]


def test_what_is_judged_is_what_is_published():
    """Regions whose published sides are the same are one region."""
    found = regions("hilbert", 2)
    told = np.column_stack(list(found.to_degrees().values()))
    assert len(np.unique(told, axis=0)) == len(found.identical_groups[1])
    assert found.to_arrow().column_names == ["west", "south", "east", "north"]


def test_too_few_persons_and_bad_requests_are_refused():
    with pytest.raises(InfeasibleError, match="fewer than k = 9"):
        regions("hilbert", 9)
    with pytest.raises(InvalidParameterError, match="one of hilbert"):
        regions("gauss", 2)
    for longitudes, latitudes, said in (
        ([0.01, 0.02], [0.01], "2 longitudes and 1 latitudes"),
        ([float("nan")], [0.01], "no longitude or latitude"),
        ([0.0], [0.0], "unknown place"),
        (["east"], ["west"], "rows of two numbers"),
    ):
        with pytest.raises(SchemaError, match=said):
            cloak(longitudes, latitudes, k=1)
    with pytest.raises(InvalidParameterError, match=r"an sf\.trajectories\.Area"):
        cloak([0.01], [0.01], k=1, area="here")
    with pytest.raises(SchemaError, match="outside the area"):
        cloak(np.array([1.0]), np.array([1.0]), k=1, area=SQUARE)
    with pytest.raises(InvalidParameterError, match="finer than a millimeter"):
        cloak(np.array([0.0001]), np.array([0.0001]), k=1, area=Area(west=0, south=0, east=1e-3, north=1e-3), order=20)
    with pytest.raises(SchemaError, match="no places"):
        cloak(np.array([]), np.array([]), k=1)
