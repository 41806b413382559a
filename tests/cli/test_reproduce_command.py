"""`python -m papers thesis`: what it writes and says, and what it refuses."""

from __future__ import annotations

import csv
from functools import partial

import pytest
from papers.__main__ import app
from papers.thesis import setting
from typer.testing import CliRunner

import sfumato as sf
from sfumato.datasets.census import generate_census


@pytest.fixture
def small(monkeypatch):
    """Measure few releases, in this process."""
    few = partial(
        setting.ThesisGrid,
        diversities=(3, 5),
        group_sizes=(3,),
        fixed_diversities=(3,),
        generalized_sizes=(3,),
        densities=(0.2,),
    )
    monkeypatch.setattr(setting, "ThesisGrid", few)
    monkeypatch.setattr("sfumato._threads.count_workers", lambda: 1)


def thesis(*arguments: object):
    return CliRunner().invoke(app, ["thesis", *map(str, arguments)])


@pytest.mark.usefixtures("small")
def test_findings_are_printed_and_figures_written(tmp_path):
    out = tmp_path / "t"
    done = thesis("--rows", 400, "--queries", 5, "--out", out)
    assert done.exit_code == 0, done.exception
    with (out / "findings.csv").open(encoding="utf-8", newline="") as file:
        findings = list(csv.DictReader(file))
    verdicts = [finding["seen"] for finding in findings]
    seen, missed = verdicts.count("yes"), verdicts.count("no")
    assert f"{seen} of {seen + missed} findings were seen." in done.stdout
    assert min(seen, missed) > 0
    assert verdicts.count("not said") == len(findings) - seen - missed == 1
    assert done.stdout.count(" NO   ") == missed
    assert (out / "figure-3.6.png").is_file()
    assert (out / "figure-4.10.svg").is_file()
    assert max(map(len, done.stdout.splitlines())) <= max(100, len(str(out)) + 60)


@pytest.mark.usefixtures("small")
def test_a_table_of_the_user_is_used(tmp_path):
    sf.write(generate_census(300, seed=4), tmp_path / "mine.csv")
    recipe = sf.Recipe(
        schema=setting.census_schema(), models=[sf.models.KAnonymity(k=2)], algorithm=sf.algorithms.Mondrian()
    )
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), "utf-8")
    done = thesis(
        "--table", tmp_path / "mine.csv", "--schema", tmp_path / "recipe.toml", "--queries", 3, "--out", tmp_path / "t"
    )
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "t" / "findings.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--table", "a.csv"], "Give --table and --schema together"),
        (["--schema", "a.toml"], "Give --table and --schema together"),
        (["--table", "a.csv", "--schema", "a.toml", "--rows", 5], "--rows is for a made-up census"),
        (["--queries", 0], "queries"),
        (["--rows", -1], "rows"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_measured(tmp_path, arguments, said):
    done = thesis(*arguments, "--out", tmp_path / "t")
    assert done.exit_code == 2
    assert done.stderr.startswith("sfumato: ")
    assert said in done.stderr
    assert not (tmp_path / "t").exists()


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "notes").write_text("mine", "utf-8")
    done = thesis("--rows", 400, "--out", tmp_path)
    assert done.exit_code == 2
    assert "no reproduction wrote" in done.stderr


def test_help_names_the_reproductions():
    assert "thesis" in CliRunner().invoke(app, []).stdout
