"""`sfumato explore`: what Python finds, told in a few lines, as JSON, as a table and as a picture."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ET

import pytest

import sfumato as sf

ROLES = ["--quasi", "age,zip,sex", "--sensitive", "disease"]
HIERARCHIES = ["--hierarchy", "age=intervals:5,10,20", "--hierarchy", "zip=prefixes:3,1"]
PROMISE = ["--k", "5", "--max-suppressed", "0.02"]
ASKED = [*ROLES, *HIERARCHIES, *PROMISE]


@pytest.fixture(scope="module")
def found(patients_file):
    schema = sf.Schema(
        quasi_identifiers=["age", "zip", "sex"],
        sensitive=["disease"],
        hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "zip": sf.hierarchies.Prefixes(3, 1)},
    )
    return sf.explore(sf.read(patients_file), schema, [sf.models.KAnonymity(k=5)], max_suppressed=0.02)


def test_a_summary_says_what_python_finds(run, patients_file, found):
    result = run("explore", patients_file, *ASKED)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["nodes", "40"]
    assert lines[2].split() == ["solutions", str(found.counts()["anonymous"])]
    levels = ", ".join(f"{name}={level}" for name, level in found.best.levels.items())
    assert lines[3] == f"best        {levels}"
    assert lines[4].split() == ["loss", f"{found.best.loss:.6g}"]
    assert f"suppressed  {found.best.suppressed} of 300 records" in result.stdout
    assert "Proven best: loss" in result.stdout
    assert f"Minimal solutions: {len(found.minimal)}" in result.stdout


def test_the_last_line_releases_the_best(run, patients_file, found, tmp_path):
    told = run("explore", patients_file, *ASKED).stdout.splitlines()[-1]
    _, _, algorithm = told.partition("--algorithm ")
    result = run("anonymize", patients_file, *ASKED, "--algorithm", *shlex.split(algorithm), "--out", tmp_path / "o")
    assert result.exit_code == 0, result.stderr
    published = sf.read(tmp_path / "o" / "public" / "table.csv")
    assert published.num_rows == 300 - found.best.suppressed
    assert sf.Recipe.read(tmp_path / "o" / "internal" / "recipe.toml").algorithm.levels == found.best.levels


def test_nodes_and_picture_are_written(run, patients_file, found, tmp_path):
    nodes, picture = tmp_path / "nodes.csv", tmp_path / "lattice.svg"
    result = run("explore", patients_file, *ASKED, "--out", nodes, "--picture", picture)
    assert result.exit_code == 0, result.stderr
    table = sf.read(nodes)
    assert table.column_names == ["age", "zip", "sex", "status", "loss", "bound", "suppressed", "height"]
    assert table.num_rows == 40
    assert table["status"].to_pylist() == found.table()["status"].to_pylist()
    assert picture.read_text("utf-8") == found.draw()
    assert ET.parse(picture).getroot().tag.endswith("svg")  # noqa: S314 - our own picture
    again = run("explore", patients_file, *ASKED, "--out", nodes)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run("explore", patients_file, *ASKED, "--picture", picture).exit_code == 2
    assert run("explore", patients_file, *ASKED, "--picture", picture, "--out", nodes, "--force").exit_code == 0


def test_json_holds_the_same(run, patients_file, found):
    result = run("explore", patients_file, *ASKED, "--json")
    facts = json.loads(result.stdout)
    assert facts["nodes"] == 40
    assert facts["status"] == found.counts()
    assert facts["best"]["levels"] == found.best.levels
    assert facts["best"]["loss"] == found.best.loss
    assert facts["proven"] is True
    assert facts["bound"] == found.best.loss
    assert [node["levels"] for node in facts["minimal"]] == [node.levels for node in found.minimal]
    assert facts["algorithm"].startswith("fixed-levels:levels=age=")


def test_at_most_ten_minimal_solutions_are_listed(run, tmp_path):
    sf.write(sf.datasets.generate_hospital(300, seed=11), tmp_path / "p.csv")
    quasi = ["--quasi", "age,zip,sex,education,marital_status,nationality", "--hierarchy", "age=intervals:5,10,20"]
    quasi += ["--hierarchy", "zip=prefixes:3,1", "--k", "3", "--max-suppressed", "0.2"]
    lines = run("explore", tmp_path / "p.csv", *quasi).stdout.splitlines()
    (start,) = [at for at, line in enumerate(lines) if line.startswith("Minimal solutions")]
    number = int(lines[start].rpartition(" ")[2])
    assert number > 10
    assert lines[start + 11] == f"  and {number - 10} more"
    assert all(" loses " in line for line in lines[start + 1 : start + 11])


def test_a_recipe_gives_models_and_search(run, patients_file, found, tmp_path):
    algorithm = sf.algorithms.Samarati()
    recipe = sf.Recipe(schema=found.recipe.schema, models=found.recipe.models, algorithm=algorithm, max_suppressed=0.02)
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), "utf-8")
    facts = json.loads(run("explore", patients_file, "--recipe", tmp_path / "recipe.toml", "--json").stdout)
    assert facts["best"]["levels"] in [node.levels for node in found.minimal]
    local = sf.Recipe(schema=found.recipe.schema, models=found.recipe.models, algorithm=sf.algorithms.Mondrian())
    (tmp_path / "local.toml").write_text(local.to_toml(), "utf-8")
    facts = json.loads(
        run("explore", patients_file, "--recipe", tmp_path / "local.toml", *PROMISE[2:], "--json").stdout
    )
    assert facts["best"]["levels"] == found.best.levels


def test_no_solution_is_told_with_exit_code_1(run, patients_file):
    promise = ["--model", "frequency-l-diversity:l=50,sensitive=disease", "--max-suppressed", "0.5"]
    result = run("explore", patients_file, *ROLES, *promise)
    assert result.exit_code == 1, result.stderr
    assert "No full-domain recoding keeps the promise" in result.stdout
    facts = json.loads(run("explore", patients_file, *ROLES, *promise, "--json").stdout)
    assert facts["best"] is None
    assert facts["bound"] is None
    assert facts["minimal"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--algorithm", "mondrian"], "such as optimal; got Mondrian"),
        (["--algorithm", "optimal:refine=true"], "use refine=false."),
        (["--out", "nodes.docx"], "no known suffix"),
        (["--max-suppressed", "7"], "share"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(run, patients_file, arguments, said):
    result = run("explore", patients_file, *ASKED, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_names_that_the_command_line_cannot_hold_get_no_command(run, tmp_path):
    table = sf.datasets.generate_hospital(60, seed=1).select(["sex", "age"]).rename_columns(["se=x", "age"])
    sf.write(table, tmp_path / "p.csv")
    result = run("explore", tmp_path / "p.csv", "--quasi", "se=x,age", "--k", "3")
    assert result.exit_code == 0, result.stderr
    assert "To release" not in result.stdout
    spaced = table.rename_columns(["my sex", "age"])
    sf.write(spaced, tmp_path / "q.csv")
    told = run("explore", tmp_path / "q.csv", "--quasi", "my sex,age", "--k", "3").stdout.splitlines()[-1]
    assert "'fixed-levels:levels=my sex=" in told
