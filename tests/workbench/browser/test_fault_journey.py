"""What goes wrong is told in a sentence, and nothing is lost: odd files, two tabs, a worker or server that ends."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect


def worker_of(server):
    pid = server.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


@pytest.fixture(scope="module")
def large_server(start_server, large):
    return start_server(large)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"column{n}" for n in range(8)), "disease"])
        for row in range(60_000):
            writer.writerow([*((row * (n + 7) ** 3 // 11) % (40 + n) for n in range(8)), f"d{row % 9}"])
    return path


def test_an_empty_file_is_told_and_the_message_has_the_focus(start_server, visit, tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    here = visit(start_server()).enter()
    here.page.set_input_files("#file", str(tmp_path / "empty.csv"))
    problem = here.page.locator("#problem")
    expect(problem).to_have_text("empty.csv is empty.")
    expect(problem).to_be_focused()
    here.page.set_input_files("#file", files=[{"name": "letter.docx", "mimeType": "text/plain", "buffer": b"x"}])
    expect(problem).to_contain_text("is no table that can be read")
    here.expected += 1  # the browser notes the refused upload on its console


def test_work_is_thrown_away_only_after_a_question(start_server, visit, large):
    here = visit(start_server(large)).enter()
    page = here.page
    size = page.locator("#size")
    expect(size).to_have_text("60,000 records, 9 columns")
    here.go("roles")
    page.select_option("#role-2", "insensitive")
    expect(page.locator("#undo")).to_be_enabled()
    here.go("data")
    other = {"name": "other.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3,4\n"}
    expect(page.locator("#progress")).to_be_hidden()  # no drawing again takes a click away
    dialog = page.locator("#replace-dialog")
    for leave in (lambda: page.keyboard.press("Escape"), lambda: dialog.locator("[data-close]").click()):
        for ask in (lambda: page.click("#read-again"), lambda: page.set_input_files("#file", files=[other])):
            ask()
            expect(dialog).to_be_visible()
            expect(dialog).to_contain_text("1 change of roles")
            leave()
            expect(dialog).to_be_hidden()
    page.click("#read-again")
    here.check_access()
    page.click("#replace")
    expect(page.locator("#undo")).to_be_disabled()
    expect(size).to_have_text("60,000 records, 9 columns")
    expect(dialog).to_have_count(0)
    page.set_input_files("#file", files=[other])  # nothing is lost, so nothing is asked
    expect(size).to_have_text("2 records, 2 columns")


def test_a_search_starts_while_a_page_still_computes(start_server, visit, large):
    here = visit(start_server(large)).enter()
    expect(here.page.locator("#size")).to_be_visible()
    here.go("hierarchies")  # which asks for the coverage of every column
    here.go("search")
    here.page.click("#start")
    here.page.wait_for_url("**/release")
    expect(here.page.locator("#verdict")).to_be_visible()


def test_a_search_is_canceled_started_again_and_survives_a_reload(large_server, visit):
    server = large_server
    here = visit(server).enter(server.begin_again())
    page = here.page
    expect(page.locator("#size")).to_have_text("60,000 records, 9 columns")
    here.go("search")
    page.locator("#algorithms summary").click()
    page.click("#pick-k-member")
    expect(page.locator("#pick-k-member")).to_be_disabled()
    page.click("#start")
    expect(page.locator("#cancel")).to_be_visible()
    page.reload()
    expect(page.locator("#cancel")).to_be_visible()
    page.click("#cancel")
    expect(page.locator("#progress")).to_be_hidden()
    expect(page.locator("#start")).to_be_enabled()
    page.check("#algorithm-mondrian")
    expect(page.locator("#fragment")).to_contain_text("mondrian")
    page.click("#start")
    page.wait_for_url("**/release")
    expect(page.locator("#verdict")).to_contain_text("The promise holds.")


def test_a_killed_worker_is_told_on_the_page(large_server, visit):
    server = large_server
    here = visit(server).enter(server.begin_again())
    page = here.page
    expect(page.locator("#size")).to_be_visible()
    here.go("search")
    page.locator("#algorithms summary").click()
    page.click("#pick-k-member")
    expect(page.locator("#pick-k-member")).to_be_disabled()
    page.click("#start")
    expect(page.locator("#progress-bar")).to_be_visible()
    for pid in worker_of(server):
        os.kill(pid, signal.SIGKILL)
    expect(page.locator("#job-problem")).to_contain_text("ended unexpectedly")
    expect(page.locator("#start")).to_be_enabled()


def test_two_tabs_stay_honest(persons_server, visit):
    server = persons_server
    here = visit(server).enter(server.begin_again())
    expect(here.page.locator("#size")).to_be_visible()
    here.go("search")
    other = here.context.new_page()
    other.goto(f"{server.base}/search")
    for tab in (here.page, other):  # when nothing is computed any more, no tab is drawn again by itself
        expect(tab.locator("#risk-now")).to_have_attribute("aria-busy", "false")
        expect(tab.locator("#progress:not([data-follow])")).to_be_attached()
    here.page.fill("#max-suppressed", "0.1")
    here.page.press("#max-suppressed", "Tab")
    expect(here.page.locator("#fragment")).to_contain_text("max_suppressed = 0.1")
    other.fill("#max-suppressed", "0.2")
    other.press("#max-suppressed", "Tab")
    expect(other.locator("#fragment")).to_contain_text("max_suppressed = 0.1")
    expect(other.locator("#problem, #max-suppressed-problem").filter(has_text="changed elsewhere")).to_be_visible()


def test_a_promise_that_cannot_be_kept_comes_with_a_button_that_helps(persons_server, visit):
    server = persons_server
    here = visit(server).enter(server.begin_again())
    page = here.page
    expect(page.locator("#size")).to_be_visible()
    page.evaluate(
        """async () => {
          const { version, recipe } = await (await fetch("recipe")).json();
          await fetch("recipe", { method: "PATCH", headers: { "x-sfumato": "1" }, body: JSON.stringify(
            { version, step: "promise", set: [[["models"], [{ name: "k-anonymity", k: 40000 }]]] }) });
        }"""
    )
    here.go("search")
    page.click("#start")
    expect(page.locator("#job-problem")).to_contain_text("The promise cannot be kept")
    expect(page.locator("#job-problem")).to_be_focused()
    page.click("#advice-0")
    page.click("#start")
    page.wait_for_url("**/release")
    expect(page.locator("#groups")).to_have_text("1")


def test_a_stopped_server_is_told(start_server, visit, persons_csv):
    server = start_server(persons_csv)
    here = visit(server).enter()
    expect(here.page.locator("#size")).to_be_visible()
    here.go("search")
    server.stop()
    here.page.fill("#max-suppressed", "0.1")
    here.page.press("#max-suppressed", "Tab")
    expect(here.page.locator("body")).to_contain_text("The workbench does not answer")
    here.expected = len(here.wrong)  # the browser notes on its console that nobody answers


def test_quit_stops_the_server_after_a_question(start_server, visit):
    server = start_server()
    here = visit(server).enter()
    here.page.click("#quit")
    expect(here.page.locator("#quit-dialog")).to_contain_text("has no project folder")
    here.page.click("#quit-now")
    expect(here.page.locator("body")).to_contain_text("The workbench has stopped.")
    assert server.process.wait(120) == 0
