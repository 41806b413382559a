"""Hexagons of a public area: all of them, climbed by index, and only with the extra."""

from __future__ import annotations

import sys

import h3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.dp.accountant import Accountant
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories.dp import private_density, private_prefix_tree, private_trips
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.grids import HexagonGrid, SquareGrid
from sfumato.trajectories.risk import unicity, worst_case_risk
from sfumato.trajectories.trajectories import Points, Trajectories

BERLIN = Area(west=13.3, south=52.45, east=13.5, north=52.55)


def moving(persons=20, length=6, seed=1):
    rng = np.random.default_rng(seed)
    at = rng.uniform((BERLIN.west, BERLIN.south), (BERLIN.east, BERLIN.north), (persons * length, 2))
    return Trajectories.from_points(
        Points(
            individual_of=np.arange(persons),
            offsets=np.arange(persons + 1) * length,
            times=np.tile(np.arange(length) * 3_600_000_000, persons),
            longitudes=at[:, 0],
            latitudes=at[:, 1],
        )
    )


def test_the_facts_that_the_docstring_tells():
    rng = np.random.default_rng(1)
    places = rng.uniform((52.3, 13.0), (52.7, 13.8), (3000, 2)).tolist()
    other = [h3.cell_to_parent(h3.latlng_to_cell(*at, 9), 8) != h3.latlng_to_cell(*at, 8) for at in places]
    assert np.mean(other) == pytest.approx(0.07, abs=0.02)
    assert h3.average_hexagon_area(8, "km^2") == pytest.approx(0.737, abs=0.001)
    assert h3.cell_area(h3.latlng_to_cell(52.52, 13.405, 8), "km^2") == pytest.approx(0.656, abs=0.001)
    assert HexagonGrid(area=BERLIN).meters == pytest.approx(1000 * 0.656**0.5, rel=0.002)


@given(
    st.tuples(st.floats(-179, 178), st.floats(-84, 83.5), st.floats(0.01, 0.1)),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=10),
    st.sampled_from([(3, None), (5, None), (7, None), (8, None), (5, 7), (4, 4)]),
)
@examples(40)
def test_every_point_of_the_area_is_in_one_of_its_hexagons(corner, places, levels):
    west, south, side = corner
    area = Area(west=west, south=south, east=west + side, north=south + side)
    at = np.clip(np.array(places) * side + (west, south), (west, south), (area.east, area.north))
    hexagons = HexagonGrid(area=area, resolution=levels[0], finest=levels[1])
    named = [hexagons.names[number] for number in hexagons.encode(at[:, 0], at[:, 1])]
    finest = levels[1] or levels[0]
    assert named == [h3.cell_to_parent(h3.latlng_to_cell(y, x, finest), levels[0]) for x, y in at.tolist()]


def degrees(ways):
    return ways.points.longitudes, ways.points.latitudes


def test_hexagons_come_from_the_area_and_not_from_the_data():
    hexagons = HexagonGrid(area=BERLIN, resolution=7)
    names = hexagons.names
    hexagons.encode(*degrees(moving(1, 1)))
    assert hexagons.names == names
    assert len(hexagons) == len(names) == 70
    assert all(h3.get_resolution(name) == 7 for name in names)


def test_counts_of_coarser_hexagons_are_sums_of_finer_ones():
    ways = moving(50)
    fine, coarse = HexagonGrid(area=BERLIN, resolution=8), HexagonGrid(area=BERLIN, resolution=6, finest=8)
    counts = np.bincount(coarse.encode(*degrees(ways)), minlength=len(coarse))
    summed = dict.fromkeys(coarse.names, 0)
    for name, count in zip(fine.names, np.bincount(fine.encode(*degrees(ways)), minlength=len(fine)), strict=True):
        summed[h3.cell_to_parent(name, 6)] += int(count)
    assert list(summed.values()) == counts.tolist()
    by_geometry = HexagonGrid(area=BERLIN, resolution=6).encode(*degrees(ways))
    named = np.array(HexagonGrid(area=BERLIN, resolution=6).names)[by_geometry]
    assert (named != np.array(coarse.names)[coarse.encode(*degrees(ways))]).any()


def test_hexagons_serve_where_squares_do(tmp_path):
    ways, hexagons = moving(), HexagonGrid(area=BERLIN, resolution=5)
    accountant = Accountant(tmp_path / "budget.db", total=30)
    asked = {"places": hexagons, "epsilon": 10, "accountant": accountant, "analyst": "ada"}
    assert private_density(ways, **asked, points=6).names == (*hexagons.names, "elsewhere")
    assert private_trips(ways, **asked).counts.shape == (len(hexagons) + 1, len(hexagons) + 1)
    assert private_prefix_tree(ways, **asked, height=1).names == (*hexagons.names, "elsewhere")
    counted = unicity(ways, points=2, cells=hexagons, seed=1)
    assert counted.meters == hexagons.meters
    assert counted.share < unicity(ways, points=2, cells=HexagonGrid(area=BERLIN, resolution=9), seed=1).share
    assert worst_case_risk(ways, points=1, cells=hexagons).max() < 1
    squares = SquareGrid(area=BERLIN, order=1)
    assert unicity(ways, points=2, cells=squares, seed=1).meters == squares.meters
    assert worst_case_risk(ways, points=1, cells=squares).max() < 1


def test_what_cannot_be_is_refused_in_a_sentence(monkeypatch):
    for wrong in ({"resolution": 2}, {"resolution": 16}, {"finest": 7}, {"finest": 16}, {"area": "Berlin"}):
        with pytest.raises(InvalidParameterError, match=f"HexagonGrid.{next(iter(wrong))}"):
            HexagonGrid(**{"area": BERLIN, **wrong})
    with pytest.raises(InvalidParameterError, match="ask for a coarser one"):
        HexagonGrid(area=BERLIN, resolution=12)
    with pytest.raises(SchemaError, match="outside the area"):
        HexagonGrid(area=Area(west=13.3, south=52.45, east=13.4, north=52.5)).encode(*degrees(moving()))
    with pytest.raises(InvalidParameterError, match="SquareGrid or HexagonGrid"):
        unicity(moving(), cells="hexagons")
    monkeypatch.setitem(sys.modules, "h3.api.basic_int", None)
    with pytest.raises(InvalidParameterError, match=r"The library h3 is needed; install it with .*sfumato\[places\]"):
        HexagonGrid(area=BERLIN)
