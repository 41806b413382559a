"""Explore, Utility and Risk in a real browser: the steps of the specification on made-up persons."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

import sfumato as sf
from sfumato.core.recipe import Recipe


@pytest.fixture(scope="module")
def searched(start_server, visit_for_all, persons_csv):
    """Open a workbench with one candidate, found by Mondrian at k = 5."""
    here = visit_for_all(start_server(persons_csv)).enter()
    expect(here.page.locator("#size")).to_be_visible()
    here.go("search")
    here.page.fill("#max-suppressed", "0.1")
    here.page.press("#max-suppressed", "Tab")
    here.page.click("#start")
    here.page.wait_for_url("**/release")
    return here


def recipe_of(here):
    answer = here.page.request.get(f"{here.server.base}/recipe")
    return json.loads(answer.text())["recipe"]


def idle(here):
    expect(here.page.locator("#progress")).to_be_hidden()


def test_all_attacks_are_run_and_linkage_is_explained(searched):
    here, page = searched, searched.page
    here.go("risk")
    expect(page.locator(".gauge-card")).to_have_count(3)
    idle(here)
    page.click("#run-attacks")
    rows = page.locator(".lab tbody tr")
    expect(rows).to_have_count(5)
    linkage = rows.filter(has_text="linkability")
    expect(linkage.locator(".badge")).to_have_text("within the guarantee")
    meaning = page.locator(".meanings .good", has_text="linkage")
    expect(meaning).to_contain_text("20.0%")
    page.click("#attack-numbers summary")
    expect(page.locator("#attack-numbers tbody tr")).to_have_count(5)
    here.check_access()


def test_success_of_all_is_drawn(searched):
    here, page = searched, searched.page
    here.go("risk")
    drawn = page.locator(".lab tbody tr", has_text="homogeneity")
    expect(page.locator("#attack-numbers tbody tr", has_text="homogeneity")).to_contain_text("100%")
    square = drawn.locator("svg rect")
    track = drawn.locator("svg line").first
    right = float(square.get_attribute("x")) + float(square.get_attribute("width")) / 2
    assert right == pytest.approx(float(track.get_attribute("x2")), abs=0.01)


def test_the_most_exposed_row_is_explained_and_shown(searched):
    here, page = searched, searched.page
    here.go("risk")
    page.click("#run-exposure")
    first = page.locator(".chips a").first
    expect(first).to_be_visible()
    number = int(re.sub(r"\D", "", first.inner_text()))
    first.press("Enter")
    expect(page.locator("#why")).to_have_text(f"Why is row {number} exposed?")
    expect(page.locator("#row-look tbody")).to_contain_text(f"Person {number - 1:04}")
    assert "Person" not in page.url
    expect(page.locator(".lights .card")).to_have_count(3)
    idle(here)
    page.fill("#population", "100000")
    page.press("#population", "Enter")
    expect(page.locator("#population-figures")).to_be_visible()
    idle(here)
    here.check_access()


def test_a_column_is_compared_before_and_after(searched):
    here, page = searched, searched.page
    here.go("utility")
    expect(page.locator("#distribution svg")).to_be_visible()
    page.select_option("#column", label="age")
    expect(page.locator("#distribution title").first).to_contain_text("age")
    bars, steps = page.locator("#distribution rect"), page.locator("#distribution polyline")
    expect(steps).to_have_count(1)
    page.click("#distribution-numbers summary")
    table = page.locator("#distribution-table tbody tr")
    expect(table).to_have_count(bars.count())
    counted = page.locator("#distribution-table tbody tr td:nth-of-type(1)").all_inner_texts()
    assert sum(int(text) for text in counted) == 240
    idle(here)
    page.click("#ask")
    expect(page.locator("#query-errors dd").last).to_have_text("100%")
    here.check_access()


def test_a_classifier_is_trained_and_compared_with_the_baseline(searched, persons_csv):
    here, page = searched, searched.page
    here.go("utility")
    page.select_option("#predict", label="disease")
    page.click("#learn")
    expect(page.locator("#learned tr")).to_have_count(3)
    recipe = Recipe.from_dict(recipe_of(here))
    found = sf.tables.evaluate_classification(recipe, sf.read(persons_csv), target="disease")
    shown = page.locator("#learned td.number").all_inner_texts()
    expected = [found.original, found.published, found.majority]
    assert [float(text.strip("%")) for text in shown] == pytest.approx([100 * each for each in expected], abs=0.051)


def test_solutions_are_explored_pinned_compared_and_adopted(searched, persons_csv):
    here, page = searched, searched.page
    before = recipe_of(here)
    here.go("explore")
    page.click("#explore")
    expect(page.locator("#scatter svg")).to_be_visible()
    recipe = Recipe.from_dict(before)
    solutions = sf.explore(sf.read(persons_csv), recipe.schema, recipe.models, max_suppressed=0.1)
    counts = solutions.counts()
    told = page.locator("#found")
    expect(told).to_contain_text(f"There are {len(solutions):,} full-domain recodings")
    expect(told).to_contain_text(f"{counts['anonymous']:,} keep the promise, {counts['not anonymous']:,} do not.")
    expect(told).to_contain_text(f"{solutions.best.loss:.6g}")
    idle(here)
    for node in range(3):
        page.click(f"#pin-node-{node}")
        expect(page.locator(f"#pin-node-{node}")).to_have_count(0)
        idle(here)
    expect(page.locator(".compare thead th")).to_have_text([re.compile("^A"), re.compile("^B"), re.compile("^C")])
    expect(page.locator("#same-3 tbody tr").first).to_be_visible()
    page.click("#compare")
    expect(page.locator(".compare")).to_contain_text("linkage")
    idle(here)
    second = page.locator("tr[data-candidate]").filter(has=page.locator(".letter-badge", has_text="B"))
    number = second.get_attribute("data-candidate")
    page.click(f"#adopt-{number}")
    expect(page.locator(f"tr[data-candidate='{number}']")).to_contain_text("in the recipe")
    expect(page.locator(f"tr[data-candidate='{number}'] .badge.good", has_text="holds")).to_be_visible()
    levels = dict(solutions.ranked(2)[1].levels)
    assert recipe_of(here)["algorithm"] == {"name": "fixed-levels", "levels": levels}
    expect(page.locator("#fragment")).to_contain_text("fixed-levels")
    here.check_access()
    page.click("#undo")
    expect(page.locator("#fragment")).to_contain_text(before["algorithm"]["name"])


def test_solutions_are_filtered_by_level_and_loss(searched, persons_csv):
    here, page = searched, searched.page
    here.go("explore")
    recipe = Recipe.from_dict(recipe_of(here))
    solutions = sf.explore(sf.read(persons_csv), recipe.schema, recipe.models, max_suppressed=0.1)
    number = sf.read(persons_csv).column_names.index("sex")
    page.focus(f"#level-{number}")
    page.keyboard.press("ArrowDown")
    kept = len(solutions.filter(max_levels={"sex": 0}).ranked())
    expect(page.locator("#kept")).to_contain_text(f"{kept} of {len(solutions.ranked())} solutions")
    expect(page.locator(f"#level-{number}")).to_be_focused()
    page.click("#clear-filters")
    expect(page.locator("#kept")).to_contain_text(f"{len(solutions.ranked())} of {len(solutions.ranked())} solutions")


@pytest.mark.parametrize("step", ["explore", "utility", "risk"])
def test_judging_pages_can_be_used_by_all(searched, step):
    searched.check_looks(step)


@pytest.mark.parametrize("width", [360, 721, 768, 901, 1001])
def test_attacks_fit_into_every_width(searched, width):
    here, page = searched, searched.page
    here.go("risk")
    page.set_viewport_size({"width": width, "height": 860})
    room = page.locator("main").evaluate("each => each.getBoundingClientRect().right")
    for badge in page.locator(".lab .badge").all():
        assert badge.evaluate("each => each.getBoundingClientRect().right") <= room
    here.check_width()
    page.set_viewport_size({"width": 1280, "height": 860})


@pytest.mark.parametrize("step", ["explore", "utility", "risk"])
def test_pages_without_a_candidate_say_what_to_do(start_server, visit, persons_csv, step):
    here = visit(start_server(persons_csv)).enter()
    expect(here.page.locator("#size")).to_be_visible()
    here.go(step)
    idle(here)
    expect(here.page.locator("main")).to_contain_text("no candidate yet")
    here.check_access()


def test_a_table_of_ones_own_is_attacked_with(searched, persons_csv, tmp_path):
    here, page = searched, searched.page
    voters = tmp_path / "voters.csv"
    sf.write(sf.read(persons_csv).select(["name", "age", "sex", "zip"]), voters)
    here.go("risk")
    idle(here)
    page.locator("#outside > summary").press("Enter")
    page.set_input_files("#outside-file", str(voters))
    page.select_option("#outside-key", label="name")
    page.locator("#attack-outside").press("Enter")
    section = page.locator("[data-outside]")
    expect(section.locator(".lab tbody tr").first).to_be_visible()
    expect(section).to_contain_text("linkage")
    idle(here)
    here.check_access()
    section.locator("button").press("Enter")
    expect(section).to_have_count(0)


ENGLISH = re.compile(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z]{2,}){2,}")


def tab_to(page, name):
    """Press Tab until something has the focus."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == name:
            return
    raise AssertionError(f"{name} cannot be reached by Tab.")


