"""`sfumato audit --series`: several releases of one table together."""

from __future__ import annotations

import json

import pytest

import sfumato as sf

ROLES = ["--identifier", "name", "--quasi", "age", "--sensitive", "disease"]
PROMISE = ["--model", "m-invariance:m=2,sensitive=disease"]
ORIGINAL = "name,age,disease\na,20,flu\nb,21,cold\nc,22,cold\nd,23,flu\n"
FIRST = "age,disease,_bucket_disease\n20,cold,0\n21,flu,0\n22,flu,1\n23,cold,1\n"
SECOND = "age,disease,_bucket_disease\n20,cold,0\n22,flu,0\n21,flu,1\n23,cold,1\n"
OTHER = "age,disease,_bucket_disease\n20,flu,0\n23,flu,0\n21,cold,1\n22,cold,1\n"
SERIES = ["audit", "1.csv", "2.csv", "--series", "--originals", "t1.csv", "t2.csv", *ROLES]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"1": FIRST, "2": SECOND, "3": OTHER, "t1": ORIGINAL, "t2": ORIGINAL}.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    return tmp_path


def test_a_series_that_holds_has_exit_code_0(run):
    result = run(*SERIES, *PROMISE)
    assert result.exit_code == 0
    assert "Series: holds, 2 releases, 4 persons" in result.stdout
    assert "maximum 0.5" in result.stdout


def test_a_broken_series_has_exit_code_1_and_says_so_in_json(run):
    result = run("audit", "1.csv", "3.csv", "--series", "--originals", "t1.csv", "t2.csv", *ROLES, *PROMISE, "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["models"][0]["verdict"] == "broken"
    assert told["exposure"]["disease"]["maximum"] == 1.0
    assert told["exposure"]["disease"]["decided_persons"] == 4


def test_without_promises_the_levels_are_told(run):
    result = run(*SERIES)
    assert result.exit_code == 0
    assert "m-invariance of 'disease'     2" in result.stdout


def test_folders_bring_their_recipe_and_who_is_who(run, folder):
    data = sf.read(folder / "t1.csv")
    schema = sf.Schema(identifier=["name"], quasi=["age"], sensitive=["disease"])
    models = [sf.FrequencyLDiversity(l=2, sensitive="disease")]
    for name in ("q1", "q2"):
        sf.anonymize(data, schema, models=models, algorithm=sf.Anatomy()).write(name)
    for releases in (["q1", "q2"], ["q1/public/table.csv", "q2/public/table.csv"]):
        result = run("audit", *releases, "--series", "--originals", "t1.csv", "--originals", "t2.csv", *PROMISE)
        assert result.exit_code == 0
        assert "holds" in result.stdout
    (folder / "empty").mkdir()
    refused = run("audit", "empty", "--series", "--originals", "t1.csv", *ROLES)
    assert refused.exit_code == 2
    assert "is no folder of a release with one table" in refused.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1.csv", "2.csv", "--series", "--originals", "t1.csv"], "as many originals as releases"),
        (["1.csv", "2.csv", "--series"], "as many originals as releases"),
        (["1.csv", "2.csv"], "2 tables are given; give one, or --series"),
        (["1.csv", "--originals", "t1.csv"], "--originals also needs --series"),
        (["1.csv", "--series", "--originals", "t1.csv", "--exposure"], "--exposure is about one table"),
        (["1.csv", "--series", "--originals", "t1.csv", "--original", "t1.csv"], "--original is about one table"),
    ],
)
def test_bad_requests_have_exit_code_2(run, given, message):
    result = run("audit", *given, *ROLES)
    assert result.exit_code == 2
    assert message in result.stderr
