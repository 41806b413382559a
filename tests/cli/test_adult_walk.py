"""The walk over the field's standard table, by the command line alone."""

from __future__ import annotations

import json

import pytest

from adult import COLUMNS, hierarchy_file

pytestmark = pytest.mark.shared_data


@pytest.fixture
def hierarchies(shared_data):
    files = {name: hierarchy_file(shared_data, name) for name in COLUMNS}
    return [part for name, path in files.items() for part in ("--hierarchy", f"{name}={path}")]


def test_nine_quasi_identifiers_are_published_and_audited(run, shared_data, hierarchies, tmp_path):
    original, out = shared_data / "adult" / "adult.csv", tmp_path / "adult"
    given = ["--quasi", ",".join(COLUMNS), *hierarchies, "--k", 5]
    made = run("anonymize", original, *given, "--out", out, "--json")
    assert made.exit_code == 0, made.stderr
    facts = json.loads(made.stdout)
    assert facts["rows_in"] == facts["rows_out"] == 30_162
    assert 0 < facts["measures"]["loss"] < 0.2
    recipe = ["--recipe", out / "internal" / "recipe.toml", "--original", original]
    with_rows = [*recipe, "--correspondence", out / "internal" / "correspondence.parquet"]
    assert run("audit", out / "public" / "table.csv", *with_rows).exit_code == 0
    assert run("audit", out / "public" / "table.csv", *recipe).exit_code == 0
    assert run("audit", out / "public" / "table.csv", *recipe, "--k", 1000).exit_code == 1


def test_the_proposed_recipe_runs(run, shared_data, tmp_path):
    original = shared_data / "adult" / "adult.csv"
    assert run("inspect", original, "--out", tmp_path / "recipe.toml").exit_code == 0
    made = run("anonymize", original, "--recipe", tmp_path / "recipe.toml", "--out", tmp_path / "o")
    assert made.exit_code == 0, made.stderr


@pytest.mark.parametrize("name", COLUMNS)
def test_every_hierarchy_covers_its_column(run, shared_data, name):
    file = hierarchy_file(shared_data, name)
    result = run("hierarchy", "check", file, file.parent / "adult.csv", "--column", name)
    assert result.exit_code == 0, result.stderr
