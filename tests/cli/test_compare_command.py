"""`sfumato compare` and `sfumato try`: candidates side by side."""

from __future__ import annotations

import json

import pytest

from sfumato.core.recipe import Recipe


@pytest.fixture
def asked(patients_file):
    return [patients_file, "--quasi", "age,sex", "--sensitive", "disease", "--k", 5, "--seed", 1]


def test_try_makes_candidates_and_compare_reads_them(run, asked, tmp_path):
    out = tmp_path / "candidates"
    result = run(
        "try", *asked, "--algorithms", "mondrian,anatomy", "--algorithms", "mondrian:strict=false", "--out", out
    )
    assert result.exit_code == 0, result.stderr
    assert f"Page: {out / 'comparison.html'}" in result.stdout
    assert "anatomy: Anatomy does not support KAnonymity(k=5)" in result.stdout
    assert {path.name for path in out.iterdir()} == {"mondrian", "mondrian-2", "comparison.html"}
    assert Recipe.read(out / "mondrian" / "internal" / "recipe.toml").input_file == "patients.csv"
    again = run("compare", out / "mondrian", out / "mondrian-2", "--json")
    told = json.loads(again.stdout)
    assert [each["name"] for each in told["candidates"]] == ["mondrian", "mondrian-2"]
    assert told["page"] is None


def test_nothing_is_written_unless_asked(run, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("try", *asked, "--algorithms", "mondrian", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["front"] == ["mondrian"]
    assert list(tmp_path.iterdir()) == []


def test_compare_shows_the_sections_and_writes_the_page(run, asked, tmp_path):
    run("anonymize", *asked, "--out", tmp_path / "one")
    result = run("compare", tmp_path / "one", "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    for title in ("Promises", "Exposure", "Attacks", "Losses", "For analysts"):
        assert title in result.stdout
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert run("compare", tmp_path / "one", "--out", tmp_path / "page.html").exit_code == 2
    assert run("compare", tmp_path / "one", "--out", tmp_path / "page.html", "--force").exit_code == 0


def test_refusals(run, asked, tmp_path):
    assert "give the folder of a release" in run("compare", tmp_path).stderr
    assert "did you mean 'mondrian'" in run("try", *asked, "--algorithms", "mondriam").stderr
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    result = run("try", *asked, "--algorithms", "mondrian", "--out", tmp_path / "taken")
    assert result.exit_code == 2
