"""`sfumato ways stream`: regions leave after the state is written, and all of them are judged together."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sfumato.cli._application import app
from sfumato.trajectories.streams import TrajectoryStream

START = ("--k", 2, "--area", "13.2,52.4,13.6,52.6")


@pytest.fixture
def batch(tmp_path):
    def written(name, *rows):
        lines = [f"{user},2026-01-05T08:{minute:02}:00Z,{lon},52.5" for user, minute, lon in rows]
        (tmp_path / name).write_text("\n".join(["user,time,lon,lat", *lines]) + "\n")
        return tmp_path / name

    return written


def update(run, state, file, out, *more):
    return run("ways", "stream", "update", state, file, "--person", "user", "--out", out, *more)


def test_batches_go_on_and_are_judged_together(run, batch, tmp_path):
    state, shown = tmp_path / "state", [tmp_path / f"shown{at}.csv" for at in range(3)]
    first = batch("one.csv", ("007", 0, 13.3), ("x", 0, 13.31))
    assert update(run, state, first, shown[0], *START).exit_code == 0
    second = batch("two.csv", ("007", 1, 13.4))  # a number in a batch of its own, and still the same person
    told = update(run, state, second, shown[1], "--json")
    assert json.loads(told.stdout) == {"regions": 1, "waiting": 0, "suppressed": 0, "late": 0}
    third = batch("three.csv", ("x", 2, 13.5)).read_bytes()
    piped = CliRunner().invoke(
        app, ["ways", "stream", "update", str(state), "-", "--person", "user", "--out", str(shown[2])], input=third
    )
    assert piped.exit_code == 0, piped.output
    assert "1 regions, written to" in piped.output
    keys = {line.split(",")[0] for each in shown for line in each.read_text().splitlines()[1:]}
    assert len(keys) == 1
    assert "Audit: holds" in run("ways", "stream", "audit", *shown, "--k", 2).output
    assert run("ways", "stream", "audit", *shown, "--k", 3).exit_code == 1


def test_bad_requests_change_nothing(run, batch, tmp_path):
    state, out = tmp_path / "state", tmp_path / "shown.csv"
    good = batch("one.csv", ("a", 0, 13.3), ("b", 0, 13.31))
    assert "give --k and --area to create it" in update(run, state, good, out).output
    assert not state.exists()
    assert update(run, state, good, out, *START).exit_code == 0
    before = state.read_bytes()
    for file, to, more, said in (
        (good, tmp_path / "next.csv", START, "already has its settings"),
        (good, out, (), "already exists"),
        (good, tmp_path / "nowhere" / "next.csv", (), "does not exist"),
        (batch("out.csv", ("a", 1, 14.3)), tmp_path / "next.csv", (), "outside the area"),
        (batch("none.csv"), tmp_path / "next.csv", (), "no rows"),
    ):
        refused = update(run, state, file, to, *more)
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output
    assert state.read_bytes() == before
    assert not (tmp_path / "next.csv").exists()
    assert "no stream of regions" in run("ways", "stream", "audit", good, "--k", 2).output
    for data in (b"", b'a,b\n"'):
        piped = CliRunner().invoke(app, ["ways", "stream", "update", str(state), "-", "--out", "x.csv"], input=data)
        assert (piped.exit_code, "Standard input" in piped.output) == (2, True), piped.output


def test_a_crash_between_the_state_and_what_may_leave_is_safe(run, batch, tmp_path, monkeypatch):
    state, points, out = tmp_path / "state", batch("one.csv", ("a", 0, 13.3), ("b", 0, 13.31)), tmp_path / "shown.csv"

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sfumato.io._writing.write", fail)
        assert update(run, state, points, out, *START).exit_code == 130
    assert state.exists()
    assert not out.exists()
    crowds = TrajectoryStream.load(state)._crowds.members()
    assert update(run, state, points, out).exit_code == 0
    assert {line.split(",")[0] for line in out.read_text().splitlines()[1:]} == set(crowds)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "shown.csv", "state"]


def test_keys_that_look_like_numbers_stay_texts(run, tmp_path):
    head = "key,time,persons,west,south,east,north"
    rows = [f"0{at},2026-01-05T08:0{at}:00Z,{2 + at},13.2,52.4,13.3,52.5" for at in range(2)]
    for name, lines in (("one.csv", rows), ("two.csv", ["00,2026-01-05T09:00:00Z,3,13.2,52.4,13.3,52.5"])):
        (tmp_path / name).write_text("\n".join([head, *lines]) + "\n")
    grown = run("ways", "stream", "audit", tmp_path / "one.csv", tmp_path / "two.csv", "--k", 2, "--json")
    assert (grown.exit_code, json.loads(grown.stdout)["models"][0]["broken"]) == (1, 1)
