"""`sfumato audit`: what holds, what does not, what is reached, and whether it is true."""

from __future__ import annotations

import json

import pytest

import sfumato as sf

PUBLISHED = """age,zip,disease
[20. 30),537**,flu
[20. 30),537**,cold
[20. 30),537**,ulcer
30-40,*,flu
30-40,*,flu
30-40,*,cold
30-40,*,ulcer
""".replace(". ", ",").replace("[20,30)", '"[20, 30)"')
ORIGINAL = """name,age,zip,disease
a,21,53715,flu
b,29,53703,cold
c,20,53799,ulcer
d,30,53715,flu
e,35,90210,flu
f,40,53706,cold
g,33,53706,ulcer
h,50,11111,cold
"""
COLUMNS = ["--quasi", "age,zip", "--sensitive", "disease"]
TRUTH = ["--original", "original.csv", "--hierarchy", "zip=prefixes"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "published.csv").write_text(PUBLISHED, "utf-8")
    (tmp_path / "original.csv").write_text(ORIGINAL, "utf-8")
    return tmp_path


def test_without_models_it_tells_what_is_reached(run):
    result = run("audit", "published.csv", *COLUMNS)
    assert result.exit_code == 0
    assert "7 records in 2 groups" in result.stdout
    assert "The largest k that this table keeps is 3." in result.stdout
    assert "distinct-l-diversity" in result.stdout
    assert "holds" not in result.stdout


def test_a_promise_that_holds_gives_0(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 3, "--model", "distinct-l-diversity:l=3,sensitive=disease")
    assert result.exit_code == 0
    assert "Audit: holds" in result.stdout


def test_a_promise_that_does_not_hold_gives_1_and_counts_violators(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 4, "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert facts["holds"] is False
    assert facts["models"][0]["level"] == 3
    assert facts["models"][0]["violating_records"] == 3
    assert facts["models"][0]["violating_groups"] == 1
    assert result.stderr == ""


def test_one_broken_promise_among_several_gives_1(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 3, "--model", "frequency-l-diversity:l=3,sensitive=disease")
    assert result.exit_code == 1
    assert "DOES NOT HOLD" in result.stdout


def test_a_true_table_is_compared_with_its_original(run):
    result = run("audit", "published.csv", *COLUMNS, *TRUTH)
    assert result.exit_code == 0, result.stderr
    assert "Every published cell covers its original (by some correspondence of rows)." in result.stdout
    assert "8 rows in = 7 rows out + 1 suppressed." in result.stdout


def test_an_untrue_table_gives_1_even_without_models(run, folder):
    (folder / "published.csv").write_text(PUBLISHED.replace("537**,flu", "902**,flu", 1), "utf-8")
    result = run("audit", "published.csv", *COLUMNS, *TRUTH)
    assert result.exit_code == 1
    assert "NOT TRUE" in result.stdout


@pytest.mark.parametrize(("rows", "code"), [([0, 1, 2, 3, 4, 5, 6], 0), ([1, 0, 2, 3, 4, 5, 6], 1)])
def test_the_correspondence_says_which_row_was_which(run, folder, rows, code):
    (folder / "rows.csv").write_text("original_row\n" + "".join(f"{row}\n" for row in rows), "utf-8")
    result = run("audit", "published.csv", *COLUMNS, *TRUTH, "--correspondence", "rows.csv")
    assert result.exit_code == code
    assert "by the row correspondence" in result.stdout


def test_a_release_passes_with_its_own_recipe_and_correspondence(shell, patients_file):
    arguments = ["--identifier", "name", "--quasi", "age,zip,sex", "--sensitive", "disease", "--k", 5]
    assert shell("anonymize", patients_file, *arguments, "--out", "o").returncode == 0
    given = ["--recipe", "o/internal/recipe.toml", "--original", patients_file]
    done = shell("audit", "o/public/table.csv", *given, "--correspondence", "o/internal/correspondence.parquet")
    assert done.returncode == 0, done.stderr
    assert "Every published cell covers its original (by the row correspondence)." in done.stdout
    assert shell("audit", "o/public/table.csv", *given, "--k", 300).returncode == 1


def test_suppressed_rows_that_break_a_promise_are_hinted_at(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--k", 3)
    assert result.exit_code == 1
    assert "Rows that are * in every quasi-identifier (1 of them) break" in result.stderr
    assert "--ignore-suppressed" in result.stderr
    apart = run("audit", "published.csv", *COLUMNS, "--k", 3, "--ignore-suppressed")
    assert apart.exit_code == 0
    assert "1 suppressed records set aside" in apart.stdout


def test_no_hint_where_suppressed_rows_are_not_to_blame(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    assert run("audit", "published.csv", *COLUMNS, "--k", 5).stderr == ""


def test_no_hint_where_everything_is_suppressed(run, folder):
    (folder / "published.csv").write_text("age,zip,disease\n" + "*,*,flu\n" * 2, "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--k", 5)
    assert (result.exit_code, result.stderr) == (1, "")


def test_original_and_published_may_stand_in_one_database(run):
    sf.write(sf.read("published.csv"), "sqlite:///clinic.db", table_name="public")
    sf.write(sf.read("original.csv"), "sqlite:///clinic.db", table_name="raw")
    given = ["--original", "sqlite:///clinic.db", "--original-table", "raw", "--hierarchy", "zip=prefixes"]
    result = run("audit", "sqlite:///clinic.db", "--table", "public", *COLUMNS, *given, "--k", 3)
    assert result.exit_code == 0, result.stderr
