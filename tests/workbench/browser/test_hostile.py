"""A table whose names and cells are made to run as a page: every page shows them as text."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

from sfumato.workbench._rendering import PLACES

NAME = """age'"><img src=x onerror="document.title='run'">"""
CELL = """<script>document.title='run'</script>{{ 7 * 7 }}"""


@pytest.fixture
def hostile_csv(tmp_path):
    path = tmp_path / "hostile.csv"
    rows = [(20 + n % 40, f"{CELL} {n % 3}", f"'\"><svg onload=alert(1)> {n % 4}") for n in range(120)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([(NAME, "city", "disease"), *rows])
    return path


def test_names_and_cells_are_text_on_every_page(start_server, visit, hostile_csv):
    here = visit(start_server()).enter()
    page = here.page
    page.on("dialog", lambda dialog: here.wrong.append(dialog.message))
    page.set_input_files("#file", str(hostile_csv))
    expect(page.locator("#size")).to_have_text("120 records, 3 columns")
    expect(page.locator("#rows tbody")).to_contain_text(CELL)
    expect(page.locator("#rows thead")).to_contain_text(NAME)
    here.go("search")
    page.click("#start")
    page.wait_for_url("**/release")
    for step in PLACES:
        here.go(step)
        expect(page.locator("#progress")).to_be_hidden()
        expect(page.locator("script:not([src]), img, [onerror], [onload]")).to_have_count(0)
        assert "run" not in page.title()
    here.go("hierarchies?column=1&tab=tree")
    expect(page.locator("#tree")).to_contain_text(CELL)
    here.go("roles")
    expect(page.locator("table.roles")).to_contain_text(NAME)
