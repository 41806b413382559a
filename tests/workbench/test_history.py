"""The history: unlimited undo, branches that stay, and a file that tells it all again."""

from __future__ import annotations

import copy
import errno
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import WriteError
from sfumato.workbench._history import ChangeHistory, apply_changes, differences

VALUES = st.recursive(
    st.integers(0, 3) | st.text("ab", max_size=2), lambda inner: st.lists(inner, max_size=2), max_leaves=4
)
ENTRIES = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)
RECIPES = st.fixed_dictionaries(
    {
        "release": ENTRIES,
        "attributes": st.dictionaries(st.sampled_from(["age", "sex"]), ENTRIES, max_size=2),
        "models": st.lists(ENTRIES, max_size=2),
    }
)


@given(before=RECIPES, after=RECIPES)
@examples(200)
def test_differences_lead_from_one_recipe_to_the_other_and_back(before, after):
    changed = differences(before, after)
    there = copy.deepcopy(before)
    apply_changes(there, changed)
    assert there == after
    apply_changes(there, [(place, new, old) for place, old, new in changed])
    assert there == before


@given(recipes=st.lists(RECIPES, min_size=1, max_size=6))
@examples(40)
def test_every_state_can_be_had_again(recipes, tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "history.jsonl"
    history = ChangeHistory(path)
    history.begin(recipes[0], 1)
    states = {history.at: recipes[0]}
    for recipe in recipes[1:]:
        if history.add(history.recipe(history.at), recipe, "roles"):
            states[history.at] = recipe
    read = ChangeHistory(path)
    assert read.at == history.at
    assert read.version == history.version
    assert {number: read.recipe(number) for number in states} == states


@pytest.fixture
def history(tmp_path):
    made = ChangeHistory(tmp_path / "history.jsonl")
    made.begin({"release": {"n": 0}}, 1)
    return made


def change(history, n):
    history.add(history.recipe(history.at), {"release": {"n": n}}, "promise")


def test_branches_stay_and_redo_takes_the_newest(history):
    change(history, 1)
    history.go_to(history.earlier)
    change(history, 2)
    history.go_to(history.earlier)
    assert history.later == 2
    assert [each.number for each in history.reachable()] == [0, 1, 2]
    history.go_to(1)
    assert history.recipe(history.at) == {"release": {"n": 1}}


def test_nothing_is_before_the_table_was_opened(history):
    assert history.earlier is None
    history.begin({"release": {"n": 7}}, 2)
    assert history.earlier is None
    assert [each.number for each in history.reachable()] == [1]


def test_no_change_is_no_entry(history):
    assert not history.add({"release": {"n": 0}}, {"release": {"n": 0}}, "roles")
    assert len(history.changes) == 1


def test_the_file_is_for_its_owner_alone(history):
    assert history.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", [b"{", b'{"number": 2, "pare', b'{"at": 0}', b"\xe6\x9d"])
def test_a_last_line_that_is_not_complete_was_never_written(history, cut):
    change(history, 1)
    whole = history.path.read_bytes()
    with history.path.open("ab") as file:
        file.write(cut)
    read = ChangeHistory(history.path)
    assert history.path.read_bytes() == whole
    assert (read.at, read.version, read.table) == (1, history.version, 1)
    change(read, 2)
    assert ChangeHistory(history.path).recipe(2) == {"release": {"n": 2}}


def test_a_full_disk_is_told_and_leaves_no_half_of_a_line(history, monkeypatch):
    class Full(io.FileIO):
        def write(self, content):
            super().write(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "full")

    change(history, 1)
    whole = history.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode: Full(str(path), mode))
        with pytest.raises(WriteError, match="The change cannot be kept: No space left on device"):
            change(history, 2)
    assert history.path.read_bytes() == whole
    assert (history.at, history.recipe(1)) == (1, {"release": {"n": 1}})
    change(history, 3)
    assert ChangeHistory(history.path).recipe(2) == {"release": {"n": 3}}


def test_a_hundred_changes_and_a_hundred_undos(opened_client):
    first = opened_client.get("/recipe").json()["recipe"]
    for n in range(100):
        answer = opened_client.patch((["release", "max_suppressed"], (n + 1) / 1000), step="search")
        assert answer.status_code == 200, answer.text
    for _ in range(100):
        assert opened_client.post("/undo").status_code == 200
    assert opened_client.get("/recipe").json()["recipe"] == first
    for _ in range(100):
        opened_client.post("/redo")
    assert opened_client.get("/recipe").json()["recipe"]["release"]["max_suppressed"] == 0.1
    for _ in range(100):
        opened_client.post("/undo")


def test_undo_of_a_role_brings_back_the_first_recipe_in_its_order(opened_client):
    first = opened_client.get("/recipe.toml").text
    version = opened_client.desk.version
    body = {"version": version, "step": "roles", "roles": {"1": "", "3": "identifier"}}
    assert opened_client.send("PATCH", "/recipe", json=body).status_code == 200
    assert "[attributes.age]" not in opened_client.get("/recipe.toml").text
    opened_client.post("/undo")
    assert opened_client.get("/recipe.toml").text == first


def test_the_page_tells_every_change(opened_client):
    opened_client.patch((["release", "max_suppressed"], 0.25), step="search")
    page = opened_client.get("/history").text
    opened_client.post("/undo")
    assert "Records that may be left out: 0% → 25.0%" in page


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (["models", "0", "k"], 7, "k-anonymity · records in a group, at least (k): 5 → 7"),
        (["models", "1"], None, "no longer promised: distinct l-diversity (disease)"),
        (["algorithm"], {"name": "optimal"}, "Search · algorithm: mondrian → optimal"),
        (
            ["attributes", "age", "hierarchy"],
            {"kind": "intervals", "widths": [30]},
            "age becomes coarser in another way",
        ),
        (["attributes", "sex", "role"], "insensitive", "sex: quasi-identifier → insensitive"),
        (["attributes", "sex"], None, "sex: quasi-identifier → not published"),
    ],
)
def test_changes_are_told_in_words(opened_client, place, value, said):
    first = opened_client.desk.history.at
    assert opened_client.patch((place, value)).status_code == 200
    pages = [opened_client.get("/history", headers={"accept-language": each}).text for each in ("en", "zh")]
    opened_client.post(f"/changes/{first}")
    assert said in pages[0]
    assert said not in pages[1]
    assert "{" not in pages[0].partition("<tbody>")[2].partition("</tr>")[0]


def test_lines_hold_no_cells_but_those_of_a_recipe(opened_client):
    told = (opened_client.desk.project.folder / "history.jsonl").read_text(encoding="utf-8")
    assert "Person 0" not in told
    assert all(json.loads(line) for line in told.splitlines())
