"""`sfumato demo`: what it writes and says, what it replaces, and what it does not load."""

from __future__ import annotations

import json
import re

import pytest

import sfumato as sf
from sfumato.cli._demo_runs import demo_recipe, run_demo


def test_the_demo_says_what_it_did_and_where_the_report_is(shell, tmp_path):
    done = shell("demo", "--rows", 800)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Made up 800 hospital patients; none of them exists.\n")
    assert "Audit: holds; 800 records" in done.stdout
    assert "sfumato-demo/internal/report.html" in done.stdout
    assert (tmp_path / "sfumato-demo" / "internal" / "report.html").is_file()
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_members_of_the_shown_group_differ_before_and_agree_after(run, tmp_path):
    shown = run("demo", "--rows", 800, "--out", tmp_path / "d").stdout
    before, _, after = shown.partition("\nand after\n")
    members = [re.split(r" {2,}", line.strip()) for line in before.splitlines()[-4:]]
    published = [re.split(r" {2,}", line.strip()) for line in after.splitlines()[2:6]]
    assert len({tuple(cells[:-1]) for cells in members}) == 4
    assert len({tuple(cells[:-1]) for cells in published}) == 1
    assert [cells[-1] for cells in members] == [cells[-1] for cells in published]


def test_the_default_demo_compiles_nothing(shell):
    program = """
import json, sys
sys.argv = ["sfumato", "demo"]
from sfumato.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code
print(json.dumps([name for name in ("numba", "llvmlite", "polars") if name in sys.modules]))
"""
    done = shell(program=program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_an_older_demo_is_replaced(run, tmp_path):
    out = tmp_path / "d"
    assert run("demo", "--rows", 300, "--out", out).exit_code == 0
    assert run("demo", "--rows", 400, "--seed", 5, "--out", out).exit_code == 0
    assert sf.read(out / "public" / "table.csv").num_rows == 400


@pytest.mark.parametrize("content", ["notes", "release", "file", "extra"])
def test_what_the_demo_did_not_write_is_left_alone(run, tmp_path, patients_file, content):
    out = tmp_path / "d"
    if content == "file":
        out.write_text("mine", "utf-8")
    elif content == "notes":
        out.mkdir()
        (out / "notes.txt").write_text("mine", "utf-8")
    elif content == "extra":
        run("demo", "--rows", 300, "--out", out)
        (out / "notes.txt").write_text("mine", "utf-8")
    else:
        run("anonymize", patients_file, "--quasi", "age", "--k", 5, "--out", out)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run("demo", "--rows", 300, "--out", out)
    assert result.exit_code == 2
    assert "that the demo did not write" in result.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_demo_of_a_series_shows_that_independent_releases_break_and_those_of_a_ledger_hold(run, tmp_path):
    out = tmp_path / "series"
    shown = run("demo", "--series", "--rows", 200, "--out", out)
    assert shown.exit_code == 0, shown.stderr
    alone, _, together = shown.stdout.partition("With a ledger")
    assert "together  BROKEN" in alone
    assert "together  holds" in together
    assert "highest exposure of a patient     1\n" in alone
    assert "highest exposure of a patient     0.333\n" in together
    assert "condition is sure  0 of" in together
    assert "names the condition of 0 of" in together
    assert int(re.search(r"names the condition of ([\d,]+) of", alone)[1].replace(",", "")) > 50
    assert max(map(len, shown.stdout.replace(str(out), "out").splitlines())) <= 100
    assert sf.Series(out / "hospital.ledger").verify() == ()
    assert (out / "with-ledger" / "q4" / "internal" / "report.html").is_file()
    (out / "notes.txt").write_text("mine", "utf-8")
    refused = run("demo", "--series", "--rows", 200, "--out", out)
    assert refused.exit_code == 2
    assert "that the demo did not write" in refused.stderr
    (out / "notes.txt").unlink()
    name = sf.Series(out / "hospital.ledger").name
    assert run("demo", "--series", "--rows", 150, "--out", out).exit_code == 0
    assert sf.Series(out / "hospital.ledger").name != name
    (out / "about.txt").write_text("mine", "utf-8")
    assert run("demo", "--series", "--out", out).exit_code == 2


def test_the_demo_is_a_recipe_like_any_other():
    release = run_demo(300, 2)
    again = sf.anonymize(
        sf.datasets.generate_hospital(300, seed=2), demo_recipe(2).schema, demo_recipe(2).models, seed=2
    )
    assert release.published.equals(again.published)
    assert release.recipe == again.recipe
    assert release.audit.level("k-anonymity") >= 5
    assert release.audit.level("distinct-l-diversity", "disease") >= 3