def test_a_steward_works_in_chinese_by_keyboard_alone(start_server, visit, persons_csv):
    here = visit(start_server(persons_csv), "zh-CN").enter()
    page = here.page
    expect(page.locator("#size")).to_be_visible()
    idle(here)
    page.keyboard.press("g")
    page.keyboard.press("6")
    expect(page.locator("h1")).to_have_text("有哪些方案可选？")
    page.wait_for_load_state()  # a key that is pressed before the script is there does nothing
    idle(here)
    tab_to(page, "explore")
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_contain_text("满足承诺")
    idle(here)
    tab_to(page, "pin-node-0")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-candidate='1']")).to_be_visible()
    idle(here)
    tab_to(page, "adopt-1")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-candidate='1']")).to_contain_text("已在配方中")
    page.keyboard.press("g")
    page.keyboard.press("8")
    expect(page.locator("h1")).to_have_text("还可能出什么问题？")
    page.wait_for_load_state()
    expect(page.locator(".gauge-card")).to_have_count(3)
    idle(here)
    tab_to(page, "run-attacks")
    page.keyboard.press("Enter")
    expect(page.locator(".lab tbody tr")).to_have_count(5)
    idle(here)
    tab_to(page, "run-exposure")
    page.keyboard.press("Enter")
    expect(page.locator(".chips a").first).to_be_visible()
    for step in ("explore", "utility", "risk"):
        here.go(step)
        idle(here)
        expect(page.locator("main svg").first).to_be_attached()
        told = page.evaluate(
            "[...document.querySelectorAll('main, aside')].map((part) => { const copy = part.cloneNode(true);"
            " copy.querySelectorAll('[lang=en], code, pre, sf-rows').forEach((each) => each.remove());"
            " return copy.textContent; }).join(' ')"
        )
        assert ENGLISH.findall(told) == [], step
