"""The report as an object: shown in a notebook, saved, nothing else written."""

from __future__ import annotations

import html

from sfumato.report.page import Page


def test_the_report_is_shown_without_writing_anything(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = release.report()
    assert isinstance(page, Page)
    assert page.html.startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == []
    shown = page._repr_html_()
    assert html.unescape(shown.partition('srcdoc="')[2].partition('" sandbox=""')[0]) == page.html
    assert repr(page).startswith("Release report: a page of ")
    assert "<" not in repr(page)


def test_a_page_is_saved_and_replaces_an_older_one(tmp_path):
    path = tmp_path / "page.html"
    for text in ("<p>one</p>", "<p>two</p>"):
        Page("A page", text).save(path)
        assert path.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [path]
