"""A real browser on a real workbench; it fails on console errors, reports of the policy and foreign requests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect, sync_playwright

PATIENCE = 120_000  # milliseconds; far more than anything takes
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
WIDTHS = (1280, 768, 390)
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def chromium():
    """Return the browser: the one that is named, or the one that is installed."""
    found = os.environ.get("SFUMATO_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "There is no Chromium; scripts/test installs it, or name one with SFUMATO_CHROMIUM."
    return found


@pytest.fixture(scope="session")
def browser():
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


class Visit:
    """A page of a workbench, and what went wrong on it."""

    def __init__(self, browser, server, language="en-US", width=1280):
        self.server = server
        self.context = browser.new_context(
            viewport={"width": width, "height": 860}, locale=language, reduced_motion="reduce"
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.wrong = []
        self.expected = 0
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._asked)

    def _asked(self, request):
        if not request.url.startswith((self.server.base, "data:", "blob:")):
            self.wrong.append(f"a request to another place: {request.url.split('?')[0]}")

    def enter(self, url=None):
        """Open the page by its address."""
        self.page.goto(url or self.server.url)
        self.page.wait_for_url("**/data")
        return self

    def go(self, step):
        """Go to a step."""
        self.page.goto(f"{self.server.base}/{step}")
        expect(self.page.locator("main h1")).to_be_attached()

    def in_language(self, language):
        """Switch to a language."""
        if self.page.locator("html").get_attribute("lang") != language:
            self.page.click("#language")
            expect(self.page.locator("html")).to_have_attribute("lang", language)

    def check_access(self):
        """Let axe look at the page, in a world of its own, so that the policy stays on."""
        session = self.context.new_cdp_session(self.page)
        frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.send("Page.createIsolatedWorld", {"frameId": frame})["executionContextId"]
        session.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8"), "contextId": world})
        asked = (
            f"axe.run(document, {{runOnly: {{type: 'tag', values: {TAGS!r}}}}}).then(r => JSON.stringify("
            "r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))])))"
        )
        found = session.send(
            "Runtime.evaluate",
            {"expression": asked, "contextId": world, "awaitPromise": True, "returnByValue": True},
        )
        session.detach()
        assert found["result"].get("value") == "[]", (self.page.url, found["result"])

    def check_width(self):
        """See that the page does not scroll sideways."""
        wide, room = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= room, (self.page.url, wide, room)

    def check_looks(self, step, *languages):
        """Look at a page in languages and widths: axe finds nothing, and nothing scrolls sideways."""
        for language in languages or ("en", "zh"):
            self.go(step)
            self.in_language(language)
            for width in WIDTHS:
                self.page.set_viewport_size({"width": width, "height": 860})
                self.check_width()
            self.check_access()
            self.page.set_viewport_size({"width": 1280, "height": 860})
        self.in_language("en")

    def leave(self):
        """Close the page, and fail if anything went wrong on it."""
        self.context.close()
        unexpected = self.wrong[self.expected :]
        assert not unexpected, unexpected


def _visits(browser):
    visits = []

    def start(server, language="en-US", width=1280):
        made = Visit(browser, server, language, width)
        visits.append(made)
        return made

    yield start
    for each in visits:
        each.leave()


@pytest.fixture
def visit(browser):
    """Return what opens a page of a workbench, for one test."""
    yield from _visits(browser)


@pytest.fixture(scope="module")
def visit_for_all(browser):
    """Return what opens a page of a workbench that the tests of a module share."""
    yield from _visits(browser)
