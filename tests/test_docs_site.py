"""The site that the pages become: it loads nothing from outside, fits a phone, and points to what exists."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
THEME = sorted((ROOT / "scripts" / "docs_theme").iterdir())
LARGEST_PICTURE = 150_000
WRITTEN = {".py", ".pyi", ".md", ".html", ".toml"}
NOT_HERE = re.compile(
    r"\bshared/|\bsources? 0\d\d\b|\bseeds? 0\d\d\b|\bspec of this project\b"
    r"|\b(?:attacks|methods|publishing|masking|microaggregation|engine|peers)\.md`?, section",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def hooks():
    return runpy.run_path(str(ROOT / "scripts" / "docs_hooks.py"))


@pytest.mark.parametrize("file", THEME, ids=lambda file: file.name)
def test_the_theme_names_no_other_host(file):
    text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:)?//[\w.]+\.\w+", text) == []


@pytest.mark.parametrize(
    "loading",
    [
        '<script src="https://elsewhere.example/x.js"></script>',
        '<link rel="stylesheet" href="//elsewhere.example/x.css">',
        '<img alt="" srcset="https://elsewhere.example/x.png 2x">',
        "<style>body { background: url('https://elsewhere.example/x.png'); }</style>",
        '<style>@import "https://elsewhere.example/x.css";</style>',
    ],
)
def test_a_page_that_would_load_from_outside_is_refused(hooks, loading):
    page = type("Page", (), {"file": type("File", (), {"src_uri": "imagined.md"})})
    assert hooks["on_post_page"]('<a href="https://elsewhere.example">a link</a>', page) is not None
    with pytest.raises(Exception, match=r"imagined\.md loads something from outside"):
        hooks["on_post_page"](f"<html>{loading}</html>", page)


def test_a_page_that_opens_a_budget_can_be_built_again(hooks):
    page = """```python picture=drawn
import pyarrow as pa
import sfumato as sf

budget = sf.dp.Accountant("budget.sqlite", total=1)
sf.dp.PrivateTable(pa.table({"age": [1, 2, 3]}), accountant=budget, analyst="ann", bounds={"age": (0, 9)})
drawn = "<svg></svg>"
```
"""
    first, second = (hooks["with_pictures"](page, "imagined.md") for _ in range(2))
    assert first == second
    assert "<svg></svg></figure>" in first


def test_tables_scroll_in_a_box_and_their_prose_stays_readable(hooks):
    cell = "what a reader should be able to read"
    made = hooks["on_page_content"](f"<table><tr><td>5</td><td>{cell}</td></tr></table>")
    assert (
        made == f'<div class="wide" tabindex="0"><table><tr><td>5</td><td class="prose">{cell}</td></tr></table></div>'
    )
    assert re.search(
        r"\.wide \{[^}]*overflow-x: auto", (ROOT / "scripts" / "docs_theme" / "site.css").read_text("utf-8")
    )


def test_every_how_to_is_grouped_by_who_needs_it():
    index = (DOCS / "howto" / "index.md").read_text("utf-8")
    pages = {page.name for page in (DOCS / "howto").glob("*.md")} - {"index.md"}
    assert pages
    assert [page for page in sorted(pages) if f"]({page})" not in index] == []


def test_the_pictures_of_the_first_page_are_of_a_release_as_made_today():
    for name, drawn in runpy.run_path(str(ROOT / "scripts" / "docs_pictures.py"))["before_and_after"]().items():
        kept = (DOCS / "pictures" / name).read_text("utf-8")
        assert kept == drawn + "\n", "Run: python scripts/docs_pictures.py"


def test_pictures_are_small():
    pictures = [path for path in (DOCS / "pictures").rglob("*") if path.is_file()]
    assert pictures
    assert [picture.name for picture in pictures if picture.stat().st_size > LARGEST_PICTURE] == []


def test_no_file_points_to_texts_that_are_not_in_the_repository():
    texts = [
        page for folder in ("src", "docs", "tests", "scripts", "benchmarks") for page in (ROOT / folder).rglob("*")
    ]
    texts = [page for page in [*texts, *ROOT.glob("*.md")] if page.suffix in WRITTEN and page != Path(__file__)]
    assert texts
    found = {page.relative_to(ROOT): NOT_HERE.search(page.read_text("utf-8")) for page in texts}
    assert {name: match[0] for name, match in found.items() if match} == {}


@pytest.mark.parametrize("text", ["see shared/spec", "Source 004", "seed 001, table 3", "`publishing.md`, section 3"])
def test_a_pointer_to_a_text_that_is_not_here_is_seen(text):
    assert NOT_HERE.search(text)
