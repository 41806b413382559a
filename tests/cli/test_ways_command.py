"""`sfumato ways`: the same files as in Python, judged and attacked from the folder."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app


def run(*words, code=0):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    folder = tmp_path_factory.mktemp("city")
    table = sf.datasets.generate_trajectories(30, 2, seed=3).rename_columns(["user", "when", "lon", "lat"])
    sf.write(table, folder / "points.csv")
    return folder


COLUMNS = ("--person", "user", "--time", "when")
ASKED = ("--model", "k-delta:k=3,delta=200", "--algorithm", "never-walk-alone:span=43200,every=3600")


@pytest.fixture(scope="module")
def released(city):
    run("ways", "anonymize", city / "points.csv", *COLUMNS, *ASKED, "--out", city / "one")
    return city / "one"


def test_recipe_and_python_write_the_same_bytes(city, released, tmp_path):
    recipe = released / "internal" / "recipe.toml"
    run("ways", "anonymize", city / "points.csv", "--recipe", recipe, "--out", tmp_path / "two")
    ways = sf.trajectories.Trajectories(sf.read(city / "points.csv"), person="user", time="when")
    sf.trajectories.run_recipe(sf.trajectories.read_recipe(recipe), ways).write(tmp_path / "three")
    for other in ("two", "three"):
        files = sorted(path.relative_to(released) for path in released.rglob("*") if path.is_file())
        assert [(tmp_path / other / name).read_bytes() for name in files] == [
            (released / name).read_bytes() for name in files
        ]


def test_audits_read_the_folder_alone_and_say_no(released):
    assert "Audit: holds" in run("ways", "audit", released / "public", "--model", "k-delta:k=3,delta=200").output
    told = run("ways", "audit", released / "public" / "ways.csv", "--model", "k-delta:k=4,delta=1", "--json", code=1)
    assert json.loads(told.output)["holds"] is False


def test_attacks_before_and_after_need_the_right_recipe(city, released):
    recipe = released / "internal" / "recipe.toml"
    asked = ("--with", city / "points.csv", "--points", 4, "--meters", 200, "--seed", 1, "--json")
    asked += ("--attack", "known-points")
    found = json.loads(run("ways", "attack", released / "public", *asked, "--recipe", recipe).stdout)
    before, after = (found[side]["attacks"][0]["rate"] for side in ("original", "published"))
    assert before > after
    skipped = json.loads(run("ways", "attack", released / "public", *asked, *COLUMNS).stdout)
    assert skipped["published"]["skipped"]


def test_every_attack_is_run_or_told_why_not(city, released, tmp_path):
    recipe, ways = released / "internal" / "recipe.toml", sf.read(city / "points.csv")
    sf.write(ways.slice(0, 400), tmp_path / "second.csv")
    (tmp_path / "friends.csv").write_text("a,b\n" + "".join(f"{each},{each + 1}\n" for each in range(1, 30)))
    asked = ("--with", city / "points.csv", "--recipe", recipe, "--seed", 1)
    more = ("--source", tmp_path / "second.csv", "--friends", tmp_path / "friends.csv")
    done = CliRunner().invoke(app, [str(each) for each in ("ways", "attack", released / "public", *asked, *more)])
    assert done.exit_code in {0, 1}, done.output
    for name in ("known-points", "home-work", "signal-linking", "markov-linking", "next-place", "who-knows-whom"):
        assert sum(line.startswith((f"{name} ", f"{name} on")) for line in done.output.splitlines()) == 2
    assert "tracking on published skipped: published ways have their keys" in done.output
    assert "among known-points" in run("ways", "attack", released / "public", *asked, "--attack", "luck", code=2).output
    (tmp_path / "friends.csv").write_text("a\n1\n")
    assert "two columns" in run("ways", "attack", released / "public", *asked, *more, code=2).output


def test_what_is_lost_is_measured_from_files(city, released):
    asked = ("ways", "measure", released / "public", "--with", city / "points.csv")
    recipe = ("--recipe", released / "internal" / "recipe.toml")
    assert "in meters, on average" in run(*asked, *recipe).output
    assert "distance-moved" not in json.loads(run(*asked, *COLUMNS, "--json").stdout)


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        (("--algorithm", "wait-for-me:seconds=3600"), "k-delta:k=3,delta=200"),
        (("--squares", 4000, "--algorithm", "merge-places:repeats=collapse"), "km-places:k=3,m=2"),
        (("--squares", 4000), "lkc:l=1,k=3,seconds=43200"),
        (("--squares", 9000), "place-owners:owners=52.48883 13.49167+52.56977 13.38338/52.40789 13.4669,share=0.8"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_every_promise_is_made_judged_and_attacked_from_files(city, tmp_path, asked, model):
    out, points = tmp_path / "out", city / "points.csv"
    run("ways", "anonymize", points, *COLUMNS, *asked, "--model", model, "--out", out)
    assert "Audit: holds" in run("ways", "audit", out / "public", "--model", model).output
    recipe = out / "internal" / "recipe.toml"
    attacked = CliRunner().invoke(
        app, ["ways", "attack", str(out / "public"), "--with", str(points), "--recipe", str(recipe)]
    )
    assert "published" in attacked.output


def test_unicity_is_told_for_people_and_programs(city):
    said = run("ways", "unicity", city / "points.csv", *COLUMNS, "--seed", 1).output
    assert "of 30 persons" in said
    assert (
        json.loads(run("ways", "unicity", city / "points.csv", *COLUMNS, "--seed", 1, "--json").stdout)["persons"] == 30
    )


def test_places_with_coordinates_and_text_files_of_other_countries_are_read(tmp_path):
    (tmp_path / "visits.csv").write_text("user;when;shop\na;01.02.2026 08:00;x\nb;01.02.2026 09:30;y\n")
    (tmp_path / "shops.csv").write_text("shop,lon,lat\nx,13.4,52.5\ny,13.5,52.5\n")
    asked = (*COLUMNS, "--place", "shop", "--coordinates", tmp_path / "shops.csv", "--zone", "Europe/Berlin")
    told = ("--separator", ";", "--date-format", "dd.mm.yyyy")
    assert "of 2 persons" in run("ways", "unicity", tmp_path / "visits.csv", *asked, *told).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ways", "anonymize", "points.csv", *COLUMNS, *ASKED, "--out", "x", "--show", "nobody"), "has that key"),
        (("ways", "anonymize", "points.csv", *COLUMNS, "--out", "x"), "Say what to promise by --model"),
        (
            ("ways", "anonymize", "points.csv", *COLUMNS, *ASKED, "--recipe", "r.toml", "--out", "x"),
            "A recipe says what",
        ),
        (("ways", "audit", ".", "--model", "k-delta:k=3,delta=1"), "holds no ways"),
        (("ways", "unicity", "points.csv"), "no column 'time'"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(city, monkeypatch, words, said):
    monkeypatch.chdir(city)
    assert said in run(*words, code=2).output


def test_columns_with_usual_names_need_no_options_and_an_area_cuts(city, tmp_path):
    table = sf.read(city / "points.csv")
    far = table.slice(0, 3)
    far = far.set_column(3, "lat", pa.array([50.0, 50.1, 50.2]))
    twice = table.slice(0, 1)
    twice = twice.set_column(2, "lon", pa.compute.add(twice["lon"], 1e-4))
    points = pa.concat_tables([table, far, twice]).rename_columns(["user_id", "tracked_at", "longitude", "latitude"])
    sf.write(points, tmp_path / "tracks.csv")
    cut = ("--area", "13.0,52.2,13.8,52.8")
    asked = ("ways", "anonymize", tmp_path / "tracks.csv", "--model", "k-delta:k=3,delta=200", *cut)
    refused = run(*asked, "--out", tmp_path / "out", code=2).output
    assert "1 times a person is at two places at one moment; say which place counts by --same-moment mean" in refused
    done = run(*asked, "--same-moment", "mean", "--out", tmp_path / "out")
    assert "'user_id' for the person, 'tracked_at' for the time" in done.output
    assert "3 points are outside the area and left out." in done.output
    recipe = tmp_path / "out" / "internal" / "recipe.toml"
    run("ways", "anonymize", tmp_path / "tracks.csv", "--recipe", recipe, "--out", tmp_path / "again")
    for path in (tmp_path / "out").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "out")).read_bytes()
    run("ways", "measure", tmp_path / "out" / "public", "--with", tmp_path / "tracks.csv", "--recipe", recipe)
