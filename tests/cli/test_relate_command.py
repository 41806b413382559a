"""`sfumato relate` publishes what Python publishes, and refuses in one sentence."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app

FILE = """
[release]
persons = "patients"
max_suppressed = 0.5
secret = "{secret}"

[[models]]
name = "k-anonymity"
k = 2

[tables.patients]
file = "patients.csv"
key = "patient"
decimal = ","
attributes.age = {{ role = "quasi", hierarchy = {{ kind = "intervals", widths = [20] }} }}
attributes.dose = {{ role = "insensitive" }}

[tables.visits]
file = "visits.csv"
key = "patient"
attributes.ward = {{ role = "quasi" }}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text("patient;age;dose\n1;24;0,5\n2;27;1,5\n3;43;2,5\n4;55;3,5\n")
    (tmp_path / "visits.csv").write_text("patient,ward\n1,a\n2,a\n3,b\n")
    (tmp_path / "all.toml").write_text(FILE.format(secret="5f" * 32))
    return tmp_path


def run(*words: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["relate", *words])
    return found.exit_code, found.stdout, found.stderr


def test_tables_are_published_as_python_publishes_them(folder):
    code, said, _ = run("all.toml", "--out", "out")
    assert code == 0
    assert "smallest of 2" in said
    asked = sf.tables.relational.read_relations("all.toml")
    release = sf.tables.relational.anonymize_relations(
        asked.tables, asked.models, persons=asked.individuals, max_suppressed=asked.max_suppressed, secret=asked.secret
    )
    release.write("again")
    for name in ("public/patients.csv", "public/visits.csv", "public/promise.json", "internal/levels.json"):
        assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes()
    assert (folder / "out" / "public" / "patients.csv").read_text().splitlines()[1:] != []


def test_tables_are_judged_as_they_are(folder):
    code, said, _ = run("all.toml", "--audit", "--json")
    assert code == 1
    assert json.loads(said)["holds"] is False
    assert sorted(path.name for path in folder.iterdir()) == ["all.toml", "patients.csv", "visits.csv"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("persons = ", "person = "), "[release] has an unknown entry 'person'"),
        (('persons = "patients"', ""), "[release] needs persons"),
        (('key = "patient"\ndecimal', "decimal"), "[tables.patients] needs key"),
        (('file = "visits.csv"', 'file = "no.csv"'), "There is no file"),
        (('decimal = ","', "decimal = 5"), "in [tables.patients] must be a string"),
        (('name = "k-anonymity"', 'name = "k"'), "There is no model"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(folder, change, sentence):
    path = folder / "all.toml"
    path.write_text(path.read_text().replace(*change, 1))
    code, said, error = run("all.toml", "--out", "out")
    assert (code, said) == (2, "")
    assert sentence in error
    assert error.count("\n") == 1
    assert not (folder / "out").exists()


def test_either_a_folder_or_an_audit_is_asked_for(folder):  # noqa: ARG001 - it is where the command runs
    for words in ((), ("--out", "x", "--audit")):
        code, _, error = run("all.toml", *words)
        assert code == 2
        assert "Give --out to publish" in error


def test_an_older_release_is_replaced_only_when_asked(folder):
    assert run("all.toml", "--out", "out")[0] == 0
    code, _, error = run("all.toml", "--out", "out")
    assert code == 2
    assert "replace it with --replace." in error
    assert run("all.toml", "--out", "out", "--replace")[0] == 0
    (folder / "out" / "mine.txt").write_text("mine")
    assert "something else" in run("all.toml", "--out", "out", "--replace")[2]
    assert (folder / "out" / "mine.txt").read_text() == "mine"
