"""The page of searches: every algorithm can be chosen and says what it gives, in the language of the page."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from sfumato.catalogue import ALGORITHMS, RECOMMENDED
from sfumato.words import words_in


def drawn(client, language="en"):
    answer = client.get("/search", headers={"accept-language": language})
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_algorithm_says_what_it_gives(opened_client, language):
    page, say = drawn(opened_client, language), words_in(language)
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
    assert (words_in("en")(f"algorithms.gives.{name}") in page) or name in RECOMMENDED
    if name == "mdav":
        assert re.search(r'<select id="parameter-publish"[^>]*><option value="centers" selected>', page)
    opened_client.desk.go(at)
