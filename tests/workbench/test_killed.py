"""A process that is ended between any two steps of opening a table: the project is that of one table, or the other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sfumato.workbench._history import ChangeHistory
from sfumato.workbench._project import Project
from sfumato.workbench._session import ResultCache, Session
from sfumato.workbench._tasks import tables as opening
from sfumato.workbench.worker import WorkerState

CITIES = "city,mayor,people\nUlm,Ann,100\nBonn,Bob,200\nKiel,Cy,300\n"
STEPS = (  # every function that changes a file of the project while a table is opened
    ("sfumato.workbench._row_store", "write_rows"),
    (WorkerState, "write"),
    (Project, "write"),
    (ResultCache, "_evict"),
    (ChangeHistory, "_write"),
    (Path, "unlink"),
    (shutil, "rmtree"),
)


class Killed(BaseException):
    """The process ends here."""


def lives(monkeypatch, steps):
    """Let a process live for some steps."""
    left = [steps]

    def counted(done):
        def step(*arguments, **options):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return done(*arguments, **options)

        return step

    for where, name in STEPS:
        if isinstance(where, str):
            monkeypatch.setattr(f"{where}.{name}", counted(getattr(__import__(where, fromlist=[name]), name)))
        else:
            monkeypatch.setattr(where, name, counted(getattr(where, name)))


@pytest.fixture(scope="module")
def study(tmp_path_factory, persons_csv):
    """Return a project with a table, a change of its recipe, a result and a table to open next."""
    folder = tmp_path_factory.mktemp("study") / "project"
    desk = Session(Project(folder))
    open_in(desk, persons_csv)
    desk.patch(desk.version, "search", [(("release", "max_suppressed"), None, 0.25)])
    desk._results.store("key", "risk", {}, {"of": "persons"})
    return folder


def open_in(desk, path):
    """Open a file as the worker and the server do, one after the other."""
    asked = {"place": str(path), "name": path.name}
    number = desk.project.next_number("tables")
    bench = WorkerState(desk.project.folder)
    result = opening.run_open(bench, {**asked, "number": number}, lambda *_: None)
    desk._table_opened(asked, json.loads(json.dumps(result)))


def check_whole(desk):
    """See that everything a project tells is about the table that it names, and return its name."""
    assert desk.recipe.input_file == desk.name
    assert desk.stored_rows.count == desk.rows == desk.recipe.input_rows
    assert desk.stored_rows.columns == desk.columns
    assert len(desk.details) == len(desk.columns)
    assert set(desk.recipe.to_dict()["attributes"]) <= set(desk.columns)
    assert (desk.latest("risk") is not None) == (desk.name == "persons.csv")
    assert (desk.history.earlier is not None) == (desk.name == "persons.csv")
    return desk.name


def test_a_kill_between_any_two_steps_leaves_one_table_or_the_other(study, tmp_path):
    cities = tmp_path / "cities.csv"
    cities.write_text(CITIES, encoding="utf-8")
    found = []
    while "all" not in found:
        folder = tmp_path / str(len(found)) / "project"
        shutil.copytree(study, folder)
        desk = Session(Project(folder))
        with pytest.MonkeyPatch.context() as patch:
            lives(patch, len(found))
            try:
                open_in(desk, cities)
            except Killed:
                found.append("")
            else:
                found.append("all")
        again = Session(Project(folder))
        found[-1] = found[-1] or check_whole(again)
        open_in(again, cities)
        assert check_whole(again) == "cities.csv"
        assert [each.name for each in (folder / "tables").iterdir()] == [str(again.project.table)]
    before = found.count("persons.csv")
    assert before > 4
    assert found[before:] == [*["cities.csv"] * (len(found) - before - 1), "all"]
    assert len(found) - before > 4


def test_the_same_table_read_again_begins_anew(study, tmp_path, persons_csv):
    shutil.copytree(study, tmp_path / "project")
    desk = Session(Project(tmp_path / "project"))
    sha256 = desk.recipe.input_sha256
    open_in(desk, persons_csv)
    assert desk.recipe.input_sha256 == sha256
    assert desk.recipe.max_suppressed == 0
    assert desk.history.earlier is None
    assert desk.latest("risk") is None


def test_a_project_whose_table_is_gone_asks_for_one(study, tmp_path, persons_csv):
    shutil.copytree(study, tmp_path / "project")
    shutil.rmtree(tmp_path / "project" / "tables" / "1")
    desk = Session(Project(tmp_path / "project"))
    assert not desk.opened
    open_in(desk, persons_csv)
    assert desk.opened
