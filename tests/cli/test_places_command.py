"""`sfumato places`: files that hold no more than they promise, and a sentence for everything that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app, places
from sfumato.table.formats import csv

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
    assert "331 m on average" in said
    assert "5 decimals" in said
    moved = sf.read("moved.csv")
    assert moved.column_names == ["who", "lon", "lat"]
    for name, low, high in (("lon", 13.2, 13.7), ("lat", 52.4, 52.7)):
        degrees = moved[name].to_numpy()
        assert (degrees == np.round(degrees, 5)).all()
        assert low <= degrees.min() <= degrees.max() <= high


@pytest.mark.usefixtures("folder")
def test_an_area_that_nobody_gave_is_told():
    assert places.DRAWN in run("places", "cloak", "good.csv", "--k", 5, "--out", "regions.csv").output
    assert places.DRAWN in run("places", "perturb", "good.csv", "--epsilon", 0.01, "--out", "moved.csv").output


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0,0", "1 places are at longitude 0 and latitude 0"),
        ("NaN,52.5", "'longitude' has 1 missing cells"),
        ("13.3,", "'latitude' has 1 missing cells"),
        ("east,52.5", "'longitude' must hold a number of degrees"),
        ("inf,52.5", "infinite values"),
        ("52.5,113.3", "1 points have a latitude beyond 90 degrees"),
        ("9.9,52.5", "1 places are outside the area; give a larger area"),
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


@pytest.mark.parametrize("command", [("cloak", "--k", 3), ("perturb", "--epsilon", 0.007)])
def test_swapped_and_missing_columns_are_refused(folder, command):
    written("swapped.csv", head="latitude,longitude")
    written("named.csv", head="x,y")
    (folder / "empty.csv").write_text("longitude,latitude\n")
    for name, said in (
        ("swapped.csv", "longitude and latitude look swapped"),
        ("named.csv", "rename its columns"),
        ("empty.csv", "has no rows"),
    ):
        assert said in run("places", command[0], name, *command[1:], *AREA, "--out", "out.csv", code=2).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("perturb", "--epsilon", 0), "epsilon must be a number above 0"),
        (("perturb", "--epsilon=-1"), "epsilon must be a number above 0"),
        (("perturb", "--epsilon", "nan"), "epsilon must be a number above 0"),
        (("perturb", "--epsilon", 1e9), "epsilon must be from 2e-13 to 4 for steps of 10 m"),
        (("perturb", "--epsilon", 1e-30, "--mechanism", "planar"), "epsilon must be from 2e-13"),
        (("perturb", "--epsilon", "little"), "Invalid value for '--epsilon'"),
        (("perturb", "--epsilon", 1, "--step", 0), "step must be a number of meters"),
        (("perturb", "--epsilon", 1, "--mechanism", "gauss"), "mechanism must be"),
        (("perturb", "--epsilon", 1, "--area", "13,52"), "four numbers"),
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

    monkeypatch.setattr(csv, "write_csv", stop)
    assert CliRunner().invoke(app, [*map(str, asked), "out.csv", "--force"]).exit_code != 0
    assert (folder / "good.csv").read_bytes() == before
    assert (folder / "out.csv").read_bytes() == kept
