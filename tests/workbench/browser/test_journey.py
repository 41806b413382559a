"""The steps of the specification in a real browser: from a file to the two folders."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect


def test_from_a_file_to_two_folders(start_server, visit, persons_csv):
    server = start_server()
    here = visit(server).enter()
    page = here.page
    page.set_input_files("#file", str(persons_csv))
    expect(page.locator("#size")).to_have_text("240 records, 6 columns")
    page.fill("#go-to-row", "200")
    page.press("#go-to-row", "Enter")
    expect(page.locator("sf-rows tbody")).to_contain_text("Person 0199")
    page.click("text=Next: roles")
    expect(page.locator("h1")).to_have_text("What is each column?")
    expect(page.locator("#risk-now")).to_have_attribute("aria-busy", "false")
    here.go("search")
    page.click("#start")
    page.wait_for_url("**/release")
    expect(page.locator("#verdict")).to_contain_text("The promise holds.")
    page.click("#write")
    expect(page.locator("#public-1")).to_be_visible()


def test_pages_can_be_used_by_all(persons_server, visit):
    here = visit(persons_server).enter(persons_server.begin_again())
    expect(here.page.locator("#size")).to_be_visible()
    for step in ("data", "roles", "search", "release", "history"):
        here.check_looks(step)


def test_axe_and_the_widths_see_what_is_wrong(persons_server, visit):
    """The checks of looks can fail: a field without a label, and a block that is too wide."""
    here = visit(persons_server).enter(persons_server.begin_again())
    expect(here.page.locator("sf-rows tbody tr").first).to_be_visible()
    here.check_access()
    here.check_width()
    here.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    with pytest.raises(AssertionError, match="label"):
        here.check_access()
    here.page.evaluate("document.querySelector('main input:last-child').style.width = '3000px'")
    here.page.evaluate("document.querySelector('main input:last-child').style.maxWidth = 'none'")
    with pytest.raises(AssertionError):
        here.check_width()


STRANGER = """
async (base) => {
  const told = [];
  for (const [path, options] of [
    ["/recipe", {}],
    ["/undo", { method: "POST", headers: { "x-sfumato": "1" } }],
    ["/quit", { method: "POST", mode: "no-cors" }],
  ]) {
    const asked = fetch(base + path, { credentials: "include", ...options });
    told.push(await asked.then((answer) => answer.status, () => "refused"));
  }
  return told;
}
"""


def test_another_page_in_the_browser_cannot_read_or_change_anything(persons_server, visit):
    server = persons_server
    here = visit(server).enter(server.begin_again())
    expect(here.page.locator("#size")).to_be_visible()
    stranger = here.context.new_page()
    stranger.goto("data:text/html,<p>stranger</p>")
    assert stranger.evaluate(STRANGER, server.base) == ["refused"] * 3
    assert server.process.poll() is None
    here.go("roles")


def test_several_columns_get_a_role_at_once(persons_server, visit):
    here = visit(persons_server).enter(persons_server.begin_again())
    page = here.page
    expect(page.locator("#size")).to_be_visible()
    here.go("roles")
    page.click("#mark-1")
    page.click("#mark-4", modifiers=["Shift"])
    page.select_option("#role-2", "insensitive")
    for number in range(1, 5):
        expect(page.locator(f"#role-{number}")).to_have_value("insensitive")
    expect(page.locator(".note").first).to_contain_text("No column is a quasi-identifier")


def test_while_an_optimal_search_runs_two_lines_show_how_far_it_is(persons_server, visit):
    """What the worker says is that of `test_search_page`; here it is said slowly, so that it can be seen."""
    here = visit(persons_server).enter(persons_server.begin_again())
    page = here.page
    expect(page.locator("#size")).to_be_visible()
    here.go("search")
    expect(page.locator("#lines svg")).to_have_count(0)
    state = {"job": 1, "verb": "anonymize", "state": "running", "done": 0.5, "note": "loss"}
    said = [{**state, "figures": {"found": found, "bound": bound}} for found, bound in ((0.9, 0.1), (0.5, 0.25))]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in said)
    page.route("**/jobs/*/events", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page.click("#start")
    expect(page.locator("#lines svg polyline")).to_have_count(2)
    expect(page.locator("#lines svg text")).to_have_text(["bound 0.2500", "best 0.5000"])
    here.check_access()


def test_a_search_that_is_started_twice_in_a_row_is_started_once(persons_server, visit):
    here = visit(persons_server).enter(persons_server.begin_again())
    expect(here.page.locator("#size")).to_be_visible()
    here.go("search")
    expect(here.page.locator("#progress")).to_be_hidden()
    asked = []
    here.page.on("request", lambda request: asked.append(request.post_data) if request.url.endswith("/jobs") else None)
    here.page.dblclick("#start")
    here.page.wait_for_url("**/release")
    assert len([each for each in asked if "anonymize" in each]) == 1
