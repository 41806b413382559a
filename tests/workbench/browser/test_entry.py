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
