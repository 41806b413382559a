"""The address that opens the page: its token is used up, and stays neither in the address nor in the history."""

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
