"""The page of promises: presets, every model of the catalogue, refusals at their place, and single sensitive cells."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import fields
from html import unescape

import pytest

from sfumato._locale.messages import load_messages
from sfumato.core.model import parameter_name
from sfumato.tables._catalogue import MODELS
from sfumato.tables._pipeline.presets import PRESETS, starting_model

NEEDS_MORE = {
    "p-plus-sensitive-k-anonymity": {"categories": {"flu": "cold", "cold": "cold", "cough": "other"}},
    "m-distinct": {"stays": {"flu": ["cold"]}},
    "hpk-anonymity": {"levels": {"flu": 1, "cold": 2, "cough": 2}},
    "ke-anonymity": {"sensitive": "pay"},
    "epsilon-m-anonymity": {"sensitive": "pay"},
}
LANGUAGES = {"en": {"accept-language": "en"}, "zh": {"accept-language": "zh"}}


@pytest.fixture(scope="module")
def client(tmp_path_factory, persons_csv, opened_client):
    """Return a workbench on persons of whom one column is flags and one is numbers."""
    folder = tmp_path_factory.mktemp("promise")
    rows = list(csv.reader(persons_csv.read_text(encoding="utf-8").splitlines()))
    path = folder / "flagged.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*rows[0], "pay", "hide_job"])
        writer.writerows([*row, 1000 + at * 37 % 900, at % 5 == 0] for at, row in enumerate(rows[1:]))
    client = type(opened_client)(folder / "project")
    assert client.open(path).state == "done"
    numbers = {name: str(at) for at, name in enumerate(client.desk.columns)}
    roles = {numbers["disease"]: "sensitive", numbers["pay"]: "sensitive", numbers["job"]: "quasi"}
    assert client.patch(step="roles", roles=roles).status_code == 200
    yield client
    client.close()


@pytest.fixture(autouse=True)
def as_it_was(client):
    """Take back what a test changed."""
    at = client.desk.history.at
    yield
    client.desk.go_to_change(at)


def drawn(client, language="en", query=""):
    answer = client.get(f"/promise{query}", headers=LANGUAGES[language])
    assert answer.status_code == 200, answer.text
    return answer.text


def changes(page, attribute="data-patch"):
    """Return the changes that buttons of a page make, by their ids."""
    found = re.findall(rf"<(?:button|input)[^>]*?id=\"([^\"]+)\"[^>]*?{attribute}='([^']+)'", page)
    made = {name: json.loads(unescape(change)) for name, change in found}
    return {name: change["set"] for name, change in made.items() if "set" in change}


def test_the_proposal_for_research_partners_is_chosen_at_first_and_can_be_seen_in_the_recipe(client):
    client.patch(*changes(drawn(client))["preset-research-partner"])
    page = drawn(client)
    assert re.search(r'id="preset-research-partner" aria-pressed="true"', page)
    fragment = unescape(re.search(r'<pre id="fragment"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])
    assert "[[models]]" in fragment
    assert "k = 5" in fragment
    assert "l = 2" in fragment


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_chosen_and_says_why(client, name):
    assert client.patch(*changes(drawn(client))[f"preset-{name}"]).status_code == 200
    page = drawn(client)
    assert f'id="preset-{name}" aria-pressed="true"' in page
    assert load_messages("en")(f"presets.{name}.reason") in unescape(page)
    assert client.desk.recipe.models[0].k == PRESETS[name].k
    assert client.desk.recipe.max_suppressed == PRESETS[name].max_suppressed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_of_the_catalogue_can_be_added_and_shows_all_its_parameters(client, name, language):
    assert f'href="promise?add={name}#adding"' in drawn(client, language)
    form = drawn(client, language, f"?add={name}").partition('id="adding"')[2].partition("</form>")[0]
    model = {**starting_model(MODELS[name], "disease"), **NEEDS_MORE.get(name, {})}
    asked = set(re.findall(r'<(?:input|select|textarea)[^>]*? name="(\w+)"', form))
    assert asked == set(model) - {"name"}
    place = str(len(client.desk.recipe.models))
    assert f'data-add="{place}" data-name="{name}"' in form
    answer = client.patch((["models", place], model))
    assert answer.status_code == 200, answer.text
    assert client.desk.recipe.models[-1].name == name
    card = drawn(client, language).partition(f'id="model-{place}"')[2]
    shown = set(re.findall(rf'id="model-{place}-(\w+?)(?:-\d+)?"', card))
    assert {parameter_name(field) for field in fields(MODELS[name])} <= shown
    assert load_messages(language)("workbench_promise.six") in card


def test_numbers_are_changed_at_their_place_and_bad_ones_are_refused_by_the_library(client):
    assert client.patch((["models", "0", "k"], 7)).status_code == 200
    assert client.desk.recipe.models[0].k == 7
    answer = client.patch((["models", "0", "k"], 0))
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidParameterError")
    answer = client.patch((["models", "0", "k"], None))
    assert "also needs k" in answer.json()["error"]
    assert client.desk.recipe.models[0].k == 7


@pytest.mark.parametrize("place", [["models", "99"], ["models", "x"], ["models", "-1", "k"], ["models", "99", "k"]])
def test_a_place_that_is_not_there_is_refused(client, place):
    answer = client.patch((place, 3))
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidParameterError")


def test_a_model_is_removed_but_never_the_last(client):
    for left in range(len(client.desk.recipe.models) - 1, 0, -1):
        assert client.patch(*changes(drawn(client))["model-1-remove"]).status_code == 200
        assert len(client.desk.recipe.models) == left
    answer = client.patch(*changes(drawn(client))["model-0-remove"])
    assert answer.status_code == 422
    assert "at least one model" in answer.json()["error"]


def test_what_nothing_can_keep_is_told_beside_its_field(client):
    models = [{"name": "k-anonymity", "k": 5}, {"name": "distinct-l-diversity", "l": 9, "sensitive": "disease"}]
    client.patch((["models"], models))
    assert 'data-auto-job=\'{"verb": "check"}\'' in drawn(client)
    job = client.job("check")
    assert [each["model"] for each in job.result["refusals"]] == [1]
    page = drawn(client)
    assert '{"verb": "check"}' not in page
    assert 'id="model-1-refused" role="alert"' in page
    assert 'id="model-0-refused"' not in page
    field = re.search(r'<input[^>]*id="model-1-l"[^>]*>', page)[0]
    assert 'aria-invalid="true" aria-describedby="model-1-refused"' in field
    assert "The promise cannot be kept" in page
    assert "承诺" in drawn(client, "zh").partition('id="model-1-refused"')[2][:200]


def test_what_belongs_to_no_model_is_told_above_all(client):
    client.patch((["algorithm"], {"name": "anatomy"}))
    client.job("check")
    assert 'role="alert" id="refused-0"' in drawn(client)


def test_offers_are_what_a_column_does_not_have_yet(client):
    client.patch((["models"], [{"name": "k-anonymity", "k": 5}]))
    number = client.desk.columns.index("disease")
    offered = changes(drawn(client))
    client.patch(*offered[f"group-{number}-distinct-l-diversity"])
    after = changes(drawn(client))
    assert f"group-{number}-distinct-l-diversity" not in after
    assert f"group-{number}-t-closeness" in after
    assert "group-identity-k-anonymity" not in after


def test_quasi_identifiers_of_a_model_are_boxes_that_change_the_recipe(client):
    boxes = changes(drawn(client), "data-change")
    assert client.patch(*boxes["model-0-quasi-0"]).status_code == 200
    assert len(client.desk.recipe.models[0].quasi) == 1
    assert client.patch(*changes(drawn(client), "data-change")["model-0-quasi-0"]).status_code == 200
    assert client.desk.recipe.models[0].quasi == ()


def flagging(client, column, flag):
    numbers = {name: str(at) for at, name in enumerate(client.desk.columns)}
    body = {"version": client.desk.version, "step": "promise", "flags": {numbers[column]: numbers.get(flag, flag)}}
    return client.send("PATCH", "/recipe", json=body)


def test_cells_are_flagged_by_a_column_which_is_then_not_published(client):
    assert flagging(client, "job", "hide_job").status_code == 200
    assert client.desk.recipe.schema.flags == {"job": "hide_job"}
    assert "hide_job" not in client.desk.recipe.schema.attributes
    page = drawn(client)
    assert "What the flagged cells of “job” tell about a person" in unescape(page)
    assert client.patch(*changes(page)["serve-flags"]).status_code == 200
    assert client.desk.recipe.algorithm.name == "local-anatomy-generalization"
    assert 'id="serve-flags"' not in drawn(client)
    assert flagging(client, "job", "").status_code == 200
    assert client.desk.recipe.schema.flags == {}


@pytest.mark.parametrize("flag", ["99", "-1", "x", 99, True, ["1"]])
def test_flags_by_a_column_that_is_not_there_are_refused(client, flag):
    answer = client.send(
        "PATCH", "/recipe", json={"version": client.desk.version, "step": "promise", "flags": {"1": flag}}
    )
    assert (answer.status_code, answer.json()["error"]) == (422, "There is no such column.")


def test_a_table_without_a_column_of_flags_says_so(opened_client):
    assert "This table has no column of true and false" in drawn(opened_client)


def test_cell_values_do_not_stand_on_the_page(client):
    """Names of columns do, and values that a recipe holds; cells of the table do not."""
    page = drawn(client)
    for cell in ("Person 0001", "nurse", "smith", "cough"):
        assert cell not in page
