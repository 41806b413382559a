"""How offices' files are read, told, remembered and written again, by the command line."""

from __future__ import annotations

import json
import random
import sqlite3

import openpyxl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli._options import reading_as_options
from sfumato.io._reading import read_with_findings


@pytest.fixture
def german(tmp_path):
    """Write a table as a German office has it."""
    rng = random.Random(1)
    lines = ["PatNr;Alter;Größe;Aufnahme;Krankheit"]
    lines += [
        f"{row};{rng.randrange(20, 60)};{rng.randrange(150, 200) / 100:.2f};{rng.randrange(10, 29)}.{month:02}.2024;"
        f"{rng.choice(['Grippe', 'Krebs', 'Asthma'])}".replace(".", ",", 1)
        for row, month in enumerate([1, 2, 3] * 40)
    ]
    path = tmp_path / "patienten.csv"
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


def test_a_german_file_is_released_as_it_came(run, german, tmp_path):
    recipe, out = tmp_path / "recipe.toml", tmp_path / "release"
    seen = run("inspect", german, "--out", recipe)
    assert seen.exit_code == 0
    assert "Read with --encoding cp1252 --separator ';' --decimal , --date-format dd.mm.yyyy" in seen.stdout
    assert seen.stderr.count("Note: ") == 2
    roles = ("--insensitive", "Größe,Aufnahme", "--quasi", "Alter", "--no-report")
    made = run("anonymize", german, "--recipe", recipe, *roles, "--out", out)
    assert made.exit_code == 0
    assert made.stderr == ""
    written = (out / "public" / "table.csv").read_bytes().decode("cp1252").splitlines()
    assert written[0] == "Alter;Größe;Aufnahme;Krankheit"
    assert {line.split(";")[1][1] for line in written[1:]} == {","}
    assert {line.split(";")[2][-8:] for line in written[1:]} == {".01.2024", ".02.2024", ".03.2024"}
    audited = run("audit", out / "public" / "table.csv", "--recipe", out / "internal/recipe.toml", "--original", german)
    assert audited.exit_code == 0
    assert audited.stderr == ""
    assert "Every published cell covers its original" in audited.stdout


def test_what_a_file_is_read_by_is_said_once_per_command_and_not_when_quiet(run, german, tmp_path):
    asked = ("anonymize", german, "--quasi", "Alter", "--k", 2, "--no-report", "--out")
    told, quiet = run(*asked, tmp_path / "a"), run(*asked, tmp_path / "b", "--quiet")
    assert told.stderr.count("decimal commas") == 1
    assert (quiet.stdout, quiet.stderr, quiet.exit_code) == ("", "", 0)
    again = run(*asked, tmp_path / "c").stderr
    assert again.startswith(told.stderr)
    assert again.removeprefix(told.stderr).startswith("Note: An earlier release of the same table lies in ")
    assert run("inspect", german, "--quiet").stdout.startswith("# Proposed")
    assert json.loads(run("inspect", german, "--json", "--quiet").stdout)["reading"]["decimal"] == ","


def test_options_override_what_a_recipe_remembers(run, german, tmp_path):
    recipe = tmp_path / "recipe.toml"
    run("inspect", german, "--out", recipe)
    options = ("--date-format", "yyyy-mm-dd", "--column-type", "Größe=text", "--insensitive", "Aufnahme,Größe")
    made = run("anonymize", german, "--recipe", recipe, *options, "--no-report", "--out", tmp_path / "r")
    assert made.exit_code == 0, made.stderr
    assert "was made for a table with other cells" in made.stderr
    remembered = sf.Recipe.read(tmp_path / "r/internal/recipe.toml").reading
    assert remembered["date_format"] == "yyyy-mm-dd"
    assert remembered["column_types"] == {"Größe": "text"}


def test_a_recipe_for_another_table_says_so(run, german, tmp_path):
    recipe = tmp_path / "recipe.toml"
    run("inspect", german, "--out", recipe)
    german.write_bytes(b"\r\n".join(german.read_bytes().split(b"\r\n")[:-1]))
    made = run("anonymize", german, "--recipe", recipe, "--no-report", "--out", tmp_path / "r")
    assert made.exit_code == 0
    assert made.stderr == (
        "Note: The recipe was made for a table of 120 rows and this one has 119; check that its roles and hierarchies"
        " still fit.\n"
    )


