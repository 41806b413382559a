"""`sfumato places`: files that hold no more than they promise, and a sentence for everything that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import locations
from sfumato.cli._application import app
from sfumato.io import _csv
from sfumato.trajectories.geometry import haversine

AREA = ("--area", "13.2,52.4,13.7,52.7")
FEW = np.round(np.random.default_rng(1).uniform((13.3, 52.5), (13.39, 52.55), (42, 2)), 4).tolist()


def run(*words, code=0):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    longitudes, latitudes = np.array(FEW).T
    sf.write(pa.table({"who": np.arange(len(FEW)), "lon": longitudes, "lat": latitudes}), "good.csv")
    return tmp_path


def written(name, *rows, head="longitude,latitude"):
    lines = [head, *(f"{longitude},{latitude}" for longitude, latitude in FEW), *rows]
    Path(name).write_text("\n".join(lines), encoding="utf-8")


def test_regions_hold_everybody_and_few_digits(folder):
    run("places", "cloak", "good.csv", "--k", 5, *AREA, "--out", "regions.csv")
    regions = sf.read("regions.csv")
    longitudes, latitudes = np.array(FEW).T
    sides = {name: regions[name].to_numpy() for name in ("west", "south", "east", "north")}
    assert (sides["west"] <= longitudes).all()
    assert (longitudes <= sides["east"]).all()
    assert (sides["south"] <= latitudes).all()
    assert (latitudes <= sides["north"]).all()
    cells = (folder / "regions.csv").read_text().replace("\n", ",").split(",")
    assert max(map(len, cells)) <= len("13.12345")
    assert min(np.unique(np.column_stack(list(sides.values())), axis=0, return_counts=True)[1]) >= 5


@pytest.mark.usefixtures("folder")
def test_regions_of_fewer_persons_are_told():
    said = run("places", "cloak", "good.csv", "--k", 5, "--method", "casper", *AREA, "--out", "r.csv", "--json", code=1)
    assert json.loads(said.stdout)["level"] < 5


@pytest.mark.usefixtures("folder")
def test_moved_places_have_few_digits_and_stay_in_the_area():
    said = run("places", "perturb", "good.csv", "--epsilon", 0.00693, *AREA, "--out", "moved.csv").output
    noise = sf.trajectories.PlanarLaplace(
        epsilon=0.00693, area=sf.trajectories.Area(west=13.2, south=52.4, east=13.7, north=52.7)
    )
    assert f"{noise.mean_error:,.0f} m on average" in said
    assert "places outside it are allowed" in said
    assert "5 decimals" in said
    moved = sf.read("moved.csv")
    assert moved.column_names == ["who", "lon", "lat"]
    for name, low, high in (("lon", 13.2, 13.7), ("lat", 52.4, 52.7)):
        degrees = moved[name].to_numpy()
        assert (degrees == np.round(degrees, 5)).all()
        assert low <= degrees.min() <= degrees.max() <= high


@pytest.mark.usefixtures("folder")
def test_an_area_that_is_drawn_around_cloaked_places_is_said_in_both_outputs():
    assert locations.DRAWN in run("places", "cloak", "good.csv", "--k", 5, "--out", "regions.csv").output
    said = run("places", "cloak", "good.csv", "--k", 5, "--out", "again.csv", "--json").stdout
    assert json.loads(said)["warnings"] == [locations.DRAWN]
    said = run("places", "cloak", "good.csv", "--k", 5, *AREA, "--out", "third.csv", "--json").stdout
    assert json.loads(said)["warnings"] == []


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("area", [(), AREA])
def test_what_is_said_of_noise_is_the_same_in_both_outputs_and_for_all_data(area):
    Path("one.csv").write_text("longitude,latitude\n13.4,52.5\n", encoding="utf-8")
    Path("other.csv").write_text("longitude,latitude\n-70.1,1.5\n", encoding="utf-8")
    asked = ("--epsilon", 0.0001, *area, "--force", "--out", "moved.csv")
    text, other = (run("places", "perturb", name, *asked).output for name in ("one.csv", "other.csv"))
    told, again = (run("places", "perturb", name, *asked, "--json").stdout for name in ("one.csv", "other.csv"))
    assert text == other
    assert told == again
    assert json.loads(told)["warnings"]
    assert all(sentence in text for sentence in json.loads(told)["warnings"])
    assert f"{json.loads(told)['mean_error']:,.0f} m on average" in text


@pytest.mark.usefixtures("folder")
def test_one_place_without_an_area_goes_as_far_as_is_said():
    Path("one.csv").write_text("longitude,latitude\n" + "13.4,52.5\n" * 2000, encoding="utf-8")
    said = run("places", "perturb", "one.csv", "--epsilon", 0.0001, "--out", "moved.csv", "--json").stdout
    moved = sf.read("moved.csv")
    far = haversine(*np.array([[13.4], [52.5]]), *(moved[name].to_numpy() for name in ("longitude", "latitude")))
    assert json.loads(said)["mean_error"] == pytest.approx(20_000, rel=1e-3)
    assert far.mean() == pytest.approx(20_000, rel=0.1)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("NaN,52.5", "'longitude' has 1 missing cells"),
        ("13.3,", "'latitude' has 1 missing cells"),
        ("east,52.5", "'longitude' must hold a number of degrees"),
        ("inf,52.5", "infinite values"),
        ("52.5,113.3", "1 points have a latitude beyond 90 degrees"),
    ],
)
@pytest.mark.parametrize("command", [("cloak", "--k", 3), ("perturb", "--epsilon", 0.007)])
def test_a_bad_row_is_refused_in_a_sentence(folder, command, row, said):
    written("bad.csv", row)
    output = run("places", command[0], "bad.csv", *command[1:], *AREA, "--out", "out.csv", code=2).output
    assert said in output
    assert "13.3" not in output.replace("as in 13.4", "")
    assert output.count("\n") == 1
    assert not (folder / "out.csv").exists()


def test_no_place_of_the_earth_is_refused_by_noise(folder):
    """A refusal, as of longitude and latitude 0, would tell where somebody is."""
    written("zero.csv", "0,0")
    refused = run("places", "cloak", "zero.csv", "--k", 3, *AREA, "--out", "out.csv", code=2).output
    assert "1 places are at longitude 0 and latitude 0" in refused
    said = set()
    for row in ("0,0", "13.4,52.5", "-180,90", "180,-90"):
        written("zero.csv", row)
        said.add(run("places", "perturb", "zero.csv", "--epsilon", 0.007, *AREA, "--out", "out.csv", "--force").output)
        assert sf.read(folder / "out.csv").num_rows == sf.read(folder / "zero.csv").num_rows
    assert len(said) == 1


@pytest.mark.parametrize("command", [("cloak", "--k", 3), ("perturb", "--epsilon", 0.007)])
def test_swapped_and_missing_columns_are_refused(folder, command):
    written("swapped.csv", head="latitude,longitude")
    written("named.csv", head="x,y")
    (folder / "empty.csv").write_text("longitude,latitude\n")
    wrong = [("named.csv", "rename its columns"), ("empty.csv", "has no rows")]
    if command[0] == "cloak":
        wrong.append(("swapped.csv", "longitude and latitude look swapped"))
    for name, said in wrong:
        assert said in run("places", command[0], name, *command[1:], *AREA, "--out", "out.csv", code=2).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("perturb", "--epsilon", 0), "epsilon must be a number above 0"),
        (("perturb", "--epsilon=-1"), "epsilon must be a number above 0"),
        (("perturb", "--epsilon", "nan"), "epsilon must be a number above 0"),
        (("perturb", "--epsilon", 1e9, *AREA), "epsilon must be from 2e-13 to 4 for steps of 10 m"),
        (("perturb", "--epsilon", 1e-30), "epsilon must be from 1e-07"),
        (("perturb", "--epsilon", "little"), "Invalid value for '--epsilon'"),
        (("perturb", "--epsilon", 1, "--step", 0), "step must be a number of meters"),
        (("perturb", "--epsilon", 1, "--mechanism", "gauss"), "mechanism must be"),
        (("perturb", "--epsilon", 1, "--area", "13,52"), "four numbers"),
        (("perturb", "--epsilon", 0.01, "--mechanism", "exact"), "--mechanism exact needs a public area; give --area"),
        (("cloak", "--k", 43), "There are 42 persons, fewer than k = 43"),
        (("cloak", "--k", 0), "k must be a whole number"),
        (("cloak", "--k", 3, "--order", 21), "order must be a whole number"),
        (("cloak", "--k", 3, "--area", "0,0,1,1"), "42 places are outside the area"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(folder, words, said):
    output = run("places", words[0], "good.csv", *words[1:], "--out", "out.csv", code=2).output
    assert said in output
    assert output.count("\n") == 1
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("command", [("cloak", "--k", 3), ("perturb", "--epsilon", 0.007)])
def test_files_are_replaced_only_by_force_and_never_half(folder, command, monkeypatch):
    asked = ("places", command[0], "good.csv", *command[1:], *AREA, "--out")
    before = (folder / "good.csv").read_bytes()
    assert "already exists" in run(*asked, "good.csv", code=2).output
    run(*asked, "out.csv")
    kept = (folder / "out.csv").read_bytes()

    def stop(_table, path, **_options):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(_csv, "write_csv", stop)
    assert CliRunner().invoke(app, [*map(str, asked), "out.csv", "--force"]).exit_code != 0
    assert (folder / "good.csv").read_bytes() == before
    assert (folder / "out.csv").read_bytes() == kept
