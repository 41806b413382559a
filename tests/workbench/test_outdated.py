"""Candidates that contradict the recipe on screen: gray, with their own guarantee, and written on purpose only."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest


@pytest.fixture
def outdated(bench_client, persons_csv):
    """Return a client whose only candidate publishes `job` at k = 5, while the recipe has other roles and k = 50."""
    assert bench_client.open(persons_csv).state == "done"
    bench_client.patch((["attributes", "job", "role"], "insensitive"), (["models", "0", "k"], 5))
    assert bench_client.job("anonymize").state == "done"
    changed = bench_client.patch((["attributes", "job", "role"], "identifier"), (["models", "0", "k"], 50))
    assert changed.status_code == 200
    return bench_client


def shown(client, language="en"):
    page = unescape(client.get("/release", headers={"accept-language": language}).text)
    return re.search(r"<main.*</main>", page, re.DOTALL)[0]


def test_an_outdated_candidate_is_gray_and_names_its_own_guarantee_and_what_differs(outdated):
    page = shown(outdated)
    assert 'class="verdict gray"' in page
    assert "The promise holds" not in page
    guarantee = re.search(r'<ul id="guarantee">(.*?)</ul>', page, re.DOTALL)[1]
    assert "at least 4 others" in guarantee
    assert "Published as they are: job, disease" in guarantee
    differs = re.search(r'<ul id="differs">(.*?)</ul>', page, re.DOTALL)[1]
    assert "job: insensitive → identifier" in differs
    assert "(k): 5 → 50" in differs
    assert "重新搜索" in shown(outdated, "zh")


def test_the_server_writes_it_only_on_purpose(outdated):
    desk = outdated.desk
    refusals = [
        ({}, 409, "Outdated"),
        ({"reason": "a test"}, 409, "Outdated"),
        ({"version": desk.version - 1, "reason": "a test"}, 409, "Stale"),
        ({"version": desk.version}, 422, "InvalidParameterError"),
        ({"version": desk.version, "reason": "  "}, 422, "InvalidParameterError"),
    ]
    for given, status, kind in refusals:
        answer = outdated.post("/jobs", {"verb": "write", "candidate": 1, **given})
        assert (answer.status_code, answer.json()["kind"]) == (status, kind), given
    assert desk.project.numbered_folders("releases") == []
    done = outdated.job("write", candidate=1, version=desk.version, reason="asked for by the client")
    assert done.state == "done", done.error
    inside = desk.project.folder / "releases" / "1" / "internal" / "outdated.json"
    kept = json.loads(inside.read_text(encoding="utf-8"))
    assert kept["reason"] == "asked for by the client"
    assert {"place": ["attributes", "job", "role"], "released": "insensitive", "recipe": "identifier"} in kept[
        "differs"
    ]
    assert not list((desk.project.folder / "releases" / "1" / "public").rglob("outdated*"))
    assert "asked for by the client" in shown(outdated)


def test_a_candidate_of_the_present_recipe_needs_no_reason(outdated):
    assert outdated.post("/undo").status_code == 200
    assert 'class="verdict gray"' not in shown(outdated)
    assert outdated.job("write", candidate=1).state == "done"
    assert not (outdated.desk.project.folder / "releases" / "1" / "internal" / "outdated.json").exists()


def test_its_recipe_can_be_gone_back_to(outdated):
    assert outdated.post("/candidates/1/adopt").status_code == 200
    assert outdated.desk.recipe.models[0].k == 5
    assert outdated.job("write", candidate=1).state == "done"


def written(client, number):
    return re.search(f'<section aria-labelledby="release-{number}".*?</section>', shown(client), re.DOTALL)[0]


def step(client, name):
    return re.search(f'<a href="{name}".*?</a>', client.get("/data").text)[0]


def test_a_release_that_was_written_says_when_the_recipe_has_changed_since(outdated):
    assert outdated.post("/undo").status_code == 200
    assert outdated.job("write", candidate=1).state == "done"
    assert "outdated" not in written(outdated, 1)
    assert "at least 4 others" in written(outdated, 1)
    assert 'class="done"' in step(outdated, "release")
    assert outdated.post("/redo").status_code == 200
    now = written(outdated, 1)
    assert 'class="written outdated"' in now
    assert "The recipe was changed since" in now
    assert "Published as they are: job, disease" in now
    assert "good" not in now
    assert 'class="older"' in step(outdated, "release")
    assert 'class="badge good">holds' not in outdated.get("/explore").text
    other = b"age,disease\n" + b"".join(f"{20 + n},{'flu' if n % 2 else 'cold'}\n".encode() for n in range(20))
    assert outdated.follow(outdated.upload(other, "other.csv").json()["job"]).state == "done"
    outdated.patch((["models"], [{"name": "k-anonymity", "k": 2}]))
    assert outdated.job("anonymize").state == "done"
    now = written(outdated, 1)
    assert "a table that is not open any more" in now
    assert "good" not in now
    assert 'class="older"' in step(outdated, "release")
