"""The recipe is the only truth: changes of an old page, and what is no recipe, are refused."""

from __future__ import annotations

import pytest


def test_two_tabs_stay_honest(opened_client):
    version = opened_client.desk.version
    assert opened_client.patch((["release", "max_suppressed"], 0.1), version=version).status_code == 200
    late = opened_client.patch((["release", "max_suppressed"], 0.2), version=version)
    assert late.status_code == 409
    assert opened_client.get("/recipe").json()["recipe"]["release"]["max_suppressed"] == 0.1
    opened_client.post("/undo")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (["release", "max_suppressed"], 2, "records that may be left out"),
        (["release", "nothing"], 1, "nothing"),
        (["models"], [], "at least one model"),
        (["models"], [{"name": "k-anonymity", "k": 0}], "k"),
        (["models"], [{"name": "k-anonimity", "k": 5}], "k-anonymity"),
        (["algorithm"], {"name": "magic"}, "magic"),
        (["attributes", "age", "role"], "friend", "role"),
        (["attributes", "age", "hierarchy"], {"kind": "intervals", "widths": [0]}, "width"),
    ],
)
def test_the_library_says_what_is_no_recipe(opened_client, place, value, said):
    before = opened_client.get("/recipe.toml").text
    answer = opened_client.patch((place, value))
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert opened_client.get("/recipe.toml").text == before


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"version": "1", "step": "roles", "set": []},
        {"version": 1, "step": "elsewhere", "set": []},
        {"version": 1, "step": "roles", "set": [["release", 1]]},
        {"version": 1, "step": "roles", "set": [[[], 1]]},
        {"version": 1, "step": "roles", "set": {"a": 1}},
        {"version": 1, "step": "roles", "set": [[["release", 5], 1]]},
        {"version": 1, "step": "roles", "set": [[["release", "missing", "deeper"], 1]]},
        {"version": 1, "step": "roles", "set": [[["models", "deeper"], 1]]},
        {"version": 1, "step": "roles", "roles": ["quasi"]},
        {"version": 1, "step": "roles", "roles": {"1": ["quasi"]}},
    ],
)
def test_changes_that_are_none_are_refused(opened_client, body):
    if "version" in body and isinstance(body["version"], int):
        body = {**body, "version": opened_client.desk.version}
    assert opened_client.send("PATCH", "/recipe", json=body).status_code == 422


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b"null"])
def test_bodies_that_are_no_objects_are_refused(opened_client, content):
    assert opened_client.send("PATCH", "/recipe", content=content).status_code == 422
    assert opened_client.send("POST", "/jobs", content=content).status_code == 422


@pytest.mark.parametrize("verb", [None, "open", "nothing", "../worker", "os", "__init__", 5])
def test_only_known_jobs_are_started(opened_client, verb):
    assert opened_client.post("/jobs", {"verb": verb}).status_code == 422


@pytest.mark.parametrize("number", ["99", "-1", "x"])
def test_unknown_columns_and_changes_are_refused(opened_client, number):
    assert opened_client.get(f"/columns/{number}").status_code in {404, 422}
    assert opened_client.post(f"/changes/{number}").status_code in {404, 422}
    body = {"version": opened_client.desk.version, "step": "roles", "roles": {number: "quasi"}}
    assert opened_client.send("PATCH", "/recipe", json=body).status_code == 422


@pytest.mark.parametrize("query", ["from=-1", "from=x", "count=1000", "from=99999999999999999999999", "count=²"])
def test_odd_pages_of_rows_are_refused(opened_client, query):
    assert opened_client.get(f"/rows/original?{query}").status_code == 422


def test_rows_come_by_page(opened_client):
    content = opened_client.get("/rows/original?from=238&count=10").json()
    assert content["rows"] == 240
    assert content["columns"][0] == ["Person 0238", "Person 0239"]


def test_before_a_table_is_open_every_page_says_so(bench_client):
    for step in ("roles", "hierarchies", "promise", "search", "explore", "utility", "risk", "release"):
        assert "There is no table yet." in bench_client.get(f"/{step}").text
    for path in ("/recipe", "/recipe.toml", "/recipe.py", "/rows/original"):
        answer = bench_client.get(path)
        assert answer.status_code == 422
        assert answer.json()["error"] == "Open a table first."
    assert bench_client.post("/jobs", {"verb": "risk"}).status_code == 422


def test_pages_are_in_the_language_of_the_switch_or_the_browser(opened_client):
    chinese = opened_client.get("/roles", headers={"accept-language": "zh-CN,en;q=0.5"}).text
    assert "每一列是什么" in chinese
    assert "What is each column?" in opened_client.get("/roles", headers={"accept-language": "fr"}).text
    answer = opened_client.post("/language", {"language": "zh"})
    assert answer.status_code == 204
    assert opened_client.post("/language", {"language": "x\r\nset-cookie: a=b"}).status_code == 422


def test_a_body_that_is_too_long_is_refused_while_it_comes(opened_client, monkeypatch):
    monkeypatch.setattr("sfumato.workbench._requests.MOST", 1000)
    for content in (b"x" * 1001, b'{"version": 1, "x": "' + b"a" * 1000 + b'"}'):
        answer = opened_client.send("PATCH", "/recipe", content=content)
        assert answer.status_code == 422
        assert "1,000" in answer.json()["error"]
