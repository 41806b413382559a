"""Attacks in the internal report: figures before and after, and when there are none."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from sfumato.core.writing import read_facts
from sfumato.report import page as html
from sfumato.report.page import render_report
from sfumato.report.sections import attacks

PATIENTS = sf.datasets.generate_hospital(300, seed=2)
SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"])


def facts_of(folder, schema=SCHEMA, algorithm=None):
    release = sf.anonymize(
        PATIENTS, schema, [sf.models.KAnonymity(k=10)], algorithm or sf.algorithms.Mondrian(), seed=1
    )
    release.write(folder)
    return read_facts(folder)


def test_a_release_is_attacked_beside_its_original(tmp_path):
    found = facts_of(tmp_path / "release")["attacks"]
    names = ["singling-out", "linkage", "homogeneity", "background-knowledge", "skewness"]
    assert [each["attack"] for each in found] == names
    assert {each["question"] for each in found} == {"singling out", "linkability", "inference"}
    by_name = {each["attack"]: each for each in found}
    assert by_name["singling-out"]["before"]["rate"] > 0.2
    assert by_name["singling-out"]["after"]["rate"] == 0
    assert 0 < by_name["linkage"]["after"]["rate"] < by_name["linkage"]["before"]["rate"]


def test_the_same_release_gives_the_same_figures(tmp_path):
    first, second = (facts_of(tmp_path / name)["attacks"] for name in ("a", "b"))
    assert json.dumps(first) == json.dumps(second)


def test_the_page_shows_attacks_and_no_cell(tmp_path):
    facts = facts_of(tmp_path / "release")
    page = render_report(facts)
    section = page[page.index('<section id="attacks"') : page.index('<section id="sizes"')]
    assert "homogeneity of disease" in section
    assert "singling out" in section
    assert not any(value in section for value in set(PATIENTS["disease"].to_pylist()))


@pytest.mark.parametrize(
    ("schema", "algorithm"),
    [
        (sf.Schema(quasi_identifiers=["age", "height_cm"], sensitive=["disease"]), "mdav"),
        (sf.Schema(sensitive=["disease"]), "mondrian"),
    ],
)
def test_what_attacks_cannot_read_is_left_out_and_the_page_says_so(tmp_path, schema, algorithm):
    from sfumato.tables._catalogue import ALGORITHMS

    facts = facts_of(tmp_path / "release", schema, ALGORITHMS[algorithm]())
    assert facts["attacks"] is None
    assert "No attacks were run" in render_report(facts)


def test_attacks_are_on_a_sample_whose_size_the_page_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(attacks, "TARGETS", 40)
    monkeypatch.setattr(html, "TARGETS", 40)
    facts = facts_of(tmp_path / "release")
    assert {each["targets"] for each in facts["attacks"]} == {40}
    assert "on 40 people drawn at random" in render_report(facts)
