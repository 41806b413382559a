"""`sfumato anonymize`: the same recipe and the same bytes as from Python, and everything said about them."""

from __future__ import annotations

import json
import sqlite3

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.datasets.hospital import JOBS

ROLES = ["--identifier", "name", "--quasi", "age,zip,job", "--sensitive", "disease"]
MODELS = ["--k", "5", "--model", "distinct-l-diversity:l=2,sensitive=disease"]


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def job_file(tmp_path):
    path = tmp_path / "job.csv"
    rows = [f"{job};{near};{far};*" for far, below in JOBS.items() for near, jobs in below.items() for job in jobs]
    path.write_text("\n".join(rows), "utf-8")
    return path


@pytest.fixture
def hierarchies(job_file):
    return ["--hierarchy", "age=intervals:5,10,20", "--hierarchy", "zip=prefixes:3,1", "--hierarchy", f"job={job_file}"]


@pytest.fixture
def from_python(patients_file, job_file, tmp_path):
    """Make the release that the options above ask for, in Python."""
    schema = sf.Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "zip", "job"],
        sensitive=["disease"],
        hierarchies={
            "age": sf.hierarchies.Intervals(5, 10, 20),
            "zip": sf.hierarchies.Prefixes(3, 1),
            "job": sf.hierarchies.Taxonomy.read_csv(job_file),
        },
    )
    models = [sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
    recipe = Recipe(
        schema=schema,
        models=models,
        algorithm=sf.algorithms.Mondrian(),
        max_suppressed=0.02,
        seed=7,
        input_file=patients_file.name,
        input_date="2026-01-31",
    )
    release = sf.run_recipe(recipe, sf.read(patients_file))
    release.write(tmp_path / "python")
    return tmp_path / "python"


def test_options_give_the_same_bytes_as_python(run, patients_file, hierarchies, from_python, tmp_path):
    out = tmp_path / "options"
    arguments = [*ROLES, *MODELS, *hierarchies, "--max-suppressed", "0.02", "--seed", 7, "--algorithm", "mondrian"]
    result = run("anonymize", patients_file, *arguments, "--date", "2026-01-31", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert files(out) == files(from_python)


def test_a_recipe_gives_the_same_bytes_as_python(shell, patients_file, from_python, tmp_path):
    recipe = from_python / "internal" / "recipe.toml"
    done = shell("anonymize", patients_file, "--recipe", recipe, "--out", "recipe")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "recipe") == files(from_python)


def test_the_report_is_titled_with_file_date_and_algorithm(from_python):
    page = (from_python / "internal" / "report.html").read_text("utf-8")
    assert "<title>Release report: patients.csv, 2026-01-31, mondrian (internal)</title>" in page
    assert "patients.csv · 2026-01-31 · mondrian" in page
    public = "".join(path.read_text("utf-8") for path in (from_python / "public").iterdir())
    assert "patients.csv" not in public
    assert "2026-01-31" not in public


def test_a_recipe_keeps_its_date_for_the_same_table_alone(run, patients_file, from_python, tmp_path):
    recipe = from_python / "internal" / "recipe.toml"
    other = tmp_path / "other.csv"
    sf.write(sf.datasets.generate_hospital(300, seed=12), other)
    for number, (file, extra, kept) in enumerate(
        [(patients_file, [], True), (other, [], False), (patients_file, ["--date", "2026-03-01"], False)]
    ):
        out = tmp_path / f"again{number}"
        result = run("anonymize", file, "--recipe", recipe, *extra, "--max-suppressed", 1, "--no-report", "--out", out)
        assert result.exit_code == 0, result.stderr
        found = Recipe.read(out / "internal" / "recipe.toml")
        assert (found.input_date == "2026-01-31") is kept
        assert found.input_file == file.name
        assert found.input_date is not None


@pytest.mark.parametrize("date", ["today", "2026-1-31", "2026-02-30", "20260131"])
def test_strange_dates_are_refused(run, patients_file, tmp_path, date):
    result = run("anonymize", patients_file, *ROLES, "--k", 5, "--date", date, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "input_date of the recipe must be a date as in 2026-01-31" in result.stderr


def test_options_override_a_recipe_column_by_column_and_model_by_model(run, patients_file, from_python, tmp_path):
    recipe = from_python / "internal" / "recipe.toml"
    overrides = ["--k", 8, "--insensitive", "job", "--hierarchy", "age=intervals:20", "--missing", "matches-all"]
    overrides += ["--model", "t-closeness:t=0.9,sensitive=disease", "--algorithm", "mondrian:strict=false,publish=sets"]
    result = run(
        "anonymize", patients_file, "--recipe", recipe, *overrides, "--max-suppressed", 0, "--out", tmp_path / "o"
    )
    assert result.exit_code == 0, result.stderr
    found = Recipe.read(tmp_path / "o" / "internal" / "recipe.toml")
    assert found.schema.quasi_identifiers == ("age", "zip")
    assert found.schema.insensitive == ("job",)
    assert found.schema.hierarchies["age"] == sf.hierarchies.Intervals(20)
    assert found.schema.hierarchies["zip"] == sf.hierarchies.Prefixes(3, 1)
    assert found.schema.missing == "matches-all"
    assert found.models == (
        sf.models.KAnonymity(k=8),
        sf.models.DistinctLDiversity(l=2, sensitive="disease"),
        sf.models.TCloseness(t=0.9, sensitive="disease"),
    )
    assert found.algorithm == sf.algorithms.Mondrian(strict=False, publish="sets")
    assert found.max_suppressed == 0
    assert found.seed == 7


def test_a_new_hierarchy_replaces_scale_and_order_of_the_recipe(run, patients_file, job_file, tmp_path):
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[attributes.job]\nrole = "quasi"\nscale = "nominal"\n\n[[models]]\nname = "k-anonymity"\nk = 5\n', "utf-8"
    )
    given = ["--recipe", recipe, "--hierarchy", f"job={job_file}"]
    result = run("anonymize", patients_file, *given, "--out", tmp_path / "o")
    assert result.exit_code == 0, result.stderr
    found = Recipe.read(tmp_path / "o" / "internal" / "recipe.toml")
    assert found.schema.hierarchies["job"] == sf.hierarchies.Taxonomy(JOBS)
    assert found.schema.scales == {}


def test_several_sets_of_quasi_identifiers_can_have_their_own_k(run, patients_file, tmp_path):
    given = [*ROLES, "--k", 3, "--model", "k-anonymity:k=9,quasi=age+zip"]
    result = run("anonymize", patients_file, *given, "--out", tmp_path / "o")
    assert result.exit_code == 0, result.stderr
    expected = (sf.models.KAnonymity(k=3), sf.models.KAnonymity(k=9, quasi=["age", "zip"]))
    assert Recipe.read(tmp_path / "o" / "internal" / "recipe.toml").models == expected


def test_names_with_commas_are_quoted(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"last, first",age\n' + "".join(f"x{i},{i % 3}\n" for i in range(30)), "utf-8")
    arguments = ["--identifier", '"last, first"', "--quasi", "age", "--k", 2]
    assert run("anonymize", path, *arguments, "--out", tmp_path / "o").exit_code == 0
    assert (tmp_path / "o" / "public" / "table.csv").read_text("utf-8").splitlines()[0] == "age"


def test_the_summary_tells_audit_measures_columns_left_out_and_places(run, patients_file, tmp_path):
    result = run("anonymize", patients_file, *ROLES, *MODELS, "--out", tmp_path / "o")
    assert result.exit_code == 0
    assert "Audit: holds; 300 records in" in result.stdout
    assert "KAnonymity(k=5)" in result.stdout
    assert "300 rows in = 300 rows out + 0 suppressed." in result.stdout
    assert "  loss  " in result.stdout
    assert "not published: sex, marital_status, education, admission, nationality, height_cm, cost" in result.stdout
    assert str(tmp_path / "o" / "internal" / "report.html") in result.stdout
    assert result.stderr == ""


def test_json_is_all_that_is_printed(run, patients_file, tmp_path):
    result = run("anonymize", patients_file, *ROLES, *MODELS, "--out", tmp_path / "o", "--json")
    facts = json.loads(result.stdout)
    assert facts["holds"] is True
    assert facts["rows_in"] == facts["rows_out"] + facts["suppressed"] == 300
    assert facts["audit"]["models"][0]["model"] == "k-anonymity"
    assert set(facts["measures"]) >= {"loss", "ncp", "discernibility", "average-class-size"}
    assert "cost" in facts["left_out"]


@pytest.mark.parametrize("table_format", ["parquet", "xlsx"])
def test_other_formats_hold_the_same_table(run, patients_file, tmp_path, table_format):
    for kind in ("csv", table_format):
        run("anonymize", patients_file, *ROLES, *MODELS, "--out", tmp_path / kind, "--format", kind)
    expected = sf.read(tmp_path / "csv" / "public" / "table.csv")
    assert sf.read(tmp_path / table_format / "public" / f"table.{table_format}").equals(expected)


def test_an_occupied_folder_is_refused_before_the_table_is_read(run, tmp_path):
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "notes.txt").write_text("keep", "utf-8")
    result = run("anonymize", tmp_path / "absent.csv", *ROLES, *MODELS, "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert "already contains files" in result.stderr


def test_replace_replaces_a_release_and_nothing_else(run, patients_file, tmp_path):
    out = tmp_path / "o"
    assert run("anonymize", patients_file, *ROLES, *MODELS, "--out", out, "--seed", 1).exit_code == 0
    assert run("anonymize", patients_file, *ROLES, "--k", 20, "--out", out, "--replace").exit_code == 0
    assert Recipe.read(out / "internal" / "recipe.toml").models == (sf.models.KAnonymity(k=20),)
    (out / "notes.txt").write_text("keep", "utf-8")
    assert run("anonymize", patients_file, *ROLES, *MODELS, "--out", out, "--replace").exit_code == 2
    assert (out / "notes.txt").read_text("utf-8") == "keep"


def test_excel_safe_disarms_cells(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,note\n" + "".join(f"{i % 3},=1+1\n" for i in range(12)), "utf-8")
    for out, flag in (("plain", []), ("safe", ["--excel-safe"])):
        done = run(
            "anonymize", path, "--quasi", "age", "--insensitive", "note", "--k", 2, "--out", tmp_path / out, *flag
        )
        assert done.exit_code == 0, done.stderr
    assert ",=1+1\n" in (tmp_path / "plain" / "public" / "table.csv").read_text("utf-8")
    assert ",'=1+1\n" in (tmp_path / "safe" / "public" / "table.csv").read_text("utf-8")


def test_the_table_also_goes_into_a_database(run, patients_file, tmp_path):
    url, out = f"sqlite:///{tmp_path / 'clinic.db'}", tmp_path / "o"
    arguments = [*ROLES, *MODELS, "--seed", 3, "--to", url, "--to-table", "published"]
    first = run("anonymize", patients_file, *arguments, "--out", out)
    assert first.exit_code == 0, first.stderr
    assert "Also written to table 'published' of sqlite:" in first.stdout
    assert sf.read(url, table="published").equals(sf.read(out / "public" / "table.csv"))
    again = run("anonymize", patients_file, *arguments, "--out", tmp_path / "again")
    assert again.exit_code == 2
    assert "is complete" in again.stderr
    assert run("anonymize", patients_file, *arguments, "--out", out, "--replace").exit_code == 0


def test_a_database_can_be_read(run, patients_file, tmp_path):
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    sf.write(sf.read(patients_file), url, table_name="patients")
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        assert database.execute("select count(*) from patients").fetchone() == (300,)
    database.close()
    by_table = run("anonymize", url, "--table", "patients", *ROLES, *MODELS, "--seed", 1, "--out", tmp_path / "t")
    assert by_table.exit_code == 0, by_table.stderr
    query = "select name, age, zip, job, disease from patients"
    by_query = run("anonymize", url, "--query", query, *ROLES, *MODELS, "--seed", 1, "--out", tmp_path / "q")
    assert by_query.exit_code == 0, by_query.stderr
    assert files(tmp_path / "t" / "public") == files(tmp_path / "q" / "public")


@pytest.mark.parametrize("given", [["--to", "sqlite:///x.db"], ["--to-table", "x"]])
def test_database_and_table_name_belong_together(run, patients_file, tmp_path, given):
    result = run("anonymize", patients_file, *ROLES, *MODELS, "--out", tmp_path / "o", *given)
    assert result.exit_code == 2
    assert result.stderr == "sfumato: Give --to and --to-table together.\n"


def test_the_correspondence_stays_inside(run, patients_file, tmp_path):
    run("anonymize", patients_file, *ROLES, *MODELS, "--out", tmp_path / "o")
    rows = pq.read_table(tmp_path / "o" / "internal" / "correspondence.parquet").column(0).to_pylist()
    assert sorted(rows) == list(range(300))
    assert not list((tmp_path / "o" / "public").glob("corr*"))


def test_blocks_are_searched_alone_and_stand_in_the_recipe(run, patients_file, hierarchies, tmp_path):
    arguments = [*ROLES, *MODELS, *hierarchies, "--algorithm", "ncp-top-down", "--seed", 1]
    result = run("anonymize", patients_file, *arguments, "--block-rows", 50, "--out", tmp_path / "blocks")
    assert result.exit_code == 0, result.stderr
    again = ["--recipe", tmp_path / "blocks" / "internal" / "recipe.toml"]
    assert run("anonymize", patients_file, *again, "--out", tmp_path / "again").exit_code == 0
    assert run("anonymize", patients_file, *arguments, "--out", tmp_path / "whole").exit_code == 0
    blocks, repeated, whole = (
        (tmp_path / name / "public" / "table.csv").read_bytes() for name in ("blocks", "again", "whole")
    )
    assert blocks == repeated != whole
    assert Recipe.read(again[1]).block_rows == 50


def test_blocks_are_refused_for_what_needs_none(run, patients_file, tmp_path):
    result = run("anonymize", patients_file, *ROLES, *MODELS, "--block-rows", 50, "--out", tmp_path / "blocks")
    assert result.exit_code != 0
    assert "Mondrian counts equal records and needs no blocks" in result.stderr


def test_free_text_is_published_only_on_purpose(run, tmp_path):
    table = tmp_path / "visits.csv"
    notes = "".join(
        f"{30 + row % 9},Ms. Maier number {row} called and asked about her last results\n" for row in range(40)
    )
    table.write_text("age,note\n" + notes, "utf-8")
    asked = ["anonymize", table, "--quasi", "age", "--insensitive", "note", "--k", "3", "--out", tmp_path / "o"]
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "Column 'note' holds free text" in refused.stderr
    assert "--publish-text note" in refused.stderr
    assert run(*asked, "--publish-text", "note").exit_code == 0
