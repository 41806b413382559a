"""`sfumato report`: the page again, from its figures."""

from __future__ import annotations

import pytest


@pytest.fixture
def release(run, patients_file, tmp_path):
    out = tmp_path / "release"
    assert run("anonymize", patients_file, "--quasi", "age,sex", "--k", 5, "--out", out).exit_code == 0
    return out


def test_the_page_comes_back_as_it_was(run, release):
    page = release / "internal" / "report.html"
    before = page.read_bytes()
    page.unlink()
    result = run("report", release)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{page}\n"
    assert page.read_bytes() == before


def test_the_page_can_go_elsewhere(run, release, tmp_path):
    result = run("report", release, "--out", tmp_path / "page.html")
    assert result.exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == (release / "internal" / "report.html").read_bytes()


def test_a_folder_without_figures_is_refused(run, tmp_path):
    result = run("report", tmp_path)
    assert result.exit_code == 2
    assert "give the folder of a release" in result.stderr


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_damaged_figures_are_refused(run, release, content):
    (release / "internal" / "report.json").write_text(content, "utf-8")
    result = run("report", release)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
