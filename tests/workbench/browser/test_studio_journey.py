"""The steps of the studio in a real browser: intervals, a file that lacks a value, and everything by keyboard."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

JOBS = ("nurse", "cook", "clerk", "smith", "teacher")
FILE = "nurse;health;services;*\ncook;food;services;*\nclerk;office;services;*\nsmith;metal;crafts;*\n"
AGE, SEX, ZIP, JOB, ADMITTED = range(1, 6)


@pytest.fixture(scope="module")
def people_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    rows = [("name", "age", "sex", "zip", "job", "admitted", "disease")]
    for n in range(370):
        day = f"{2020 + n % 3}-{1 + n % 12:02}-{1 + n % 28:02}"
        zip_code = f"{53700 + n % 40}"
        disease = ("flu", "cold", "cough")[n % 3]
        rows.append((f"Person {n:03}", 17 + n % 74, "fm"[n % 2], zip_code, JOBS[n % 5], day, disease))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


@pytest.fixture(scope="module")
def server(start_server, people_csv):
    return start_server(people_csv)


@pytest.fixture
def studio(server, visit):
    """Return a visit of a workbench that has the table open, with the recipe that was proposed."""
    here = visit(server).enter(server.begin_again())
    expect(here.page.locator("#size")).to_contain_text("370 records")
    return here


def open_column(here, number, tab=""):
    here.go(f"hierarchies?column={number}{tab and '&tab=' + tab}")
    expect(here.page.locator("#studio [aria-busy]")).to_have_count(0)
    expect(here.page.locator(".badge", has_text="…")).to_have_count(0)


def type_into(page, field, text):
    page.focus(field)
    page.keyboard.press("Control+A")
    page.keyboard.type(text)
    page.keyboard.press("Tab")


def test_intervals_of_5_10_and_20_by_keyboard(studio):
    page = studio.page
    open_column(studio, AGE)
    for level in (5, 4):
        page.focus(f"#remove-level-{level}")
        page.keyboard.press("Enter")
        expect(page.locator(f"#level-{level + 1}")).to_have_count(0)
    for number, width in enumerate((5, 10, 20)):
        type_into(page, f"#width-{number}", str(width))
    studio.expected += 2  # the widths are no different multiples of each other until the last one is typed
    for level, counted in enumerate(("74 values", "16 intervals", "9 intervals", "5 intervals", "all records")):
        expect(page.locator(f"#level-{level} .many")).to_have_text(counted)
    expect(page.locator("#fragment")).to_contain_text("20,")
    expect(page.locator('.limits .wide .limit[data-limit="40"] line')).to_have_attribute("stroke-width", "2")
    type_into(page, "#width-1", "7")
    expect(page.locator("#width-1-problem")).to_contain_text("multiple of the one before")
    expect(page.locator("#width-1")).to_have_value("7")
    studio.expected += 1
    type_into(page, "#width-1", "10")
    expect(page.locator("#width-1-problem")).to_be_hidden()
    type_into(page, "#origin", "3")
    expect(page.locator("#level-1")).to_contain_text("[13, 18)")


def test_fast_typing_loses_nothing(studio):
    page = studio.page
    open_column(studio, AGE)
    page.click("#remove-level-5")
    expect(page.locator("#level-6")).to_have_count(0)
    for number, width in enumerate((3, 6, 12, 24)):
        type_into(page, f"#width-{number}", str(width))
    studio.expected += 3  # the widths are no multiples of each other until the last one is typed
    for level, counted in enumerate(("74 values", "26 intervals", "14 intervals", "7 intervals", "4 intervals")):
        expect(page.locator(f"#level-{level} .many")).to_have_text(counted)
    expect(page.locator("#fragment")).to_contain_text("24,")


def test_limits_are_typed_or_dragged(studio):
    page = studio.page
    open_column(studio, AGE)
    page.check("#mode-limits")
    expect(page.locator("#limits-3")).to_have_value("0, 40, 80, 120")
    for level in (4, 3, 2):
        page.click(f"#remove-level-{level}")
        expect(page.locator(f"#level-{level + 1}")).to_have_count(0)
    type_into(page, "#limits-0", "20, 30, 65, 90")
    expect(page.locator("#uncovered")).to_contain_text("3 values have no place")
    expect(page.locator("#uncovered .chip")).to_have_text(["17", "18", "19"])
    type_into(page, "#limits-0", "17，30, 65, 90")
    expect(page.locator(f"#wide-column-{AGE} .badge")).to_have_text("covers all")
    line = page.locator('.limits .wide .limit[data-limit="30"] line').bounding_box()
    page.mouse.move(line["x"] + 1, line["y"] + 50)
    page.mouse.down()
    page.mouse.move(line["x"] + 90, line["y"] + 50, steps=5)
    page.mouse.up()
    expect(page.locator("#limits-0")).not_to_have_value("17, 30, 65, 90")
    assert 35 < int(page.locator("#limits-0").input_value().split(", ")[1]) < 50
    type_into(page, "#limits-0", "17, thirty")
    expect(page.locator("#limits-0-problem")).to_contain_text("not all numbers")


def test_a_file_that_lacks_a_value_is_completed_by_keyboard(studio, tmp_path):
    page = studio.page
    path = tmp_path / "jobs.csv"
    path.write_text(FILE, encoding="utf-8")
    open_column(studio, JOB, "file")
    page.set_input_files("#hierarchy-file", str(path))
    expect(page.locator(f"#wide-column-{JOB} .badge")).to_have_text("1 value left")
    expect(page.locator("#tab-tree")).to_have_attribute("aria-current", "page")
    expect(page.locator("#uncovered")).to_contain_text("teacher")
    studio.check_access()
    studio.go("search")
    expect(page.locator("#start")).to_be_disabled()
    expect(page.locator("#risk-now")).to_have_attribute("aria-busy", "false")
    page.focus(f"#uncovered-{JOB}")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("How may “job” become coarser?")
    page.focus("#left-0")
    page.keyboard.press("Space")
    page.focus("#move-to")
    page.keyboard.type("office")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(f"#wide-column-{JOB} .badge")).to_have_text("covers all")
    expect(page.locator("#do-move")).to_be_focused()
    expect(page.locator('li[data-drop="office"]').last).to_contain_text("teacher")
    studio.go("search")
    expect(page.locator("#start")).to_be_enabled()
    page.click("#undo")
    expect(page.locator("#start")).to_be_disabled()


def test_groups_are_made_renamed_merged_split_and_dragged(studio):
    page = studio.page
    open_column(studio, JOB, "tree")
    for label in ("nurse", "teacher"):
        page.check(f'[data-mark-label="{label}"]')
    page.fill("#group-name", "care")
    page.press("#group-name", "Enter")
    expect(page.locator('li[data-drop="care"]')).to_contain_text("2 values")
    expect(page.locator("#group-name")).to_have_value("")
    page.drag_and_drop('[data-drag="cook"]', 'summary[data-drag="care"]')
    expect(page.locator('li[data-drop="care"]')).to_contain_text("3 values")
    page.check('[data-mark-label="care"]')
    page.fill("#group-name", "services")
    page.click("#do-rename")
    expect(page.locator('li[data-drop="services"]')).to_contain_text("3 values, 222 records")
    page.check('[data-mark-label="smith"]')
    page.fill("#group-name", "crafts")
    page.click("#do-group")
    page.check('[data-mark-label="crafts"]')
    page.check('[data-mark-label="services"]')
    page.fill("#group-name", "work")
    page.click("#do-merge")
    expect(page.locator('li[data-drop="work"]')).to_contain_text("4 values")
    page.check('[data-mark-label="work"]')
    page.click("#do-split")
    expect(page.locator("#tree summary")).to_have_count(0)
    page.click("#do-split")
    expect(page.locator("#toolbar-problem")).to_have_text("Mark a value or a group first.")
    page.click("#undo")
    expect(page.locator('li[data-drop="work"]')).to_contain_text("4 values")


def test_orders_prefixes_and_dates(studio):
    page = studio.page
    open_column(studio, JOB, "order")
    page.focus('[aria-label="Move cook up"]')
    page.keyboard.press("Enter")
    expect(page.locator("#fragment")).to_contain_text("ordered-groups")
    expect(page.locator("#tree .leaf").first).to_contain_text("cook")
    open_column(studio, ZIP, "prefixes")
    page.check("#keep-last")
    expect(page.locator("#level-1")).to_contain_text("*3700")
    page.uncheck("#every-length")
    expect(page.locator("#length-0")).to_have_value("4")
    open_column(studio, ADMITTED)
    page.check("#unit-decade")
    expect(page.locator("#level-4")).to_contain_text("[2020-01-01, 2030-01-01)")
    page.check("#unit-week")
    expect(page.locator("#units-problem")).to_contain_text("weeks")
    studio.expected += 1


def test_every_tab_is_accessible_and_fits(studio):
    tabs = ((AGE, ""), (JOB, "tree"), (JOB, "order"), (ZIP, "prefixes"), (ADMITTED, ""), (JOB, "file"))
    for column, tab in tabs:
        open_column(studio, column, tab)
        studio.check_looks(f"hierarchies?column={column}{tab and '&tab=' + tab}")


def test_a_hierarchy_is_saved_and_removed(studio):
    page = studio.page
    open_column(studio, AGE)
    with page.expect_download() as kept:
        page.click("#save-csv")
    assert kept.value.path().read_text(encoding="utf-8").startswith("17;[17, 18);[15, 20);")
    page.click("#remove")
    expect(page.locator(f"#wide-column-{AGE}")).to_contain_text("all or nothing")
    expect(page.locator(".proposal")).to_contain_text("no hierarchy yet")
    page.click("#use")
    expect(page.locator(f"#wide-column-{AGE}")).to_contain_text("Intervals, 7 levels")
