"""`sfumato ledger`, and `--ledger` of the commands that release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato as sf
from series_of_patients import quarter
from sfumato.cli._application import app

OPTIONS = ["--identifier", "id", "--quasi", "age", "--sensitive", "disease", "--k", "2", "--no-report"]


def run(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


@pytest.fixture
def series(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("ledger", "init", "hospital.ledger") == (0, "hospital.ledger\n")
    sf.write(quarter(0, 12), "q1.csv")
    sf.write(quarter(0, 14), "q2.csv")
    code, said = run("anonymize", "q1.csv", *OPTIONS, "--ledger", "hospital.ledger", "--out", "q1")
    assert code == 0
    assert "Release 1 of its series: persons published before: 0, new: 12, waiting: 0" in said
    return "hospital.ledger"


def test_a_walk_through_two_quarters(series):
    code, said = run("anonymize", "q2.csv", *OPTIONS, "--ledger", series, "--out", "q2", "--json")
    assert code == 0
    figures = json.loads(said)["series"]
    assert figures == {"number": 2, "published_before": 12, "published_first": 2, "waiting": 0}
    code, said = run("ledger", "show", series)
    assert (code, said.splitlines()[0].startswith("2 releases of the series ")) == (0, True)
    assert said.splitlines()[2].split()[2:5] == ["12", "12", "0"]
    listed = json.loads(run("ledger", "show", series, "--json")[1])["releases"]
    assert [(each["number"], each["newcomers"], each["folder"]) for each in listed] == [(1, 12, "q1"), (2, 2, "q2")]
    assert run("ledger", "verify", series, "q1", "q2") == (0, "All 2 releases are as they were recorded.\n")
    assert run("ledger", "repair", series) == (0, "There is nothing to repair.\n")


def test_exposure_is_told_release_by_release_and_fails_above_a_limit(series):
    code, said = run("ledger", "exposure", series)
    assert code == 0
    assert said.splitlines()[1].split()[:4] == ["releases", "persons", "maximum", "mean"]
    found = json.loads(run("ledger", "exposure", series, "--sensitive", "disease", "--json")[1])["disease"]
    assert [each["releases"] for each in found] == [1]
    assert run("ledger", "exposure", series, "--limit", "1")[0] == 0
    code, said = run("ledger", "exposure", series, "--limit", "0.01")
    assert code == 1
    assert "does not show that everybody's exposure is at most 0.01" in said
    assert run("ledger", "exposure", series, "--limit", "2") == (2, "sfumato: --limit must be a share in (0, 1].\n")
    run("ledger", "init", "empty.ledger")
    assert run("ledger", "exposure", "empty.ledger")[0] == 2
    assert run("ledger", "show", "empty.ledger")[1].startswith("0 releases")


def test_later_rows_are_recorded(series):
    sf.write(quarter(20, 34), "later.csv")
    options = [*OPTIONS, "--algorithm", "fixed-levels:levels=age=0", "--max-suppressed", "1", "--ledger", series]
    assert run("anonymize", "q2.csv", *options, "--out", "q2")[0] == 0
    rules = ("recode", "later.csv", "--with", "q2/internal/recoding.toml", "--out", "q3", "--no-report")
    assert run(*rules)[0] == 2
    code, said = run(*rules, "--ledger", series)
    assert code == 0
    assert "Release 3 of its series" in said


def test_what_was_changed_is_told_by_exit_code_1(series):
    with Path("q1/public/table.csv").open("a") as file:
        file.write("x\n")
    code, said = run("ledger", "verify", series)
    assert code == 1
    assert said.startswith("sfumato: The ledger hospital.ledger is not what was recorded: public/ of release 1")
    Path("q1").rename("away")
    assert run("ledger", "verify", series)[1].startswith("Release 1 is not in q1 any more")


def test_forgetting_warns_before_it_acts(series):
    code, said = run("ledger", "forget", series, "3")
    assert code != 0
    assert said.startswith("What recognizes this person is replaced by a random number")
    assert sf.Series(series).forget("3")
    code, said = run("ledger", "forget", series, "3", "--yes")
    assert (code, said.splitlines()[-1]) == (1, "sfumato: The ledger does not know this person; nothing was changed.")
    code, said = run("ledger", "forget", series, "4", "--yes")
    assert (code, said.splitlines()[-1]) == (0, "Forgotten.")


@pytest.mark.usefixtures("series")
def test_a_key_without_its_ledger_is_refused():
    code, said = run("anonymize", "q2.csv", *OPTIONS, "--ledger-key", "x.key", "--out", "q2")
    assert (code, said) == (2, "sfumato: --ledger-key is the key of a ledger; give --ledger, too.\n")


def test_another_engine_is_refused(series):
    code, said = run("anonymize", "q2.csv", *OPTIONS, "--ledger", series, "--engine", "duckdb", "--out", "q2")
    assert code == 2
    assert "A ledger follows releases that are made in memory" in said
