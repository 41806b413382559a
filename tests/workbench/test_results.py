"""Results of jobs: found again after a restart, and never more than fits."""

from __future__ import annotations

import pytest

from sfumato.workbench import _session
from sfumato.workbench._project import Project
from sfumato.workbench._session import ResultCache


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


def test_results_are_found_again(project):
    kept = ResultCache(project)
    kept.store("a", "risk", {}, {"n": 1})
    kept.store("b", "risk", {}, {"n": 2})
    for found in (kept, ResultCache(project)):
        assert found.find("a") == {"n": 1}
        assert found.latest("risk", {}) == {"n": 2}
        assert found.latest("attack", {}) is None
        assert found.find("c") is None


def test_the_oldest_go_when_they_are_many(project, monkeypatch):
    monkeypatch.setattr(_session, "MOST", 1000)
    kept = ResultCache(project)
    for n in range(10):
        kept.store(str(n), "risk", {"n": n}, "x" * 300)
    names = sorted(path.stem for path in (project.folder / "results").iterdir())
    assert names == ["8", "9"]
    assert kept.find("7") is None
    kept.store("large", "risk", {}, "x" * 5000)
    assert kept.find("large") is not None


def test_a_table_that_is_opened_clears_them(project):
    kept = ResultCache(project)
    kept.store("a", "risk", {}, 1)
    kept.clear()
    assert list((project.folder / "results").iterdir()) == []
    assert kept.latest("risk", {}) is None
