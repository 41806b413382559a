"""Take the pictures of the workbench from the real thing, on the made-up table; it needs Chromium.

Run it again when the pages look different: `.venv/bin/python scripts/workbench_pictures.py`. With `--review FOLDER` it
takes every page in both languages and three widths instead, for people to look at.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from sfumato._locale.messages import LANGUAGES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "workbench"
STEPS = ("data", "roles", "hierarchies", "promise", "search", "explore", "utility", "risk", "release", "history")
WIDTHS = (1280, 768, 390)
HEIGHT = 860
COLORS = 128
MARGIN = 12  # pixels around what a picture shows
AGE, MARITAL = 1, 4  # columns of the made-up table, by number
UNPUBLISHED = (5, 6, 7, 8, 9, 11)
PARTNERS = {
    "with partner": ("married", "registered partnership", "cohabiting"),
    "without partner": ("single", "separated", "divorced", "widowed"),
}
PATIENCE = 60_000  # milliseconds


class Walk:
    """One browser on one workbench, and where its pictures go."""

    def __init__(self, page: Page, base: str, folder: Path) -> None:
        self.page = page
        self.base = base
        self.folder = folder

    def go(self, step: str) -> None:
        """Go to a step, and wait until all that it computes is there."""
        self.page.goto(f"{self.base}/{step}")
        self.rest()

    def rest(self) -> None:
        """Wait until nothing runs and nothing is out of date."""
        expect(self.page.locator("main h1")).to_be_attached()
        self.page.wait_for_load_state("networkidle")
        expect(self.page.locator("#progress")).to_be_hidden()
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        for rows in self.page.locator("sf-rows").all():
            expect(rows.locator("tbody td").first).to_be_visible()

    def whole(self, name: str) -> None:
        """Take a picture of the whole page."""
        self.page.mouse.move(0, 0)
        (self.folder / name).write_bytes(self.page.screenshot(full_page=True))

    def part(self, name: str, *shown: str) -> None:
        """Take a picture of what is told, from the first to the last of it."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        boxes: list[Any] = [self.page.locator(each).bounding_box() for each in shown]
        left, top = (max(0, min(box[side] for box in boxes) - MARGIN) for side in ("x", "y"))
        right = min(max(box["x"] + box["width"] for box in boxes) + MARGIN, WIDTHS[0])
        bottom = max(box["y"] + box["height"] for box in boxes) + MARGIN
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        raw = self.page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
        Image.open(io.BytesIO(raw)).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(
            self.folder / name, optimize=True
        )


