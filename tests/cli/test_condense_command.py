"""`sfumato condense`: the table it writes, the figures it prints, and refusals."""

from __future__ import annotations

import json
import os

import pytest

import sfumato as sf
from sfumato._randomness import KeyedRandom, secret_from_seed

ROLES = ["--identifier", "name", "--quasi", "age,sex,height_cm", "--sensitive", "disease,cost"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sf.write(sf.datasets.generate_hospital(300, seed=11), tmp_path / "patients.csv")
    return tmp_path


def test_it_writes_a_synthetic_table_and_says_how_good_it_is(run, folder):
    result = run("condense", "patients.csv", *ROLES, "--k", 20, "--out", "synthetic.csv")
    assert result.exit_code == 0, result.stderr
    assert "300 records in 15 groups of 20 to 20" in result.stdout
    assert "largest difference of correlations" in result.stdout
    assert "0 of the records are copies" in result.stdout
    assert "300 synthetic records are in synthetic.csv" in result.stdout
    written = sf.read(folder / "synthetic.csv")
    assert written.column_names == ["age", "sex", "height_cm", "disease", "cost"]
    assert written.num_rows == 300


def test_json_has_the_figures_of_python(run, folder, monkeypatch):
    monkeypatch.setattr(
        os, "urandom", lambda count: KeyedRandom(secret_from_seed(1)).random_bytes(count)
    )  # as if drawn alike
    result = run("condense", "patients.csv", *ROLES, "--k", 20, "--rows", 70, "--out", "s.parquet", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert (facts["rows_in"], facts["rows_out"], facts["groups"], facts["smallest_group"]) == (300, 70, 15, 20)
    schema = sf.Schema(
        identifiers=["name"], quasi_identifiers=["age", "sex", "height_cm"], sensitive=["disease", "cost"]
    )
    original = sf.read("patients.csv")
    expected = sf.synthesis.Condensation(k=20).fit(original, schema).sample(70)
    assert sf.read(folder / "s.parquet").equals(expected)
    assert facts["moments"] == json.loads(json.dumps(sf.metrics.compare_moments(original, expected).to_dict()))
    assert facts["nearest_originals"] == json.loads(
        json.dumps(sf.metrics.distance_to_closest_record(original, expected).to_dict())
    )


def test_the_size_of_groups_comes_from_the_recipe_unless_an_option_says_otherwise(run, folder):
    recipe = '[attributes]\nage = { role = "quasi" }\ncost = { role = "sensitive" }\n'
    recipe += '[[models]]\nname = "k-anonymity"\nk = 100\n'
    (folder / "recipe.toml").write_text(recipe, "utf-8")
    command = ["condense", "patients.csv", "--recipe", "recipe.toml", "--json"]
    given = run(*command, "--out", "a.csv")
    assert given.exit_code == 0, given.stderr
    assert json.loads(given.stdout)["smallest_group"] == 100
    assert json.loads(run(*command, "--k", 40, "--out", "b.csv").stdout)["smallest_group"] == 42


def test_classes_can_be_condensed_apart(run):
    result = run("condense", "patients.csv", *ROLES, "--k", 2, "--by", "sex", "--out", "s.csv")
    assert result.exit_code == 0, result.stderr
    before, after = (sf.read(file)["sex"].value_counts().to_pylist() for file in ("patients.csv", "s.csv"))
    assert sorted(map(str, before)) == sorted(map(str, after))


REFUSED = [
    (["--k", "20"], "No column is a quasi-identifier"),
    ([*ROLES], "give --k"),
    ([*ROLES, "--k", "1"], "--k must be"),
    ([*ROLES, "--k", "301"], "300 rows cannot form a group of 301"),
    ([*ROLES, "--k", "40", "--by", "disease"], "classes of 'disease' have fewer than 40 records"),
    ([*ROLES, "--k", "20", "--rows", "0"], "n must be"),
    ([*ROLES, "--k", "20", "--by", "sexx"], "did you mean 'sex'"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_bad_requests_get_one_sentence_and_no_file(run, folder, options, sentence):
    result = run("condense", "patients.csv", *options, "--out", "synthetic.csv")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["patients.csv"]


def test_an_existing_file_is_replaced_only_by_force(run, folder):
    (folder / "synthetic.csv").write_text("kept", "utf-8")
    command = ["condense", "patients.csv", *ROLES, "--k", 20, "--out", "synthetic.csv"]
    refused = run(*command)
    assert refused.exit_code == 2
    assert "give --force" in refused.stderr
    assert (folder / "synthetic.csv").read_text("utf-8") == "kept"
    assert run(*command, "--force").exit_code == 0
    assert sf.read(folder / "synthetic.csv").num_rows == 300


def test_a_folder_name_gives_a_whole_release(run, folder):
    command = ["condense", "patients.csv", *ROLES, "--k", 20, "--out", "synthetic"]
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    assert "300 synthetic records are in synthetic" in result.stdout
    assert "Keep private:   synthetic/internal" in result.stdout.splitlines()
    public = {path.name for path in (folder / "synthetic/public").iterdir()}
    assert public == {"table.csv", "promise.json", "dictionary.json", "about.html"}
    assert {path.name for path in (folder / "synthetic/internal").iterdir()} == {
        "recipe.toml",
        "report.json",
        "report.html",
    }
    alone = run(*command[:-1], "synthetic.csv")
    assert alone.exit_code == 0, alone.stderr
    shown, drawn = sf.read(folder / "synthetic/public/table.csv"), sf.read(folder / "synthetic.csv")
    assert shown.schema == drawn.schema
    assert shown.num_rows == drawn.num_rows
    again = run(*command)
    assert again.exit_code == 2
    assert "already contains files" in again.stderr
    assert run(*command, "--force").exit_code == 0
    assert run("report", "synthetic", "--out", "page.html").exit_code == 0
    assert (folder / "page.html").read_bytes() == (folder / "synthetic/internal/report.html").read_bytes()
