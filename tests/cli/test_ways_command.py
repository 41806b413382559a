"""`sfumato ways`: the same files as in Python, judged and attacked from the folder."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app


def run(*words, code=0):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    folder = tmp_path_factory.mktemp("city")
    table = sf.samples.generate_ways(30, 2, seed=3).rename_columns(["user", "when", "lon", "lat"])
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
    ways = sf.places.Trajectories(sf.read(city / "points.csv"), person="user", time="when")
    sf.places.carry_out(sf.places.read_recipe(recipe), ways).write(tmp_path / "three")
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
    found = json.loads(run("ways", "attack", released / "public", *asked, "--recipe", recipe).stdout)
    before, after = (found[side]["attacks"][0]["rate"] for side in ("original", "published"))
    assert before > after
    skipped = json.loads(run("ways", "attack", released / "public", *asked, *COLUMNS).stdout)
    assert skipped["published"]["skipped"]


def test_unicity_is_told_for_people_and_programs(city):
    said = run("ways", "unicity", city / "points.csv", *COLUMNS, "--seed", 1).output
    assert "of 30 persons" in said
    assert (
        json.loads(run("ways", "unicity", city / "points.csv", *COLUMNS, "--seed", 1, "--json").stdout)["persons"] == 30
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ways", "anonymize", "points.csv", *COLUMNS, "--out", "x"), "Say what to promise by --model"),
        (
            ("ways", "anonymize", "points.csv", *COLUMNS, *ASKED, "--recipe", "r.toml", "--out", "x"),
            "A recipe says what",
        ),
        (("ways", "audit", ".", "--model", "k-delta:k=3,delta=1"), "holds no ways"),
        (("ways", "unicity", "points.csv"), "no column 'person'"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(city, monkeypatch, words, said):
    monkeypatch.chdir(city)
    assert said in run(*words, code=2).output
