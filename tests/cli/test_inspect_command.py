"""`sfumato inspect`: a recipe that loads and runs, its reasons, and the risk of the raw table."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.tables._pipeline.anonymize import run_recipe


def test_the_printed_recipe_loads_and_runs(run, shell, patients_file, tmp_path):
    done = shell("inspect", patients_file)
    assert done.returncode == 0, done.stderr
    recipe = Recipe.from_toml(done.stdout)
    assert recipe.schema.identifiers == ("name",)
    assert recipe.schema.sensitive == ("disease", "cost")
    assert recipe.models == (
        sf.models.KAnonymity(k=5),
        sf.models.DistinctLDiversity(l=2, sensitive="disease"),
        sf.models.DistinctLDiversity(l=2, sensitive="cost"),
    )
    (tmp_path / "recipe.toml").write_text(done.stdout, "utf-8")
    assert run("anonymize", patients_file, "--recipe", tmp_path / "recipe.toml", "--out", tmp_path / "o").exit_code == 0


def test_a_preset_is_proposed_with_its_reason(run, patients_file):
    shown = run("inspect", patients_file, "--preset", "ema").stdout
    assert Recipe.from_toml(shown).models[0] == sf.models.KAnonymity(k=12)
    assert sf.tables.get_preset("ema").reason in " ".join(line.removeprefix("# ") for line in shown.splitlines())


def test_an_unknown_preset_is_refused_before_anything_is_read(run, tmp_path):
    refused = run("inspect", tmp_path / "absent.csv", "--preset", "emma")
    assert refused.exit_code == 2
    assert "There is no preset 'emma'; did you mean 'ema'?" in refused.stderr


def test_reasons_stand_as_comments_above_their_attribute(run, patients_file):
    recipe = run("inspect", patients_file).stdout
    above, _, _ = recipe.partition("[attributes.zip]")
    assert "# column name contains 'zip'" in above.splitlines()[-3:][0]


def test_without_a_file_the_summary_goes_to_the_error_stream(run, patients_file):
    result = run("inspect", patients_file)
    assert "300 rows, 12 columns" in result.stderr
    assert "300 rows, 12 columns" not in result.stdout.partition("\n")[2]
    assert "records in groups of fewer than 2" in result.stderr


def test_with_a_file_the_summary_goes_to_the_output(run, patients_file, tmp_path):
    out = tmp_path / "recipe.toml"
    result = run("inspect", patients_file, "--out", out)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "300 rows, 12 columns" in result.stdout
    assert out.read_text("utf-8") == run("inspect", patients_file).stdout


def test_an_existing_recipe_is_overwritten_only_by_force(run, patients_file, tmp_path):
    out = tmp_path / "recipe.toml"
    out.write_text("mine", "utf-8")
    refused = run("inspect", patients_file, "--out", out)
    assert refused.exit_code == 2
    assert out.read_text("utf-8") == "mine"
    assert run("inspect", patients_file, "--out", out, "--force").exit_code == 0
    assert Recipe.read(out).schema.identifiers == ("name",)


def test_json_holds_proposals_and_risk(run, patients_file):
    facts = json.loads(run("inspect", patients_file, "--json").stdout)
    assert facts["rows"] == 300
    assert [each["name"] for each in facts["attributes"]][:2] == ["name", "age"]
    assert facts["attributes"][1]["role"] == "quasi"
    assert facts["attributes"][1]["reasons"]
    assert 0 <= facts["risk"]["unique_records"] <= 300
    assert facts["risk"]["records_below"]["2"] == facts["risk"]["unique_records"]


TABLES = {
    "fewer rows than the usual k": "age,disease\n30,flu\n31,cold\n50,flu\n",
    "one row": "age,disease\n30,flu\n",
    "one disease": "age,disease\n" + "30,flu\n" * 9,
    "no quasi-identifier": "disease\n" + "flu\ncold\n" * 9,
    "nothing sensitive": "age\n" + "30\n31\n" * 9,
    "strange names": 'age,"a.b","x ""y""",#z,"line\nbreak",\u00e4ge\n' + "30,p,q,r,s,40\n31,q,r,s,t,41\n" * 9,
    "missing cells": "age,disease\n,\n30,flu\n,cold\n30,\n31,flu\n32,flu\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_the_recipe_of_any_table_runs_on_that_table(run, tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    result = run("inspect", path)
    assert result.exit_code == 0, result.stderr
    recipe = Recipe.from_toml(result.stdout)
    table = sf.read(path)
    assert set(recipe.schema.attributes) == set(table.column_names)
    assert run_recipe(recipe, table).audit.holds


