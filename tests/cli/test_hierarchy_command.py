"""`sfumato hierarchy`: draw, check and make."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.hierarchies.drawing import draw_hierarchy

JOBS = "cook;kitchen;*\nwaiter;kitchen;*\nnurse;ward;*\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.csv").write_text(JOBS, "utf-8")
    (tmp_path / "t.csv").write_text("age,job\n30,cook\n35,nurse\n62,\n", "utf-8")
    return tmp_path


def test_a_hierarchy_file_is_drawn(run):
    assert (
        run("hierarchy", "draw", "job.csv").stdout
        == draw_hierarchy(sf.hierarchies.Taxonomy.read_csv("job.csv").hierarchy) + "\n"
    )


def test_the_hierarchy_of_a_column_is_drawn(run):
    shown = run("hierarchy", "draw", "t.csv", "--column", "age", "--kind", "intervals:10,50").stdout
    assert shown.splitlines()[:3] == ["* (3)", "├── [0, 50) (2)", "│   └── [30, 40) (2)"]


def test_few_children_are_drawn_when_asked(run):
    assert "… 1 more" in run("hierarchy", "draw", "job.csv", "--most", 1).stdout


def test_a_kind_needs_a_column(run):
    result = run("hierarchy", "draw", "job.csv", "--kind", "prefixes")
    assert (result.exit_code, result.stderr) == (2, "sfumato: --kind also needs --column.\n")


def test_a_hierarchy_that_covers_a_column_passes(run):
    result = run("hierarchy", "check", "job.csv", "t.csv", "--column", "job")
    assert result.exit_code == 0
    assert result.stdout == (
        "job.csv covers all 2 values of column 'job'.\nHeight 2; leaves that do not occur in the column: 1.\n"
    )


def test_missed_values_are_listed_when_asked(run, folder):
    asked = ("hierarchy", "check", "job.csv", "t.csv", "--column", "job", "--list")
    assert (run(*asked).exit_code, run(*asked).stdout) == (0, "")
    (folder / "job.csv").write_text("cook;kitchen;*\n", "utf-8")
    assert (run(*asked).exit_code, run(*asked).stdout) == (1, "nurse\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [("cook;kitchen;*\n", "misses 1 of the 2 values"), (JOBS + "nurse;kitchen;*\n", "repeats 1 of its 4 leaves")],
)
def test_a_hierarchy_that_does_not_fit_gives_1(run, folder, text, says):
    (folder / "job.csv").write_text(text, "utf-8")
    result = run("hierarchy", "check", "job.csv", "t.csv", "--column", "job")
    assert result.exit_code == 1
    assert says in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["draw", "absent.csv"],
        ["draw", "t.csv", "--column", "aeg"],
        ["check", "absent.csv", "t.csv", "--column", "job"],
        ["check", "job.csv", "absent.csv", "--column", "job"],
        ["make", "t.csv", "--column", "job", "--kind", "intervals:5"],
    ],
)
def test_bad_requests_give_2(run, arguments):
    result = run("hierarchy", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("sfumato: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("given", [[], ["--kind", "intervals:10,50"], ["--kind", "prefixes"]])
def test_what_is_made_is_read_again_and_covers_its_column(run, given):
    made = run("hierarchy", "make", "t.csv", "--column", "age", *given, "--out", "age.csv")
    assert (made.exit_code, made.stdout) == (0, "age.csv\n")
    assert run("hierarchy", "check", "age.csv", "t.csv", "--column", "age").exit_code == 0


def test_without_a_file_the_hierarchy_is_printed(run):
    made = run("hierarchy", "make", "t.csv", "--column", "age", "--kind", "intervals:10")
    assert made.stdout == "30;[30, 40);*\n35;[30, 40);*\n62;[60, 70);*\n"


def test_an_existing_hierarchy_is_overwritten_only_by_force(run, folder):
    given = ["hierarchy", "make", "t.csv", "--column", "age", "--out", "job.csv"]
    assert run(*given).exit_code == 2
    assert (folder / "job.csv").read_text("utf-8") == JOBS
    assert run(*given, "--force").exit_code == 0
    assert (folder / "job.csv").read_text("utf-8").startswith("30;")
