"""The page of roles: what would be published although it may name somebody."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

LANGUAGES = {"en": "Nobody is named in it: publish it as it is", "zh": "其中没有提到任何人：原样发布"}


@pytest.fixture(scope="module")
def client(tmp_path_factory, opened_client):
    """Return a workbench on visits with notes about them."""
    folder = tmp_path_factory.mktemp("roles")
    notes = [f"{30 + row % 9},flu,Ms. Maier number {row} called and asked about her last results" for row in range(40)]
    (folder / "visits.csv").write_text("\n".join(["age,disease,note", *notes]), "utf-8")
    client = type(opened_client)(folder / "project")
    assert client.open(folder / "visits.csv").state == "done"
    yield client
    client.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_free_text_is_published_only_after_a_box_is_ticked(client, language):
    client.patch([["attributes", "note", "role"], "insensitive"], [["release", "publish_text"], []])
    page = client.get("/roles", headers={"accept-language": language}).text
    assert LANGUAGES[language] in page
    assert "checked" not in page.partition('id="text-2"')[2].partition(">")[0]
    (change,) = re.findall(r'id="text-2" data-change="([^"]*)"', page)
    client.patch(*json.loads(unescape(change))["set"])
    assert client.desk.recipe.publish_text == ("note",)
    assert (
        "checked"
        in client.get("/roles", headers={"accept-language": language})
        .text.partition('id="text-2"')[2]
        .partition(">")[0]
    )
