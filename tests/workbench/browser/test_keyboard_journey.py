"""A steward who reads Chinese and uses the keyboard alone, from the made-up table to the two folders."""

from __future__ import annotations

from playwright.sync_api import expect

MOST_TABS = 120


def reach(page, selector):
    """Go to an element by the key Tab alone."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
    raise AssertionError(selector)


def go(page, key, heading):
    page.keyboard.press("g")
    page.keyboard.press(key)
    expect(page.locator("main h1")).to_have_text(heading)


def test_all_by_keyboard_in_chinese(start_server, visit):
    server = start_server()
    page = visit(server, language="zh-CN").enter().page
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    reach(page, "#made-up")
    page.keyboard.press("Enter")
    expect(page.locator("#size")).to_have_text("5,000 条记录，12 列")
    go(page, "2", "每一列是什么？")
    expect(page.locator("#risk-now")).to_have_attribute("aria-busy", "false")
    alone = page.locator("#alone").inner_text()
    for number in (3, 9, 10):
        reach(page, f"#role-{number}")
        for _ in range(8):
            if page.locator(f"#role-{number}").input_value() == "insensitive":
                break
            page.keyboard.press("ArrowDown")
        expect(page.locator(f"#role-{number}")).to_have_value("insensitive")
        expect(page.locator(f"#role-{number}")).to_be_focused()
    expect(page.locator("#risk-now")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#alone")).not_to_have_text(alone)
    page.locator("main").focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#role-10")).not_to_have_value("insensitive")
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#role-10")).to_have_value("insensitive")
    page.reload()
    expect(page.locator("#role-10")).to_have_value("insensitive")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("zip")
    expect(page.locator("#role-1")).to_be_hidden()
    page.locator("main").focus()
    page.keyboard.press("?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    go(page, "5", "怎样寻找发布方案？")
    reach(page, "#start")
    page.keyboard.press("Enter")
    page.wait_for_url("**/release")
    expect(page.locator("#verdict")).to_contain_text("承诺成立。")
    reach(page, "#write")
    page.keyboard.press("Enter")
    expect(page.locator("#public-1")).to_be_visible()
    reach(page, "#public-1")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert saved.value.suggested_filename == "public-1.zip"
    go(page, "0", "改过什么？")