@contextlib.contextmanager
def workbench(folder: Path) -> Iterator[str]:
    """Start `sfumato workbench` as a user does; what is yielded is the address that it prints."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "sfumato", "workbench", "--no-browser", "--project", "study"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=folder) as process:  # noqa: S603 - our own command
        try:
            yield next(line.strip() for line in process.stdout or () if line.startswith("http"))
        finally:
            process.terminate()


@contextlib.contextmanager
def walking(folder: Path) -> Iterator[Walk]:
    """Open the page of a new workbench."""
    browser = os.environ.get("SFUMATO_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        raise SystemExit("The pictures of the workbench need Chromium; install Debian's package `chromium`.")
    expect.set_options(timeout=PATIENCE)
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as place,
        workbench(Path(place)) as address,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]) as opened,
    ):
        page = opened.new_page(viewport={"width": WIDTHS[0], "height": HEIGHT}, locale="en-US", reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_url("**/data")
        yield Walk(page, address.partition("/#")[0], folder)


def open_made_up(walk: Walk) -> None:
    """Open the made-up table."""
    walk.page.click("#made-up")
    expect(walk.page.locator("#size")).to_be_visible()
    walk.rest()


def search(walk: Walk) -> None:
    """Search with what the page proposes, and wait for the verdict."""
    walk.go("search")
    walk.page.click("#start")
    walk.page.wait_for_url("**/release")
    walk.rest()


def judge(walk: Walk) -> None:
    """Let the pages of the judges compute what they show when asked."""
    page = walk.page
    walk.go("explore")
    page.click("#explore")
    expect(page.locator("#scatter svg")).to_be_visible()
    walk.rest()
    for node in range(2):
        page.click(f"#pin-node-{node}")
        expect(page.locator(f"#pin-node-{node}")).to_have_count(0)
        walk.rest()
    walk.go("utility")
    page.click("#ask")
    expect(page.locator("#query-errors")).to_be_visible()
    walk.go("risk")
    page.click("#run-attacks")
    expect(page.locator(".lab tbody tr")).to_have_count(5)
    walk.rest()
    page.click("#run-exposure")
    expect(page.locator(".chips a").first).to_be_visible()
    walk.go("release")
    page.click("#write")
    expect(page.locator("#public-1")).to_be_visible()


def tutorial(walk: Walk) -> None:
    """Walk through the tutorial, and take what it shows."""
    page = walk.page
    walk.part("open.png", "header.top", "nav.steps ol", "#made-up")
    open_made_up(walk)
    walk.part("data.png", "main h1", "#size", "#rows")
    walk.go("roles")
    for number in UNPUBLISHED:
        page.check(f"#mark-{number}")
    page.locator(f"#role-{UNPUBLISHED[0]}").select_option("")
    expect(page.locator("tr[data-role-is=none]")).to_have_count(len(UNPUBLISHED))
    walk.rest()
    walk.part("roles.png", "main h1", "table.roles tbody tr:nth-child(7)", "aside dl")
    walk.go(f"hierarchies?column={AGE}")
    walk.part("intervals.png", "main h1", "#level-5", "aside pre")
    group_partners(walk)
    walk.go("promise")
    page.fill("#model-1-l", "3")
    page.press("#model-1-l", "Tab")
    expect(page.locator("#fragment")).to_contain_text("l = 3")
    walk.rest()
    walk.part("promise.png", "main h1", ".hidden-thing >> nth=1", "main .lead")
    walk.go("search")
    walk.part("search.png", "main h1", "#start", "main .cards")
    search(walk)
    walk.part("verdict.png", "#verdict", "#published", "#original", "aside dl")
    walk.go("utility")
    walk.part("utility.png", "main h1", "#distribution", "#about-column")
    walk.go("risk")
    page.click("#run-attacks")
    expect(page.locator(".lab tbody tr")).to_have_count(5)
    walk.part("risk.png", "main h1", ".lab")
    walk.go("release")
    page.click("#write")
    expect(page.locator("#public-1")).to_be_visible()
    walk.rest()
    walk.part("release.png", "#write-form", "section.written")


def group_partners(walk: Walk) -> None:
    """Put the values of a column into two groups."""
    page = walk.page
    walk.go(f"hierarchies?column={MARITAL}&tab=tree")
    for name, values in PARTNERS.items():
        for value in values:
            page.check(f"[data-mark-label='{value}']")
        page.fill("#group-name", name)
        page.click("#do-group")
        expect(page.locator("#tree summary", has_text=name)).to_be_visible()
        walk.rest()
    walk.part("tree.png", "main h1", "main .levels")


def review(walk: Walk) -> None:
    """Take every page in both languages and all widths, the first one also before a table is open."""
    for language in LANGUAGES:
        pictures_in(walk, language, ["data"], "empty-")
    open_made_up(walk)
    search(walk)
    judge(walk)
    for language in LANGUAGES:
        pictures_in(walk, language, STEPS)


def pictures_in(walk: Walk, language: str, steps: Sequence[str], before: str = "") -> None:
    """Take pages in a language, in all widths."""
    page = walk.page
    for step in steps:
        walk.go(step)
        if page.locator("html").get_attribute("lang") != language:
            page.click("#language")
            expect(page.locator("html")).to_have_attribute("lang", language)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            walk.go(step)
            walk.whole(f"{before}{step}-{language}-{width}.png")
        page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})


def main() -> None:
    """Take the pictures that were asked for."""
    parser = argparse.ArgumentParser(description="Take pictures of the workbench.")
    parser.add_argument("--review", metavar="FOLDER", type=Path, help="take every page into this folder instead")
    asked = parser.parse_args().review
    with walking(FOLDER if asked is None else asked) as walk:
        (tutorial if asked is None else review)(walk)


if __name__ == "__main__":
    main()
