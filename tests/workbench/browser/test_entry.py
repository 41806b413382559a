"""Coming and going: a token is used up and stays nowhere, and the page says what is deleted before it stops."""

from __future__ import annotations

from playwright.sync_api import expect


def test_the_token_leaves_the_address_and_the_history(start_server, visit):
    server = start_server()
    token = server.url.partition("#")[2]
    page = visit(server).enter().page
    assert token not in page.url
    page.go_back()
    assert token not in page.url
    assert "#" not in page.url


def test_an_address_that_was_used_opens_nothing(start_server, visit):
    server = start_server()
    visit(server).enter()
    other = visit(server)
    other.expected = 1  # the browser logs the refusal
    other.page.goto(server.url)
    expect(other.page.locator("#entry")).to_contain_text("was used already")
    other.page.goto(f"{server.base}/")
    expect(other.page.locator("main")).to_contain_text("sfumato workbench --again")
    other.check_access()
    assert server.base in server.again()


def test_quitting_says_first_what_is_deleted(start_server, visit):
    server = start_server()
    page = visit(server).enter().page
    page.click("#quit")
    expect(page.locator("#quit-dialog")).to_contain_text("all releases that you have not downloaded are deleted")
    page.click("#quit-now")
    expect(page.locator("body")).to_contain_text("The workbench has stopped.")
    assert server.process.wait(120) == 0


def test_no_form_that_is_sent_before_the_script_is_there_puts_anything_into_an_address(
    start_server, visit, persons_csv
):
    here = visit(start_server(persons_csv)).enter()
    page = here.page
    expect(page.locator("#reading-separator")).to_be_visible()
    page.fill("#reading-separator", "Miller")
    with page.expect_event("console", lambda said: "form" in said.text):  # the browser says that it may not
        page.evaluate("document.getElementById('reading').submit()")
    assert "Miller" not in page.url
    assert "?" not in page.url
    here.expected = len(here.wrong)
