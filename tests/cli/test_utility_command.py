"""`sfumato utility`: what analysts still find."""

from __future__ import annotations

import json

import pytest

import sfumato as sf


@pytest.fixture
def release(run, patients_file, tmp_path):
    out = tmp_path / "release"
    asked = ["--quasi", "age,sex", "--sensitive", "disease", "--insensitive", "cost,height_cm", "--k", 5, "--seed", 1]
    assert run("anonymize", patients_file, *asked, "--out", out).exit_code == 0
    return [out / "public" / "table.csv", "--original", patients_file, "--recipe", out / "internal" / "recipe.toml"]


def test_the_tables_of_the_report_are_printed(run, release):
    result = run("utility", *release)
    assert result.exit_code == 0, result.stderr
    for title in ("Means and deviations", "Correlations", "Cross-tabulations", "Regression of cost"):
        assert title in result.stdout


def test_texts_that_the_regression_leaves_out_are_told(run, release):
    told = run("utility", *release).stdout
    assert "does without: disease, sex." in told
    assert "does without: disease, sex." in (release[0].parent.parent / "internal" / "report.html").read_text("utf-8")


def test_figures_are_those_of_the_report(run, release):
    told = json.loads(run("utility", *release, "--json").stdout)
    report = json.loads((release[0].parent.parent / "internal" / "report.json").read_text("utf-8"))
    assert told.pop("classifier") is None
    assert told == report["utility"]


def test_a_target_and_a_class_can_be_named(run, release, tmp_path):
    sf.write(sf.datasets.generate_hospital(200, seed=5), tmp_path / "held.csv")
    chosen = ["--target", "age", "--classify", "sex", "--held-out", tmp_path / "held.csv"]
    result = run("utility", *release, *chosen)
    assert result.exit_code == 0, result.stderr
    assert "Regression of age" in result.stdout
    assert "Accuracy on 200 held-out records, 'sex' from 4 columns" in result.stdout


def test_refusals(run, release):
    assert "--classify and --held-out together" in run("utility", *release, "--classify", "sex").stderr
    assert "no published column of numbers" in run("utility", *release, "--target", "sex").stderr
