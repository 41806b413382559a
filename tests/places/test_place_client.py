"""A person's places cost a budget per meter, which survives restarts."""

from __future__ import annotations

import pytest

from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.locations.location_client import LocationClient
from sfumato.trajectories.locations.planar_laplace import PlanarLaplace

CITY = Area(west=13, south=52.3, east=13.8, north=52.7)
NOISE = PlanarLaplace(epsilon=0.1, area=CITY)


def test_reports_add_up_across_restarts_and_end(tmp_path):
    options = {"budget": 0.3, "state": tmp_path / "state"}
    for left in (0.2, 0.1, 0.0):
        client = LocationClient(NOISE, **options)
        longitude, latitude = client.report(13.4, 52.5)
        assert CITY.west <= longitude <= CITY.east
        assert CITY.south <= latitude <= CITY.north
        assert client.remaining == pytest.approx(left)
    with pytest.raises(InfeasibleError, match="nothing was sent"):
        LocationClient(NOISE, **options).report(13.4, 52.5)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600


def test_nothing_is_returned_if_the_spending_cannot_be_written(tmp_path, monkeypatch):
    client = LocationClient(NOISE, budget=1, state=tmp_path / "state")
    monkeypatch.setattr(LocationClient, "_write", lambda *_: (_ for _ in ()).throw(OSError))
    with pytest.raises(OSError, match=r"^$"):
        client.report(13.4, 52.5)


STRANGE = [(0, 0), (float("nan"), 52.5), (52.5, 13.4), (14.0, 52.5), (None, "here"), (1e300, float("inf"))]


@pytest.mark.parametrize("place", STRANGE, ids=str)
def test_silence_discloses_no_strange_place(place):
    client = LocationClient(NOISE, budget=0.3)
    for left in (0.2, 0.1, 0.0):
        longitude, latitude = client.report(*place)
        assert CITY.west <= longitude <= CITY.east
        assert CITY.south <= latitude <= CITY.north
        assert client.remaining == pytest.approx(left)
    with pytest.raises(InfeasibleError, match="nothing was sent"):
        client.report(*place)


def test_no_place_counts_as_the_middle_of_the_area():
    longitude, latitude = LocationClient(NOISE, budget=1).report(None, None)
    assert (longitude, latitude) == pytest.approx((13.4, 52.5), abs=0.01)


def test_bad_states_and_settings_are_refused(tmp_path):
    (tmp_path / "state").write_text("a letter")
    with pytest.raises(ReadError, match="nobody knows what was spent"):
        LocationClient(NOISE, budget=1, state=tmp_path / "state")
    LocationClient(NOISE, budget=1, state=tmp_path / "good").report(13.4, 52.5)
    with pytest.raises(InvalidParameterError, match="another budget"):
        LocationClient(NOISE, budget=2, state=tmp_path / "good")
    with pytest.raises(InvalidParameterError, match="public area"):
        LocationClient(PlanarLaplace(epsilon=0.1), budget=1)
