"""The studio: drafts and what they do, changes of groups, hierarchy files in and out, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli._application import app
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.workbench._pages.hierarchies import uncovered_columns
from sfumato.workbench._routes import hierarchies

JOBS = ("nurse", "cook", "clerk", "smith")
AGE, SEX, JOB, ADMITTED = 0, 1, 2, 3
TREE = {"kind": "taxonomy", "tree": {"services": ["nurse", "cook", "clerk"], "crafts": ["smith"]}}
PLACE = ["attributes", "job", "hierarchy"]


@pytest.fixture(scope="module")
def people_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    rows = [("age", "sex", "job", "admitted", "disease")]
    for n in range(222):
        month = f"{2020 + n % 4}-{1 + n % 12:02}-15"
        rows.append((17 + n % 74, "fm"[n % 2], JOBS[n % 4], month, ("flu", "cold", "cough")[n % 3]))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


@pytest.fixture(scope="module")
def people(opened_client, people_csv):
    job = opened_client.open(people_csv)
    assert job.state == "done", job.error
    quasi = [(["attributes", name, "role"], "quasi") for name in ("age", "sex", "job", "admitted")]
    assert opened_client.patch(*quasi, step="roles").status_code == 200
    return opened_client


@pytest.fixture
def desk(people):
    """Return a client of the table, and leave the recipe as it was."""
    before = people.desk.history.at
    yield people
    people.desk.go_to_change(before)


def test_widths_5_10_and_20_give_16_9_and_5_intervals(desk):
    seen = desk.post(f"/hierarchies/{AGE}/preview", {"hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}}).json()
    assert [level["labels"] for level in seen["outline"]["levels"]] == [74, 16, 9, 5, 1]
    assert seen["outline"]["uncovered"] == []
    assert seen["pictures"]["wide"]["svg"].startswith("<svg")
    assert "style=" not in seen["pictures"]["wide"]["svg"]
    assert seen["cuts"][2] == [0, 20, 40, 60, 80, 100]


def test_a_draft_changes_nothing(desk):
    before = desk.get("/recipe.toml").text
    assert desk.post(f"/hierarchies/{JOB}/preview", {"hierarchy": TREE}).status_code == 200
    assert desk.get("/recipe.toml").text == before


def test_what_the_library_refuses_is_told_in_its_sentence(desk):
    answer = desk.post(f"/hierarchies/{AGE}/preview", {"hierarchy": {"kind": "intervals", "widths": [5, 7]}})
    assert answer.status_code == 422
    assert "each a multiple of the one before" in answer.json()["error"]
    assert desk.post("/hierarchies/99/preview", {"hierarchy": TREE}).status_code == 422


@pytest.mark.parametrize(
    ("column", "kind", "found"),
    [
        (AGE, "intervals", {"kind": "intervals", "widths": [2, 10, 20, 40]}),
        (ADMITTED, "intervals", {"kind": "intervals", "widths": ["day", "month", "quarter", "year"]}),
        (JOB, "taxonomy", {"kind": "taxonomy", "tree": ["clerk", "cook", "nurse", "smith"]}),
        (JOB, "ordered-groups", {"kind": "ordered-groups", "groups": ["clerk", "cook", "nurse", "smith"]}),
        (JOB, "prefixes", {"kind": "prefixes"}),
    ],
)
def test_a_kind_is_proposed(desk, column, kind, found):
    seen = desk.post(f"/hierarchies/{column}/preview", {"hierarchy": None, "kind": kind}).json()
    assert seen["hierarchy"] == found
    assert seen["outline"]["uncovered"] == []


def test_a_kind_that_does_not_fit_is_a_problem_and_no_error(desk):
    seen = desk.post(f"/hierarchies/{JOB}/preview", {"hierarchy": None, "kind": "intervals"}).json()
    assert "numbers or dates" in seen["problem"]


@pytest.mark.parametrize(
    ("change", "tree"),
    [
        (
            {"do": "move", "labels": ["clerk"], "to": "crafts"},
            {"services": ["nurse", "cook"], "crafts": ["clerk", "smith"]},
        ),
        ({"do": "move", "labels": ["baker"], "to": "crafts"}, {**TREE["tree"], "crafts": ["smith", "baker"]}),
        (
            {"do": "group", "labels": ["nurse", "cook"], "name": "indoors"},
            {"services": [{"indoors": ["nurse", "cook"]}, "clerk"], "crafts": ["smith"]},
        ),
        (
            {"do": "rename", "labels": ["crafts"], "name": "trades"},
            {"services": ["nurse", "cook", "clerk"], "trades": ["smith"]},
        ),
        ({"do": "split", "labels": ["crafts"]}, [{"services": ["nurse", "cook", "clerk"]}, "smith"]),
        ({"do": "merge", "labels": ["services", "crafts"]}, ["nurse", "cook", "clerk", "smith"]),
    ],
    ids=lambda given: given.get("do") if isinstance(given, dict) else None,
)
def test_groups_are_changed_step_by_step(desk, change, tree):
    made = desk.post(f"/hierarchies/{JOB}/change", {"hierarchy": TREE, "change": change}).json()["hierarchy"]
    assert Taxonomy.from_dict(made) == Taxonomy(tree)


def test_an_order_is_shifted(desk):
    asked = {
        "hierarchy": {"kind": "ordered-groups", "groups": ["a", "b"]},
        "change": {"do": "shift", "labels": ["b"], "by": -1},
    }
    assert desk.post(f"/hierarchies/{JOB}/change", asked).json()["hierarchy"]["groups"] == ["b", "a"]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"do": "move", "labels": []},
        {"do": "explode", "labels": ["nurse"]},
        {"do": "rename", "labels": ["services", "crafts"]},
    ],
)
def test_changes_that_say_nothing_are_refused(desk, change):
    answer = desk.post(f"/hierarchies/{JOB}/change", {"hierarchy": TREE, "change": change})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Mark ")


def upload(desk, content, name="jobs.csv"):
    return desk.send("POST", f"/hierarchies/{JOB}/file", content=content, headers={"x-file-name": name})


def test_a_file_that_lacks_a_value_is_named_and_the_search_page_links_to_it(desk):
    made = upload(desk, b"nurse;services;*\ncook;services;*\nsmith;crafts;*\n").json()["hierarchy"]
    assert made == {"kind": "taxonomy", "tree": {"services": ["nurse", "cook"], "crafts": ["smith"]}}
    assert desk.patch((PLACE, made), step="hierarchies").status_code == 200
    assert desk.post("/hierarchies/coverage").status_code == 204
    assert uncovered_columns(desk.desk) == [{"number": JOB, "name": "job", "values": 1}]
    page = desk.get("/search").text
    assert f'href="hierarchies?column={JOB}"' in page
    assert "1 value left" in page
    assert "1 value left" in desk.get("/hierarchies").text
    seen = desk.post(f"/hierarchies/{JOB}/preview", {"hierarchy": made}).json()
    assert seen["outline"]["uncovered"] == ["clerk"]
    assert "1 value has no place" in desk.get(f"/hierarchies?column={JOB}").text


def test_a_search_on_values_that_nobody_counted_is_refused_with_a_link(desk):
    short = {"kind": "taxonomy", "tree": {"services": ["nurse", "cook"], "crafts": ["smith"]}}
    assert desk.patch((PLACE, short), step="hierarchies").status_code == 200
    job = desk.job("anonymize")
    assert (job.state, job.kind) == ("failed", "HierarchyError")
    assert 'id="advice-hierarchies" href="hierarchies"' in desk.get("/search").text


def test_a_file_may_be_chinese_and_separated_by_commas(desk):
    made = upload(desk, "nurse,服务业,*\nsmith,手工业,*\n".encode("gb18030")).json()["hierarchy"]
    assert made["tree"] == {"服务业": ["nurse"], "手工业": ["smith"]}


def test_files_that_are_no_hierarchy_are_refused_by_their_own_name(desk, monkeypatch):
    answer = upload(desk, b"a;x;*\nb;*\n", "../../my jobs.csv")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Line 2 of my jobs.csv has 2 columns")
    assert str(desk.desk.project.folder) not in upload(desk, b"\x00\xff\xfe\x81", "x.csv").text
    monkeypatch.setattr(hierarchies, "LARGEST", 10)
    assert upload(desk, b"nurse;services;*\n").status_code == 413


def test_a_saved_file_is_the_one_that_the_command_line_makes(desk, people_csv):
    answer = desk.get(f"/hierarchies/{AGE}.csv")
    assert answer.headers["content-disposition"].startswith("attachment")
    made = CliRunner().invoke(app, ["hierarchy", "make", str(people_csv), "--column", "age"])
    assert answer.text == made.stdout
    assert desk.get(f"/hierarchies/{SEX}.csv").status_code == 422
    assert desk.get("/hierarchies/99.csv").status_code == 422


def test_uploads_are_for_their_owner_alone(desk):
    upload(desk, b"nurse;services;*\n")
    kept = Path(desk.desk.project.folder) / "hierarchies" / f"{JOB}.csv"
    assert kept.stat().st_mode & 0o077 == 0


def test_pages_without_quasi_identifiers_say_so(desk):
    numbers = {str(number): "insensitive" for number in (AGE, SEX, JOB, ADMITTED)}
    assert desk.patch(step="roles", roles=numbers).status_code == 200
    assert "No column needs to become coarser" in desk.get("/hierarchies").text


@pytest.mark.parametrize("query", ["", "?column=99", "?column=x", "?tab=nothing", f"?column={JOB}&tab=intervals"])
def test_any_query_gives_a_page(desk, query):
    assert desk.get(f"/hierarchies{query}").status_code == 200


def test_a_hierarchy_that_does_not_fit_its_column_is_told(desk):
    assert desk.patch((PLACE, {"kind": "intervals", "widths": [5]}), step="hierarchies").status_code == 200
    desk.post("/hierarchies/coverage")
    assert "does not fit" in desk.get("/hierarchies").text
    assert uncovered_columns(desk.desk) == [{"number": JOB, "name": "job", "values": 0}]