def test_a_sheet_with_cover_title_units_and_totals_is_read_as_told(run, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Report"])
    sheet = book.create_sheet("Data")
    for row in (["Patients"], [], ["name", "age", "weight"], *([f"n{n}", 20 + n % 9, f"{n} kg"] for n in range(40))):
        sheet.append(row)
    sheet.append(["Total", 900])
    book.save(tmp_path / "x.xlsx")
    seen = run("inspect", tmp_path / "x.xlsx", "--out", tmp_path / "r.toml")
    assert seen.exit_code == 0
    for option in ("--sheet", "--skip-rows 2", "--column-type weight=number:kg", "--skip-last 1"):
        assert option in seen.stderr
    mended = ("--skip-last", 1, "--column-type", "weight=number:kg", "--insensitive", "weight")
    made = run("anonymize", tmp_path / "x.xlsx", "--recipe", tmp_path / "r.toml", *mended, "--out", tmp_path / "o")
    assert made.exit_code == 0, made.stderr
    assert read_with_findings(tmp_path / "o/public/table.csv", {}).table["weight"].to_pylist() != []
    assert sf.Recipe.read(tmp_path / "o/internal/recipe.toml").reading == {
        "sheet": "Data",
        "skip_rows": 2,
        "skip_last": 1,
        "column_types": {"weight": "number:kg"},
    }


def test_a_database_without_a_table_lists_its_tables(run, tmp_path):
    with sqlite3.connect(tmp_path / "health.db") as connection:
        connection.execute("CREATE TABLE patients (age)")
        connection.execute("CREATE TABLE visits (day)")
    file = run("inspect", tmp_path / "health.db")
    assert (file.exit_code, f"sqlite:///{tmp_path}/health.db" in file.stderr, "--table" in file.stderr) == (
        2,
        True,
        True,
    )
    url = run("inspect", f"sqlite:///{tmp_path}/health.db")
    assert "has the tables 'patients', 'visits'; pass --table or --query." in url.stderr


@pytest.mark.parametrize("given", ["zip", "=text", "zip=text --column-type zip=number"])
def test_a_type_names_a_column_once(run, german, given):
    found = run("inspect", german, "--column-type", *given.split())
    assert (found.exit_code, "as in zip=text" in found.stderr) == (2, True)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--hierarchy", "Alter=5,10"), "a hierarchy is intervals:5,10, intervals:month,year, prefixes"),
        (("--hierarchy", "Altr=prefixes"), "names the unknown column 'Altr'; did you mean 'Alter'?"),
        (("--model", "l-diversity:l=2,sensitive=Krankheit"), "'distinct-l-diversity' or"),
        (
            ("--model", "distinct-l-diversity:l=2,sensitive=Krnkheit"),
            "names the unknown column 'Krnkheit'; did you mean",
        ),
    ],
)
def test_refusals_name_what_was_meant(run, german, tmp_path, option, sentence):
    roles = ("--quasi", "Alter", "--sensitive", "Krankheit", "--k", 2, "--out", tmp_path / "o", "--quiet")
    found = run("anonymize", german, *roles, *option)
    assert (found.exit_code, sentence in found.stderr) == (2, True), found.stderr


def test_an_occupied_folder_names_the_option_that_replaces_it(run, german, tmp_path):
    asked = ("anonymize", german, "--quasi", "Alter", "--k", 2, "--no-report", "--out", tmp_path / "o")
    run(*asked)
    assert "--replace" in run(*asked).stderr


def test_a_recipe_remembers_the_table_of_a_database_and_an_option_names_another(run, tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    table = sf.datasets.generate_hospital(60, seed=1)
    dealt = table["disease"].take(list(reversed(range(60))))
    other = table.set_column(table.column_names.index("disease"), "disease", dealt)
    for name, some in (("a", table), ("b", other)):
        sf.write(some, url, table_name=name)
    assert run("inspect", url, "--table", "a", "--out", tmp_path / "r.toml").exit_code == 0
    again = ("anonymize", url, "--recipe", tmp_path / "r.toml", "--no-report", "--out")
    assert run(*again, tmp_path / "o").stderr == ""
    other = run(*again, tmp_path / "p", "--query", "SELECT * FROM b")
    assert other.exit_code == 0, other.stderr
    assert "with other cells" in other.stderr
    assert sf.Recipe.read(tmp_path / "p/internal/recipe.toml").reading == {"query": "SELECT * FROM b"}


def test_flags_are_written_as_options():
    assert reading_as_options({"fill_merged": True, "skip_rows": 2}) == "--fill-merged --skip-rows 2"


def test_odd_texts_in_a_database_are_told_with_the_type_that_mends_them(run, tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    sf.write(pa.table({"weight": ["70 kg", "71 kg"], "n": [1, 2]}), url, table_name="t")
    found = run("inspect", url, "--table", "t")
    assert "--column-type weight=number:kg" in found.stderr
    mended = run("inspect", url, "--table", "t", "--column-type", "weight=number:kg")
    assert mended.exit_code == 0
    assert 'weight = "number:kg"' in mended.stdout


def test_later_rows_are_read_and_written_as_the_earlier_ones(run, german, tmp_path):
    roles = ("--quasi", "Alter", "--insensitive", "Größe", "--k", 2, "--algorithm", "optimal", "--no-report")
    run("anonymize", german, *roles, "--hierarchy", "Alter=intervals:20,40", "--out", tmp_path / "a", "--quiet")
    rules = tmp_path / "a" / "internal" / "recoding.toml"
    later = run("recode", german, "--with", rules, "--out", tmp_path / "b", "--no-report", "--quiet")
    assert (later.exit_code, later.stdout, later.stderr) == (0, "", "")
    first, second = ((tmp_path / name / "public/table.csv").read_bytes() for name in "ab")
    assert first == second
    assert b";1," in second
