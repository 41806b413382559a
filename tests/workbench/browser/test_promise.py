"""Promises in a real browser: the proposal, refusals beside their field, every way to promise, by keyboard alone."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def two_values_csv(tmp_path_factory):
    """Make up persons whose sensitive column has two values, with a column of flags."""
    path = tmp_path_factory.mktemp("two") / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["age", "sex", "salary", "hide_age"])
        writer.writerows([20 + n * 7 % 50, "fm"[n % 2], ("low", "high")[n // 2 % 2], n % 3 == 0] for n in range(200))
    return path


@pytest.fixture(scope="module")
def server(start_server, two_values_csv):
    return start_server(two_values_csv)


@pytest.fixture
def here(server, visit):
    made = visit(server).enter(server.again())
    expect(made.page.locator("#size")).to_be_visible()
    made.go("roles")
    if made.page.locator("#role-2").input_value() != "sensitive":
        made.page.select_option("#role-2", "sensitive")
        expect(made.page.locator("tr[data-column=salary]")).to_have_attribute("data-role-is", "sensitive")
    made.go("promise")
    return made


def settled(page):
    """Wait until nothing is computed any more."""
    expect(page.locator("[data-auto-job]")).to_have_count(0)
    expect(page.locator("#progress")).to_be_hidden()


def test_accepting_the_proposal_shows_it_in_the_recipe(here):
    page = here.page
    page.click("#preset-research-partner")
    expect(page.locator("#preset-research-partner")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#fragment")).to_contain_text("k = 5")
    expect(page.locator("#fragment")).to_contain_text("l = 2")
    expect(page.locator("#reason-research-partner")).to_be_visible()
    settled(page)
    page.click("#accept")
    page.wait_for_url("**/search")


def test_nine_values_of_two_are_refused_beside_the_field(here):
    page = here.page
    page.click("#preset-research-partner")
    expect(page.locator("#fragment")).to_contain_text("l = 2")
    page.fill("#model-1-l", "9")
    page.press("#model-1-l", "Tab")
    refused = page.locator("#model-1-refused")
    expect(refused).to_contain_text("The promise cannot be kept")
    expect(refused).to_contain_text("reaches 2, 9 is needed")
    expect(page.locator("#model-1-l")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#model-1-l")).to_have_attribute("aria-describedby", "model-1-refused")
    settled(page)
    here.check_access()
    page.fill("#model-1-l", "2")
    page.press("#model-1-l", "Enter")
    expect(refused).to_have_count(0)


def test_a_number_that_is_none_is_refused_by_the_library_beside_its_field(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    here.expected += 1  # the refusal is an answer of 422, which the console tells
    page.fill("#model-0-k", "0")
    page.press("#model-0-k", "Enter")
    expect(page.locator("#model-0-k-problem")).to_contain_text("of k-anonymity must be a whole number of at least 1")
    expect(page.locator("#model-0-k")).to_have_value("0")
    page.fill("#model-0-k", "4")
    page.press("#model-0-k", "Enter")
    expect(page.locator("#fragment")).to_contain_text("k = 4")


def test_what_is_typed_stays_when_the_page_is_drawn_again(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    page.fill("#model-0-k", "6")
    page.press("#model-0-k", "Enter")
    page.fill("#model-1-l", "1")  # before the page is drawn again, twice: changed, and checked
    expect(page.locator("#fragment")).to_contain_text("k = 6")
    settled(page)
    expect(page.locator("#model-1-l")).to_have_value("1")
    expect(page.locator("#model-1-l")).to_be_focused()
    page.press("#model-1-l", "Tab")
    expect(page.locator("#fragment")).to_contain_text("l = 1")


def test_two_fields_changed_in_haste_are_both_changed(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    page.fill("#model-0-k", "7")
    page.press("#model-0-k", "Enter")
    page.fill("#model-1-l", "1")
    page.press("#model-1-l", "Enter")
    expect(page.locator("#fragment")).to_contain_text("l = 1")
    expect(page.locator("#fragment")).to_contain_text("k = 7")


def test_what_is_typed_after_the_page_is_drawn_again_replaces_what_the_field_held(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    page.focus("#model-0-k")
    page.press("#model-0-k", "Control+a")
    page.evaluate("import('./static/page.js').then((drawn) => drawn.refresh())")
    page.keyboard.insert_text("7")
    expect(page.locator("#model-0-k")).to_have_value("7")


def test_an_older_page_that_arrives_late_is_not_shown(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    shown = page.evaluate(
        """async () => {
            const { refresh } = await import('./static/page.js');
            const fetched = window.fetch;
            const draw = (title) => Promise.resolve(new Response(document.documentElement.outerHTML.replace(
                /<title>.*<\\/title>/, `<title>${title}</title>`)));
            let late;
            window.fetch = () => new Promise((resolve) => { late = () => draw('older').then(resolve); });
            const older = refresh();
            window.fetch = () => draw('newer');
            await refresh();
            late();
            await older;
            window.fetch = fetched;
            return document.title;
        }"""
    )
    assert shown == "newer"


def test_what_is_typed_while_the_page_is_drawn_again_is_sent_by_enter(here):
    page = here.page
    page.click("#preset-colleagues")
    expect(page.locator("#fragment")).to_contain_text("k = 3")
    settled(page)
    page.fill("#model-0-k", "7")
    page.evaluate("import('./static/page.js').then((drawn) => drawn.refresh())")
    expect(page.locator("#model-0-k")).to_have_value("7")
    page.press("#model-0-k", "Enter")
    expect(page.locator("#fragment")).to_contain_text("k = 7")


def test_a_model_with_levels_is_added_by_keyboard_alone(here):
    page = here.page
    page.click("#preset-colleagues")
    settled(page)
    page.focus("#catalogue summary")
    page.keyboard.press("Enter")
    page.focus("#choose-hpk-anonymity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/promise?add=hpk-anonymity#adding")
    page.focus("#add-levels")
    page.keyboard.type("low: 1")
    page.focus("#add-model")
    page.keyboard.press("Enter")
    expect(page.locator("#add-levels-problem")).to_contain_text("one line per value")
    page.fill("#add-levels", "low = 1\nhigh = 2")
    page.focus("#add-model")
    page.keyboard.press("Enter")
    expect(page.locator("[data-model=hpk-anonymity]")).to_be_visible()
    expect(page.locator("#fragment")).to_contain_text("high = 2")
    settled(page)
    place = page.locator("[data-model=hpk-anonymity]").get_attribute("id")
    page.focus(f"#{place}-remove")
    page.keyboard.press("Enter")
    expect(page.locator("[data-model=hpk-anonymity]")).to_have_count(0)


def test_single_cells_are_flagged_and_an_algorithm_is_offered(here):
    page = here.page
    page.click("#preset-colleagues")
    settled(page)
    page.click("#flags summary")
    page.select_option("#flag-column", "age")
    page.select_option("#flag-by", "hide_age")
    page.press("#flag", "Enter")
    expect(page.locator("#group-0-heading")).to_have_text("What the flagged cells of “age” tell about a person")
    page.click("#serve-flags")
    expect(page.locator("#serve-flags")).to_have_count(0)
    settled(page)
    page.click("#unflag-0")
    expect(page.locator("#group-0-heading")).to_have_count(0)
    settled(page)


def test_the_page_can_be_used_by_all(here):
    page = here.page
    page.click("#preset-open-data")
    expect(page.locator("#fragment")).to_contain_text("t = 0.2")
    settled(page)
    here.check_looks("promise")
    for language in ("en", "zh"):
        here.go("promise?add=confidence-bounding")
        here.in_language(language)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        settled(page)
        page.set_viewport_size({"width": 390, "height": 860})
        here.check_width()
        here.check_access()
        page.set_viewport_size({"width": 1280, "height": 860})
    here.in_language("en")
