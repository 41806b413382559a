"""Points come in as tables of many kinds; what cannot be points is refused, what looks odd is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories.geometry import Area, haversine
from sfumato.trajectories.trajectories import Trajectories

ROWS = {
    "user": ["b", "a", "a", "b"],
    "time": ["2026-01-31T09:00:00Z", "2026-01-31T10:00:00Z", "2026-01-31T08:00:00Z", "2026-01-31T09:30:00Z"],
    "lon": [13.4, 13.5, 13.6, 13.4],
    "lat": [52.5, 52.5, 52.5, 52.6],
}
NAMED = {"person": "user", "time": "time", "longitude": "lon", "latitude": "lat"}


def ways(rows=ROWS, **changed):
    return Trajectories(pa.table(rows), **{**NAMED, **changed})


def test_points_are_sorted_by_person_and_time():
    read = ways().points
    assert read.individual_of.tolist() == [0, 1]
    assert read.offsets.tolist() == [0, 2, 4]
    assert read.longitudes.tolist() == [13.6, 13.5, 13.4, 13.4]


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_every_kind_of_table_gives_the_same_ways_and_comes_back(kind):
    read = Trajectories(kind(ROWS), **NAMED)
    assert read.equals(ways())
    assert isinstance(read.to_frame(), type(kind(ROWS)))
    assert Trajectories(read.to_frame()).equals(read)


def test_a_frame_of_points_is_read_by_its_geometry():
    class Points:
        name = "geometry"
        x, y = pd.Series(ROWS["lon"]), pd.Series(ROWS["lat"])

    class GeoDataFrame(pd.DataFrame):
        @property
        def geometry(self):
            return Points()

    frame = GeoDataFrame({"user": ROWS["user"], "time": ROWS["time"], "geometry": range(4)})
    assert Trajectories(frame, person="user").equals(ways())


def test_trips_are_ways_of_the_same_person():
    read = ways({**ROWS, "trip": [1, 1, 2, 1]}, trip="trip")
    assert len(read) == 3
    assert read.points.n_individuals == 2
    assert Trajectories(read.to_frame(), trip="trip").equals(read)


def test_moments_without_a_zone_need_one():
    naive = {**ROWS, "time": np.array([f"2026-07-01T09:0{minute}" for minute in (1, 2, 3, 4)], dtype="datetime64[us]")}
    with pytest.raises(SchemaError, match="have no time zone; say which one"):
        ways(naive)
    summer, winter = (ways(naive, zone=zone).points.times[0] for zone in ("Europe/Berlin", "UTC"))
    assert winter - summer == 2 * 3_600_000_000
    with pytest.raises(SchemaError, match="no time zone 'Berlin'"):
        ways(naive, zone="Berlin")


def test_hours_of_the_clock_that_come_twice_or_never_are_told():
    def read(day, *clocks):
        return ways({**ROWS, "time": [f"{day}T{clock}:00" for clock in clocks]}, zone="Europe/Berlin")

    autumn = read("2026-10-25", "02:30", "03:30", "01:30", "02:00")
    assert autumn.findings.folded == 2
    assert "shows twice or never" in autumn.remarks[-1]
    spring = read("2026-03-29", "02:30", "03:30", "01:30", "04:00")
    assert spring.findings.folded == 1
    assert np.diff(spring.points.times[:2]) == 3_600_000_000  # from 1:30 to 3:30 an hour goes by
    assert read("2026-07-01", "02:30", "03:30", "01:30", "04:00").findings.folded == 0


def test_a_point_at_zero_is_named_where_no_plane_fits():
    odd = ways({**ROWS, "lon": [0.0, 13.4, 13.5, 13.6], "lat": [0.0, 52.5, 52.5, 52.5]})
    with pytest.raises(SchemaError, match=r"too high for one plane.*; perhaps 1 points at longitude 0") as refused:
        _ = odd.area
    assert str(refused.value).count(".") == 2  # of a number and of the sentence


def test_columns_whose_names_say_that_they_are_swapped_are_refused():
    with pytest.raises(SchemaError, match="named as longitude looks like the latitude"):
        ways(longitude="lat", latitude="lon")


def test_geometries_that_are_no_points_are_refused():
    class Lines:
        name = "geometry"

        @property
        def x(self):
            raise ValueError("x attribute access only provided for Point geometries")

    class GeoDataFrame(pd.DataFrame):
        geometry = Lines()

    with pytest.raises(SchemaError, match="are no points"):
        Trajectories(GeoDataFrame({"user": ["a"]}), person="user")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lat": [52.5, 152.5, 52.5, 52.5]}, "look swapped"),
        ({"lat": [52.5, 152.5, 52.5, 52.5], "lon": [150.0, 13.0, 13.0, 13.0]}, "mend or drop"),
        ({"lon": [190.0, 13.0, 13.0, 13.0]}, "beyond 180"),
        ({"lat": [52.5, None, 52.5, 52.5]}, "1 missing cells"),
        ({"lat": ["north", "n", "n", "n"]}, "holds no numbers"),
        ({"user": ["a", None, "b", "b"]}, "1 missing cells"),
        ({"time": ["yesterday"] * 4}, "no moments"),
        ({"time": ["2026-01-31T09:00:00Z"] * 3 + ["2026-01-31T09:00:00"]}, "others do not"),
        ({"time": [1, 2, 3, 4]}, "holds no moments"),
    ],
)
def test_what_cannot_be_points_is_refused_in_a_sentence(changed, said):
    with pytest.raises(SchemaError, match=said) as refused:
        ways({**ROWS, **changed})
    assert str(refused.value).endswith(".")
    assert "yesterday" not in str(refused.value)


def test_a_missing_column_and_an_empty_table_are_refused():
    with pytest.raises(SchemaError, match="no column 'users'; did you mean 'user'"):
        ways(person="users")
    with pytest.raises(SchemaError, match="no rows"):
        Trajectories(pa.table({name: pa.array([], pa.string()) for name in ROWS}), **NAMED)


def test_what_looks_odd_is_counted_and_told():
    odd = {
        "user": ["a", "a", "a", "a", "b", "c", "c"],
        "time": [
            f"2026-01-31T{clock}:00Z" for clock in ("08:00", "08:00", "08:00", "07:00", "08:00", "08:00", "08:01")
        ],
        "lon": [13.4, 13.5, 13.4, 13.4, 0.0, 13.4, 23.4],
        "lat": [52.5, 52.5, 52.5, 52.5, 0.0, 52.5, 52.5],
    }
    found = ways(odd).findings
    assert (found.duplicates, found.disordered, found.zero, found.split, found.jumps, found.single) == (
        1,
        1,
        1,
        1,
        1,
        1,
    )
    assert len(ways(odd).remarks) == 6
    assert len(ways(odd).points) == 6
    assert ways().remarks == ("1 points came before an earlier one of the same way; the ways are sorted by time.",)


def test_places_have_names_with_or_without_coordinates():
    rows = {"user": ["a", "a", "b"], "time": ROWS["time"][:3], "shop": ["x", "y", "x"]}
    named = Trajectories(pa.table(rows), person="user", place="shop")
    assert named.points.names == ("x", "y")
    assert not named.points.has_coordinates
    known = pa.table({"shop": ["y", "x"], "lon": [1.0, 2.0], "lat": [3.0, 4.0]})
    placed = Trajectories(pa.table(rows), person="user", place="shop", coordinates=known)
    assert sorted(placed.points.longitudes.tolist()) == [1.0, 2.0, 2.0]
    with pytest.raises(SchemaError, match="1 places are more than once"):
        Trajectories(pa.table(rows), person="user", place="shop", coordinates=pa.concat_tables([known, known.slice(1)]))
    with pytest.raises(SchemaError, match="name the column of places by place="):
        Trajectories(pa.table(rows), person="user", coordinates=known)
    with pytest.raises(SchemaError, match="1 places have no coordinates"):
        Trajectories(pa.table(rows), person="user", place="shop", coordinates=known.slice(1))


def test_an_area_is_refused_where_no_plane_fits():
    side = 5_000 / 111_195.0797
    for half, error in ((1, 0.0010), (5, 0.0051)):
        area = Area(west=13, south=52.5 - half * side, east=14, north=52.5 + half * side)
        assert area.error == pytest.approx(error, abs=5e-5)
    with pytest.raises(SchemaError, match=r"wrong by 1\.0%"):
        Area(west=13, south=52.5 - 10 * side, east=14, north=52.5 + 10 * side)
    with pytest.raises(SchemaError, match="date line"):
        Area.from_points(np.array([-179.9, 179.9]), np.array([1.0, 1.1]))
    with pytest.raises(SchemaError, match="latitude 85"):
        Area(west=1, south=84.9, east=2, north=85.1)


@given(st.floats(13, 13.5), st.floats(52.3, 52.7))
@examples(20)
def test_the_plane_measures_what_the_globe_does(longitude, latitude):
    area = Area(west=13, south=52.3, east=13.5, north=52.7)
    ends = np.array([13.2, longitude]), np.array([52.5, latitude])
    x, y = area.to_plane(*ends)
    far = haversine(*(end[:1] for end in ends), *(end[1:] for end in ends))[0]
    assert np.hypot(x[1] - x[0], y[1] - y[0]) == pytest.approx(far, rel=area.error + 1e-4, abs=1e-3)
    assert np.allclose(area.to_degrees(x, y), ends, atol=1e-12)


def test_an_area_shows_no_point():
    area = Area.from_points(np.array([13.4]), np.array([52.5]))
    assert (area.west, area.east) == (13.4, 13.41)
    assert area.contains(np.array([13.4]), np.array([52.5])).all()


def test_nobody_is_named_in_what_is_shown():
    assert repr(ways()).splitlines()[0] == "Trajectories: 2 persons, 2 ways, 4 points"
    assert "13.4" not in repr(ways())


@pytest.mark.parametrize(
    "names",
    [
        ("user_id", "tracked_at", "longitude", "latitude"),
        ("User-ID", "Timestamp", "Lng", "LAT"),
        ("individual-local-identifier", "timestamp", "location-long", "location-lat"),
    ],
)
def test_columns_with_usual_names_are_found_and_told(names):
    table = pa.table(dict(zip(names, ROWS.values(), strict=True)))
    read = Trajectories(table)
    assert read.equals(ways())
    assert f"{names[0]!r} for the person, {names[1]!r} for the time" in read.remarks[0]
    with pytest.raises(SchemaError, match=r"may each hold the person; name one by person="):
        Trajectories(table.append_column("uid", table.column(0)))
    assert Trajectories(table.append_column("person", table.column(0))).equals(ways())
    assert not any("By their names" in each for each in ways().remarks)


def test_an_area_leaves_out_points_and_persons_outside():
    here = Area(west=13.3, south=52.4, east=13.45, north=52.65)
    cut = ways(area=here)
    assert (cut.keys, cut.points.n_individuals, len(cut.points), cut.area) == (("b",), 1, 2, here)
    assert cut.points.individual_of.tolist() == [0]
    assert "2 points are outside the area and left out." in cut.remarks
    with pytest.raises(SchemaError, match="No point is inside"):
        ways(area=Area(west=1, south=2, east=3, north=4))
    places = pa.table({"person": [1], "order": [1], "place": ["mall"]})
    with pytest.raises(SchemaError, match="no coordinates, so no area"):
        Trajectories(places, order="order", place="place", area=here)


def test_of_several_places_at_one_moment_the_first_or_the_mean_counts():
    rows = {**ROWS, "user": ["b", "a", "a", "a"], "time": [ROWS["time"][0], *[ROWS["time"][1]] * 3]}
    assert ways(rows).findings.split == 2
    first, mean = (ways(rows, same_moment=how) for how in ("first", "mean"))
    assert first.points.longitudes.tolist() == [13.5, 13.4]
    assert mean.points.longitudes.tolist() == [pytest.approx(13.5), 13.4]
    assert mean.points.latitudes.tolist() == [pytest.approx((52.5 + 52.5 + 52.6) / 3), 52.5]
    for read in (first, mean):
        assert (read.findings.split, read.findings.shared) == (0, 2)
        assert "2 points share their moment" in read.remarks[-1]
    assert ways(same_moment="mean").equals(ways())
    named = {"person": [1, 1], "time": [ROWS["time"][0]] * 2, "place": ["mall", "park"]}
    assert Trajectories(pa.table(named), place="place", same_moment="first").points.places.tolist() == [0]
    with pytest.raises(SchemaError, match="names have no mean"):
        Trajectories(pa.table(named), place="place", same_moment="mean")
    with pytest.raises(InvalidParameterError, match="same_moment"):
        ways(same_moment="last")
