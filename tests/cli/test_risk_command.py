"""`sfumato risk`: figures, presets, exit codes, and refusals."""

from __future__ import annotations

import json

import pytest

import sfumato as sf

QUASI = ["--quasi", "age,sex"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sf.write(sf.datasets.generate_hospital(300, seed=11), tmp_path / "patients.csv")
    rows = ["age,disease", *(f"{age},{disease}" for age in (30, 40) for disease in ["flu", "cold"] * 6)]
    (tmp_path / "groups.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return tmp_path


def test_it_tells_the_risk_and_judges_nothing(run):
    result = run("risk", "patients.csv", *QUASI)
    assert result.exit_code == 0, result.stderr
    assert "Risk of 300 records by 2 quasi-identifiers" in result.stdout
    assert "prosecutor" in result.stdout
    assert "journalist" not in result.stdout
    assert "HOLD" not in result.stdout


def test_json_is_the_same_as_in_python(run):
    result = run("risk", "patients.csv", *QUASI, "--population-size", 5000, "--max-subset", 1, "--json")
    assert result.exit_code == 0
    facts = json.loads(result.stdout)
    schema = sf.Schema(quasi_identifiers=["age", "sex"])
    expected = sf.assess_risk(sf.read("patients.csv"), schema, population=5000, max_subset=1)
    assert facts["risk"] == json.loads(json.dumps(expected.to_dict()))
    assert facts["holds"] is True
    assert facts["judgment"] is None


def test_a_threshold_that_is_passed_by_a_record_gives_1(run):
    result = run("risk", "patients.csv", *QUASI, "--threshold", 0.2)
    assert result.exit_code == 1
    assert "Threshold 0.2 (groups of at least 5), by the prosecutor: DOES NOT HOLD" in result.stdout


def test_a_threshold_that_holds_gives_0(run):
    result = run("risk", "groups.csv", "--quasi", "age", "--threshold", 0.09)
    assert result.exit_code == 0
    assert "(groups of at least 12), by the prosecutor: holds" in result.stdout
    assert "mean 1/11" in result.stdout


def test_a_preset_that_is_passed_gives_0(run):
    result = run("risk", "groups.csv", "--quasi", "age", "--preset", "ema")
    assert result.exit_code == 0
    assert "0 of 2 not passed" in result.stdout


@pytest.mark.parametrize("preset", ["ema", "hipaa", "wp216"])
def test_a_preset_that_is_not_passed_gives_1(run, preset):
    result = run("risk", "patients.csv", *QUASI, "--sensitive", "disease", "--preset", preset, "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert facts["holds"] is False
    assert facts["judgment"]["preset"] == preset
    assert facts["judgment"]["failed"] >= 1
    assert result.stderr == ""


def test_open_questions_do_not_fail(run):
    result = run("risk", "groups.csv", "--quasi", "age", "--sensitive", "disease", "--preset", "wp216")
    assert result.exit_code == 0
    assert "1 open" in result.stdout


def test_a_population_is_read_and_judged_by_the_journalist(run):
    sf.write(sf.read("groups.csv").slice(0, 14), "sample.csv")
    result = run("risk", "sample.csv", "--quasi", "age", "--population", "groups.csv", "--threshold", 0.1)
    assert result.exit_code == 0, result.stderr
    assert "by the journalist: holds" in result.stdout
    assert run("risk", "sample.csv", "--quasi", "age", "--threshold", 0.1).exit_code == 1


def test_a_recipe_tells_the_columns(run):
    assert run("inspect", "patients.csv", "--out", "recipe.toml").exit_code == 0
    result = run("risk", "patients.csv", "--recipe", "recipe.toml", "--missing", "matches-all")
    assert result.exit_code == 0, result.stderr


def test_weights_and_households_are_columns(run):
    table = sf.datasets.generate_hospital(50, seed=1)
    for name, numbers in {"weight": [30] * 50, "house": list(range(25)) * 2}.items():
        table = table.append_column(name, [numbers])
    sf.write(table, "survey.csv")
    result = run("risk", "survey.csv", "--quasi", "age", "--weights", "weight", "--household", "house")
    assert result.exit_code == 0, result.stderr
    assert "1,500, of whom 3.33% are in the table" in result.stdout
    assert "household" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["patients.csv"], "No column is a quasi-identifier; give --quasi or a recipe."),
        (["patients.csv", "--quasi", "agee"], "The table has no column 'agee'; did you mean 'age'?"),
        (["patients.csv", *QUASI, "--threshold", "2"], "threshold must be a number in (0, 1]; got 2.0."),
        (["patients.csv", *QUASI, "--population-size", "9"], "The population of 9 is smaller than the table"),
        (["patients.csv", *QUASI, "--population-size", "900", "--population", "x.csv"], "not both"),
        (["patients.csv", *QUASI, "--max-subset", "0"], "--max-subset must be a whole number of at least 1"),
        (["patients.csv", *QUASI, "--preset", "gdpr"], "gdpr"),
        (["nowhere.csv", *QUASI], "nowhere.csv"),
    ],
)
def test_bad_requests_give_2_and_one_line(run, arguments, sentence):
    result = run("risk", *arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_names_that_a_terminal_would_obey_are_disarmed(run, tmp_path):
    (tmp_path / "odd.csv").write_text("a\x1b[2J,b\n1,2\n3,4\n", "utf-8")
    result = run("risk", "odd.csv", "--quasi", "a\x1b[2J,b")
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.stdout


def test_files_larger_than_memory_are_counted_in_their_engine(run, folder):
    sf.write(sf.read("patients.csv"), folder / "patients.parquet")
    asked = [*QUASI, "--population-size", 5000, "--max-subset", 1, "--json"]
    expected = json.loads(run("risk", "patients.csv", *asked).stdout)
    result = run("risk", "patients.parquet", *asked, "--engine", "duckdb", "--memory", "100MB")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    for figure in ("records", "prosecutor", "journalist", "marketer", "unique_records", "separations"):
        assert json.dumps(found["risk"][figure])[:60] == json.dumps(expected["risk"][figure])[:60]
    assert found["risk"]["riskiest"] == []
    refused = run("risk", "patients.parquet", *QUASI, "--weights", "age", "--engine", "duckdb")
    assert refused.exit_code == 2
    assert "--weights needs single rows" in refused.stderr
