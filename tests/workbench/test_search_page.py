"""The page of searches: every algorithm can be chosen and says what it gives, in the language of the page."""

from __future__ import annotations

import io
import json
import re
from html import unescape

import pytest

from sfumato._locale.messages import load_messages
from sfumato.tables._catalogue import ALGORITHMS, RECOMMENDED
from sfumato.workbench import worker
from sfumato.workbench._jobs import Job


def drawn(client, language="en"):
    answer = client.get("/search", headers={"accept-language": language})
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_algorithm_says_what_it_gives(opened_client, language):
    page, say = drawn(opened_client, language), load_messages(language)
    assert all(say(f"algorithms.reason.{name}") in page for name in RECOMMENDED)
    named = [name for name in ALGORITHMS.built_in if name != "fixed-levels"]
    assert all(say(f"algorithms.gives.{name}") in page for name in named)


@pytest.mark.parametrize("name", [name for name in ALGORITHMS.built_in if name != "fixed-levels"])
def test_every_algorithm_can_be_chosen_and_shows_its_parameters_as_fields_of_their_types(opened_client, name):
    at = opened_client.desk.history.at
    answer = opened_client.get("/search").text
    change = re.search(rf"id=\"pick-{name}\"[^>]*data-patch='([^']+)'", answer)[1]
    assert opened_client.patch(*json.loads(unescape(change))["set"], step="search").status_code == 200
    page = drawn(opened_client)
    assert opened_client.desk.recipe.algorithm.name == name
    assert (load_messages("en")(f"algorithms.gives.{name}") in page) or name in RECOMMENDED
    if name == "mdav":
        assert re.search(r'<select id="parameter-publish"[^>]*><option value="centers" selected>', page)
    opened_client.desk.go_to_change(at)


def test_an_optimal_search_tells_the_best_so_far_and_a_bound(opened_client, monkeypatch):
    monkeypatch.setattr(worker, "BETWEEN", 0.0)
    desk = opened_client.desk
    recipe = {**desk.recipe.to_dict(), "algorithm": {"name": "optimal"}}
    said = io.StringIO()
    job = {"verb": "anonymize", "table": desk.project.table, "request": {"recipe": recipe, "number": 77}}
    worker.serve(worker.WorkerState(desk.project.folder), job, said)
    told = [json.loads(line) for line in said.getvalue().splitlines()]
    assert told[-1] == {"result": {"candidate": 77}}
    figures = [each["figures"] for each in told[:-1] if each["figures"]]
    assert figures
    assert all(0 <= each["bound"] <= each["found"] for each in figures)


def test_figures_are_told_to_the_page():
    job = Job(verb="anonymize", table=1, request={}, asked={}, key="", figures={"found": 0.5, "bound": 0.25})
    assert job.facts()["figures"] == {"found": 0.5, "bound": 0.25}
