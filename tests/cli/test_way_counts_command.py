"""`sfumato ways count`: counts with differential privacy, paid from a budget."""

from __future__ import annotations

import json
import re

import pytest

import sfumato as sf
from sfumato.datasets.mobility import CITY

AREA = ("--area", "13.2,52.4,13.6,52.6", "--order", 2)


@pytest.fixture
def points(tmp_path):
    sf.write(sf.datasets.generate_trajectories(20, 1, seed=1), tmp_path / "points.csv")
    return tmp_path / "points.csv"


def count(run, points, what, out, *more, epsilon="1000"):
    paid = ("--epsilon", epsilon, "--budget", points.parent / "ways.budget", "--analyst", "ann", "--out", out)
    return run("ways", "count", what, points, *paid, *more)


def test_points_and_trips_are_counted_and_paid_for(run, points, tmp_path):
    done = count(run, points, "density", tmp_path / "density.csv", *AREA, "--points", 2, "--total", 2500)
    assert done.exit_code == 0, done.output
    found = sf.read(tmp_path / "density.csv")
    assert found.column_names == ["place", "longitude", "latitude", "count"]
    assert (found.num_rows, sum(found["count"].to_pylist())) == (17, 40)
    assert (
        "epsilon 1000 for adding or removing one individual with all trips was spent, 1500 of 2500 is left"
        in done.output
    )
    told = count(run, points, "trips", tmp_path / "trips.csv", *AREA, "--json")
    assert json.loads(told.stdout)["epsilon_left"] == "500"
    assert sum(sf.read(tmp_path / "trips.csv")["count"].to_pylist()) == 20
    refused = count(run, points, "trips", tmp_path / "again.csv", *AREA)
    assert refused.exit_code == 1
    assert "has 500 left, but the question costs 1000" in refused.output
    assert not (tmp_path / "again.csv").exists()


def test_hexagons_are_counted_in_place_of_squares(run, points, tmp_path):
    out = tmp_path / "hexagons.csv"
    asked = (*AREA[:2], "--hexagons", 6, "--points", 1, "--total", 1000)
    assert count(run, points, "density", out, *asked).exit_code == 0
    found = sf.read(out)
    assert sum(found["count"].to_pylist()) == 20

    assert all(abs(each - CITY.reference_latitude) < 0.3 for each in found["latitude"].to_pylist()[:-1])


def test_ways_are_made_up_from_a_tree(run, points, tmp_path):
    out, ways = tmp_path / "tree.csv", tmp_path / "made-up.csv"
    done = count(run, points, "tree", out, *AREA, "--height", 2, "--ways", ways, "--total", 9000, epsilon="6000")
    assert done.exit_code == 0, done.output
    assert sf.read(out).column_names == ["place1", "place2", "count"]
    assert "20 made-up ways" in done.output
    assert sf.trajectories.Trajectories(sf.read(ways), order="order", place="place").points.has_coordinates
    hidden = count(run, points, "tree", tmp_path / "t.csv", *AREA, "--ways", tmp_path / "w.csv", epsilon="0.000001")
    assert (hidden.exit_code, "pay more, or name fewer places" in hidden.output) == (1, True)
    assert (tmp_path / "t.csv").exists()
    assert not (tmp_path / "w.csv").exists()


def test_named_places_are_counted_in_sequence(run, tmp_path):
    rows = [f"{user},2026-01-05T0{hour}:00Z,{shop}" for user in range(9) for hour, shop in ((8, "a"), (9, "b"))]
    (tmp_path / "visits.csv").write_text("\n".join(["person,time,shop", *rows]) + "\n")
    (tmp_path / "shops.csv").write_text("shop\na\nb\nc\n")
    asked = ("--place", "shop", "--places", tmp_path / "shops.csv", "--size", 2, "--longest", 2)
    out = tmp_path / "pairs.csv"
    done = count(run, tmp_path / "visits.csv", "n-grams", out, *asked, "--total", 9000, epsilon="8000")
    assert done.exit_code == 0, done.output
    assert out.read_text().split() == ["place1,place2,count", "a,,9", "b,,9", "a,b,9"]