def test_a_password_does_not_get_into_the_recipe(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sfumato.io._database.read_database", lambda *_, **__: sf.datasets.generate_hospital(50, seed=1)
    )
    result = run("inspect", "postgresql://ann:secret@host/clinic", "--table", "patients")
    assert result.exit_code == 0
    assert "postgresql://ann:***@host/clinic" in result.stdout
    assert "secret" not in result.output


def test_lines_before_the_header_are_found_and_told(run, patients_file, tmp_path):
    titled = tmp_path / "titled.csv"
    titled.write_text("Patients of 2024\n" + patients_file.read_text("utf-8"), "utf-8")
    found = run("inspect", titled)
    assert found.exit_code == 0
    assert "confirm it with --skip-rows 1." in found.stderr
    assert "skip_rows = 1" in found.stdout
    refused = run("risk", titled, "--quasi", "age")
    assert refused.exit_code == 2
    assert "--skip-rows" in refused.stderr
    skipped, plain = run("inspect", titled, "--skip-rows", 1, "--json"), run("inspect", patients_file, "--json")
    assert skipped.exit_code == 0
    assert json.loads(skipped.stdout)["attributes"] == json.loads(plain.stdout)["attributes"]


def test_every_sensitive_column_gets_a_promise_and_an_edited_recipe_without_one_is_told(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = 60
    columns = {
        "age": [20 + row % 12 for row in range(rows)],
        "diagnosis": [f"d{row % 5}" for row in range(rows)],
        "salary": [1000 + 100 * (row % 7) for row in range(rows)],
    }
    sf.write(pa.table(columns), tmp_path / "staff.csv")
    assert run("inspect", "staff.csv", "--out", "staff.toml").exit_code == 0
    recipe = sf.Recipe.read(tmp_path / "staff.toml")
    assert set(recipe.schema.sensitive) == {"diagnosis", "salary"}
    assert {name for model in recipe.models for name in model.sensitive_attributes} == {"diagnosis", "salary"}
    told = run("anonymize", "staff.csv", "--recipe", "staff.toml", "--out", "all").output
    assert "No promise:" not in told
    roles = ["--quasi", "age", "--sensitive", "diagnosis,salary", "--k", 5]
    told = run(
        "anonymize", "staff.csv", *roles, "--model", "distinct-l-diversity:l=2,sensitive=diagnosis", "--out", "one"
    )
    assert told.exit_code == 0
    assert "No promise: Nothing is promised about the sensitive column 'salary'" in told.output


def test_tables_larger_than_memory_are_inspected_in_their_engine(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = sf.datasets.generate_hospital(300, seed=11)
    sf.write(table, tmp_path / "patients.csv")
    sf.write(table, tmp_path / "patients.parquet")
    for file in ("patients.csv", "patients.parquet"):
        expected = json.loads(run("inspect", file, "--json").stdout)
        result = run("inspect", file, "--json", "--engine", "duckdb", "--memory", "100MB", "--out", f"{file}.toml")
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        assert found["attributes"] == expected["attributes"]
        assert (found["risk"], found["reading"], found["remarks"]) == (
            expected["risk"],
            expected["reading"],
            expected["remarks"],
        )
        release = run("anonymize", file, "--recipe", f"{file}.toml", "--out", f"{file}.release", "--engine", "duckdb")
        assert release.exit_code == 0, release.stderr


def test_no_recipe_is_written_that_would_publish_nothing(run, tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("name,email\n" + "".join(f"Ann {row},a{row}@example.org\n" for row in range(30)), "utf-8")
    refused = run("inspect", table, "--out", tmp_path / "recipe.toml")
    assert refused.exit_code == 2
    assert (
        "Every column seems to identify individuals, so there is nothing that a recipe could publish" in refused.stderr
    )
    assert "reaches people" in refused.stderr
    assert not (tmp_path / "recipe.toml").exists()


def test_what_is_left_out_for_a_preset_is_told_in_the_recipe(run, tmp_path):
    table = tmp_path / "stays.csv"
    table.write_text("age,died\n" + "".join(f"{30 + row % 20},{int(row % 4 == 0)}\n" for row in range(40)), "utf-8")
    recipe = run("inspect", table, "--preset", "wp216").stdout
    assert "# Column 'died' is left out: it is sensitive, and 75% of its values are the same" in recipe
    (tmp_path / "recipe.toml").write_text(recipe, "utf-8")
    assert run("anonymize", table, "--recipe", tmp_path / "recipe.toml", "--out", tmp_path / "o").exit_code == 0
