"""A server of another user of the machine, at another port of the same address, which notes all that browsers send."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

LURE = b"""<!doctype html><title>stranger</title><p>stranger</p><a id="link">open</a>"""


class Stranger(BaseHTTPRequestHandler):
    """Answer everything, and note the first line and the headers of every request."""

    def do_GET(self):
        """Note the request, and answer with a cookie for all paths."""
        self.server.heard.append(f"{self.requestline}\n{self.headers}")
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("set-cookie", "sfumato=tossed; Path=/")
        self.end_headers()
        self.wfile.write(LURE)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def stranger():
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        server.heard = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_server_at_another_port_is_sent_neither_the_cookie_nor_the_path(persons_server, visit, stranger):
    address = f"http://127.0.0.1:{stranger.server_port}"
    here = visit(persons_server).enter(persons_server.begin_again())
    here.in_language("zh")
    (secret,) = (each["value"] for each in here.context.cookies() if each["name"] == "sfumato")
    path = persons_server.base.rpartition("/")[2]
    here.page.evaluate("address => document.querySelector('.brand').href = address", f"{address}/from-the-workbench")
    here.page.click(".brand")
    expect(here.page.locator("body")).to_contain_text("stranger")
    here.page.reload()
    assert here.page.evaluate("document.referrer + String(window.opener) + document.cookie") == "nullsfumato=tossed"
    other = here.context.new_page()
    other.goto("data:text/html,<p>elsewhere</p>")
    other.evaluate("address => { location = address }", f"{address}/from-elsewhere")
    expect(other.locator("body")).to_contain_text("stranger")
    other.reload()
    other.evaluate(
        "address => fetch(address, { credentials: 'include', mode: 'no-cors' })", f"{address}/{'0' * 32}/data"
    )
    assert len(stranger.heard) >= 5
    for each in stranger.heard:
        assert secret not in each
        assert path not in each
        assert "zh" not in each  # not even the language
    told = other.evaluate(
        """async (places) => {
          const told = [];
          for (const each of places) {
            const asked = fetch(each, { credentials: "include" });
            told.push(await asked.then((answer) => answer.status, () => "refused"));
            const shown = Object.assign(new Image(), { src: each });
            told.push(await shown.decode().then(() => "shown", () => "refused"));
          }
          return told;
        }""",
        [f"{persons_server.base}/rows/original", f"{persons_server.base}/static/icon.svg", persons_server.origin],
    )
    assert told == ["refused"] * 6  # even if the path were known
    here.wrong.clear()  # the requests to the stranger were meant
    here.go("roles")  # the cookie of the stranger locks nobody out
