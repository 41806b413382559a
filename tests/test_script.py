"""Settings as Python code make the same settings again, and a script makes the same release."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from drawn_examples import examples
from sfumato.cli._application import app
from sfumato.core._python_source import format_python
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.tables._catalogue import ALGORITHMS
from test_recipe import RECIPES

HIERARCHIES = [
    Intervals(5, 10, origin=3),
    Intervals(cuts=[[0, 1.5, 2], [0, 2]]),
    Intervals("month", "year"),
    Prefixes(4, 2),
    Prefixes(),
    Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer"]}),
    Taxonomy.from_rows([["a", "x", "*"], ["b", "y", "*"]]),
    OrderedGroups({"low": ["a", "b"], "high": ["c"]}),
]


def again(written: str) -> object:
    return eval(written, {"sf": sf})  # noqa: S307 - what is tested


@pytest.mark.parametrize("builder", HIERARCHIES, ids=repr)
def test_a_hierarchy_is_made_again(builder):
    assert again(format_python(builder)) == builder


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_is_made_again(name):
    made = ALGORITHMS[name]() if name != "fixed-levels" else ALGORITHMS[name](levels={"age": 1})
    assert again(format_python(made)) == made


STEPS = [
    sf.masking.SuppressCells(columns=["age"], k=3, weights={"age": 2.0}),
    sf.masking.AddNoise(columns=["dose"], share=0.1, kind="exact"),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_masking_step_is_made_again(step):
    assert format_python(step).startswith("sf.masking.")
    assert again(format_python(step)) == step


@examples(50)
@given(RECIPES, st.sampled_from([{}, {"decimal": ",", "separator": ";"}]))
def test_a_script_states_the_whole_recipe(recipe, reading):
    recipe = replace(recipe, reading=reading)
    lines = [line for line in recipe.to_python("x.csv").splitlines() if not line.startswith(("table =", "release"))]
    found: dict = {}
    exec("\n".join(lines), {}, found)  # noqa: S102 - what is tested
    assert found["recipe"] == recipe


def test_long_calls_stand_on_lines_of_their_own():
    written = format_python([sf.models.KAnonymity(k=5)] * 9)
    assert max(map(len, written.splitlines())) <= 100
    assert written.splitlines()[1] == "    sf.models.KAnonymity(k=5),"


def test_a_script_writes_the_bytes_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sf.write(sf.datasets.generate_hospital(120, seed=1), "patients.csv")
    run = CliRunner().invoke
    assert run(app, ["inspect", "patients.csv", "--out", "recipe.toml"]).exit_code == 0
    assert run(app, ["anonymize", "patients.csv", "--recipe", "recipe.toml", "--out", "first"]).exit_code == 0
    made = run(app, ["script", "patients.csv", "--recipe", "first/internal/recipe.toml", "--out", "again.py"])
    assert (made.exit_code, made.stdout) == (0, "again.py\n")
    script = (tmp_path / "again.py").read_text("utf-8")
    exec(script, {})  # noqa: S102 - what is tested
    for folder, _, names in os.walk("first"):
        for name in names:
            other = folder.replace("first", "release")
            assert (tmp_path / folder / name).read_bytes() == (tmp_path / other / name).read_bytes(), name
