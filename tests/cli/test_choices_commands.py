"""`sfumato models`, `algorithms` and `formats`: everything there is to choose from, for people and machines."""

from __future__ import annotations

import json

import pytest

from sfumato._locale.messages import load_messages
from sfumato.io.formats import FORMATS
from sfumato.tables._catalogue import ALGORITHMS, MODELS


@pytest.mark.parametrize(("command", "known"), [("models", MODELS), ("algorithms", ALGORITHMS)])
def test_json_lists_every_choice(run, command, known):
    listed = json.loads(run(command, "--json").stdout)
    assert [each["name"] for each in listed] == list(known)
    assert all(each["summary"] and each["reference"] for each in listed)
    assert {each["package"] for each in listed} == {"sfumato"}


def test_json_tells_what_formats_need_and_honor(run):
    listed = {each["name"]: each for each in json.loads(run("formats", "--json").stdout)}
    assert list(listed) == list(FORMATS)
    assert listed["xlsx"] == {
        "name": "xlsx",
        "kind": "a workbook",
        "marks": [".xlsx"],
        "reading": list(FORMATS["xlsx"].read_options),
        "writing": ["excel_safe"],
        "extra": "excel",
        "package": "sfumato",
    }
    assert listed["postgresql"]["marks"] == ["postgresql://", "postgres://"]


def test_json_tells_parameters_and_defaults(run):
    listed = {each["name"]: each for each in json.loads(run("models", "--json").stdout)}
    assert "default" not in listed["k-anonymity"]["parameters"]["k"]
    assert listed["t-closeness"]["parameters"]["distance"]["default"] == "equal"


@pytest.mark.parametrize(("command", "known"), [("models", MODELS), ("algorithms", ALGORITHMS), ("formats", FORMATS)])
def test_people_read_names_at_the_beginning_of_lines_and_no_markup(run, command, known):
    shown = run(command).stdout
    names = [line.split()[0] for line in shown.splitlines() if line and not line.startswith(" ")]
    assert names == list(known)
    assert "$" not in shown
    assert "]_" not in shown


def test_every_model_tells_which_attack_it_stops(run):
    listed = {each["name"]: each["facts"]["stops"] for each in json.loads(run("models", "--json").stdout)}
    assert listed == {name: model.description.stops for name, model in MODELS.items()}
    shown = " ".join(run("models").stdout.split())
    assert "Stops linkage: finding a person's record by the quasi-identifiers" in shown
    assert shown.count(" Stops ") == len(MODELS)


def test_every_algorithm_tells_what_it_gives(run):
    listed = {each["name"]: each["facts"]["gives"] for each in json.loads(run("algorithms", "--json").stdout)}
    shown = " ".join(run("algorithms").stdout.split())
    assert listed == {name: load_messages("en")(f"algorithms.gives.{name}") for name in ALGORITHMS}
    assert all(gives in shown for gives in listed.values())