def test_bad_requests_are_refused_before_anything_is_paid(run, points, tmp_path):
    out, total = tmp_path / "out.csv", ("--total", 5)
    for more, said in (
        ((), "either --area or --places"),
        ((*AREA, "--places", points), "either --area or --places"),
        (("--area", "13,52"), "four numbers"),
        ((*AREA, "--points", 0), "at least 1"),
    ):
        refused = count(run, points, "density", out, *more, *total, epsilon="1")
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output
    same = count(run, points, "tree", out, *AREA, "--ways", out, *total, epsilon="1")
    assert (same.exit_code, "name two" in same.output) == (2, True)
    assert count(run, points, "density", points, *AREA, *total, epsilon="1").exit_code == 2
    assert not out.exists()
    if (tmp_path / "ways.budget").exists():
        assert sf.dp.Accountant(tmp_path / "ways.budget").balance().answers == 0


ODD = (
    "",
    "{last}\n",
    "x,2026-01-05T08:00Z\n",
    "x,2026-01-05T08:00Z,13.4,52.5,more\n",
    "x,soon,13.4,52.5\n,2026-01-05T08:00Z,13.4,52.5\nx,2026-01-05 8:00,13.4,52.5\n",
    "x,2026-01-05T08:00+99:00,nan,inf\nx,0001-01-01T00:00+14:00,13.4,52.5\nx,2026-01-05T08:00Z,1e400,here\n",
    'x,2026-01-05T08:00Z,13;4,52\u00b05\n\xff\x00,,,\n"x,2026-01-05T08:00Z,200,-91\n',
    "x,2026-01-05T08:00Z,0,0\nx,2026-01-05T08:00Z,179,-80\nx,2026-01-05T08:00Z,13.4,52.5\n",
)


@pytest.mark.parametrize("what", ["density", "trips", "tree", "n-grams"])
def test_whatever_one_person_adds_to_a_file_the_command_says_the_same(run, points, tmp_path, what):
    """Points elsewhere, unreadable cells and odd lines change counts below noise, and nothing else."""
    whole = points.read_text()
    head, last = whole.split("\n", 1)[0], whole.rstrip("\n").rsplit("\n", 1)[1]
    seen = set()
    for number, odd in enumerate([*ODD, None]):
        file, out = tmp_path / f"{number}.csv", tmp_path / "found.csv"
        text = f"{head}\n" if odd is None else whole + odd.format(last=last)
        file.write_text(text, "utf-8" if number % 2 else "latin-1", errors="replace")
        budget = tmp_path / f"{number}.budget"
        paid = (
            "--epsilon",
            "0.5",
            "--budget",
            budget,
            "--total",
            1,
            "--analyst",
            "ann",
            "--out",
            out,
            "--another-budget",
        )
        done = run("ways", "count", what, file, *paid, *AREA)
        noisy = re.compile(r"within \d+ in|: [\d, ]+ of growing")
        seen.add((done.exit_code, noisy.sub("", done.stdout), done.stderr))
        if what in {"density", "trips"}:
            assert sf.read(out).num_rows == (17 if what == "density" else 17**2)
        assert sf.dp.Accountant(budget).balance().answers == 1
        out.unlink()
    assert [code for code, *_ in seen] == [0]


def test_points_are_read_as_they_are_told(run, tmp_path):
    rows = [f"{user};05.01.2026 8:0{step};13,{step};52,5" for user in range(30) for step in (3, 4, 5)]
    (tmp_path / "points.csv").write_text("\n".join(["who;when;lon;lat", *rows]) + "\n", "utf-8")
    told = ("--person", "who", "--time", "when", "--separator", ";", "--decimal", ",", "--date-format", "dd.mm.yyyy")
    out = tmp_path / "trips.csv"
    done = count(run, tmp_path / "points.csv", "trips", out, *AREA, *told, "--total", 1000)
    assert done.exit_code == 0, done.output
    counted = [(row["first"], row["last"], row["count"]) for row in sf.read(out).to_pylist() if row["count"]]
    assert counted == [("1-2", "3-2", 30)]
    for more, said in (
        (("--longitude", "lonn"), "no column 'lonn'"),
        (("--decimal", "x"), "a point or a comma"),
        (("--zone", "Mars"), "no time zone 'Mars'"),
        (("--date-format", "soon"), "--date-format must be made of"),
        (("--place", "who"), "both --place and --places"),
    ):
        refused = count(run, tmp_path / "points.csv", "density", tmp_path / "no.csv", *AREA, *told, *more)
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output


def test_a_budget_of_each_analyst_is_kept(run, points, tmp_path):
    granted = ("--total", 2000, "--per-analyst", 1000)
    assert count(run, points, "trips", tmp_path / "one.csv", *AREA, *granted).exit_code == 0
    assert count(run, points, "trips", tmp_path / "two.csv", *AREA).exit_code == 1
