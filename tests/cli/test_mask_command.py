"""`sfumato mask` and `sfumato steps`."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from sfumato.tables._catalogue import MASKING_STEPS

ROLES = ("--identifier", "name", "--quasi", "age,sex", "--sensitive", "disease", "--insensitive", "cost")


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "people.csv"
    sf.write(sf.datasets.generate_hospital(150, seed=4), file)
    return file


def test_a_masked_table_is_published_without_a_promise(run, table, tmp_path):
    steps = ("--step", "top-code:column=age,at=70", "--step", "add-noise:columns=age+cost,share=0.1,low=0")
    result = run("mask", table, *ROLES, *steps, "--out", tmp_path / "masked")
    assert result.exit_code == 0, result.output
    assert "add-noise of age, cost" in result.output
    assert "No promise: no privacy model is promised" in result.output
    told = json.loads((tmp_path / "masked" / "public" / "promise.json").read_text("utf-8"))
    assert told["no_model"]
    recipe = sf.Recipe.read(tmp_path / "masked" / "internal" / "recipe.toml")
    assert [step.name for step in recipe.masking] == ["top-code", "add-noise"]
    assert recipe.secret


def test_hidden_cells_keep_a_promise_that_the_audit_confirms(run, table, tmp_path):
    steps = (
        "--step",
        "round-numbers:columns=age,base=10",
        "--step",
        "suppress-cells:columns=age+sex,k=3,importance=2+1",
    )
    out = tmp_path / "masked"
    result = run("mask", table, *ROLES, "--k", 3, *steps, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["holds"]
    assert found["masking"][1]["measures"]["exposed-persons"] == 0
    judged = run(
        "audit", out / "public" / "table.csv", "--recipe", out / "internal" / "recipe.toml", "--original", table
    )
    assert judged.exit_code == 0, judged.output
    assert "'age', which was masked and is not compared" in judged.output


def test_a_masked_table_is_false_unless_its_columns_are_named(run, table, tmp_path):
    out = tmp_path / "masked"
    run("mask", table, "--quasi", "age,sex", "--step", "round-numbers:columns=age,base=10", "--out", out)
    audit = ("audit", out / "public" / "table.csv", "--quasi", "age,sex", "--original", table)
    assert run(*audit).exit_code == 1
    assert run(*audit, "--perturbed", "age").exit_code == 0
    unknown = run(*audit, "--perturbed", "agee")
    assert unknown.exit_code == 2
    assert "did you mean 'age'" in unknown.output


def test_exposure_of_masked_cells_is_that_to_somebody_who_knows_everybody(run, table, tmp_path):
    out = tmp_path / "masked"
    run("mask", table, "--quasi", "age,sex", "--step", "add-noise:columns=age,share=0.3", "--out", out)
    judged = run(
        "audit",
        out / "public" / "table.csv",
        "--recipe",
        out / "internal" / "recipe.toml",
        "--original",
        table,
        "--exposure",
    )
    assert "adversary 2, who knows the quasi-identifiers of everybody" in judged.output


def test_records_are_swapped_and_numbers_rotated_from_the_command_line(run, table, tmp_path):
    steps = (
        "--step",
        "swap-records:place=disease,risk=age,k=2,similar=sex,rate=0.1",
        "--step",
        "rotate-numbers:columns=age+cost",
    )
    result = run("mask", table, *ROLES, *steps, "--out", tmp_path / "masked")
    assert result.exit_code == 0, result.output
    assert "swap-records of disease" in result.output
    assert "A rotation alone protects nobody: 3 known records give back 100.0% of all others." in result.output
    recipe = sf.Recipe.read(tmp_path / "masked" / "internal" / "recipe.toml")
    assert [step.attributes for step in recipe.masking] == [("disease",), ("age", "cost")]


def test_steps_come_before_a_search_too(run, table, tmp_path):
    step = "pram:columns=sex,keep=0.9"
    result = run("anonymize", table, *ROLES, "--k", 4, "--step", step, "--out", tmp_path / "release")
    assert result.exit_code == 0, result.output
    assert "or in 'sex' what masking made of it" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Nothing is masked; give --step"),
        (("--step", "topcode:at=3"), "did you mean 'top-code'"),
        (("--step", "top-code:at=3"), "also needs column"),
        (("--step", "top-code:column=age"), "either at or quantile"),
        (("--step", "swap-ranks:columns=age,reach=5"), "5 % is 0.05"),
        (("--step", "suppress-cells:columns=age+sex,k=151"), "No 151 of 150 rows"),
        (("--step", "add-noise:columns=disease,share=0.1"), "holds none"),
        (("--step", "add-noise:columns=weight,share=0.1"), "which is not published"),
    ],
)
def test_what_cannot_be_masked_is_refused_in_a_sentence(run, table, tmp_path, arguments, sentence):
    result = run("mask", table, *ROLES, *arguments, "--out", tmp_path / "masked")
    assert result.exit_code == 2
    assert sentence in result.output
    assert not (tmp_path / "masked").exists()


def test_a_recipe_that_masks_nothing_is_refused(run, table, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[attributes.age]\nrole = "quasi"\n[[models]]\nname = "k-anonymity"\nk = 2\n', "utf-8")
    result = run("mask", table, "--recipe", recipe, "--out", tmp_path / "masked")
    assert result.exit_code == 2
    assert "Nothing is masked" in result.output


def test_exploring_does_not_pass_over_masking(run, table, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[attributes.age]\nrole = "quasi"\n[[models]]\nname = "k-anonymity"\nk = 2\n'
        '[[masking]]\nname = "top-code"\ncolumn = "age"\nat = 60\n',
        "utf-8",
    )
    result = run("explore", table, "--recipe", recipe)
    assert result.exit_code == 2
    assert "drop [[masking]]" in result.output


def test_steps_are_listed(run):
    assert all(name in run("steps").output for name in MASKING_STEPS)
    listed = json.loads(run("steps", "--json").stdout)
    assert {each["name"] for each in listed} == set(MASKING_STEPS)
    assert all(each["facts"]["open"] for each in listed)
