"""What MkDocs cannot do by itself: a page of all names, pictures by code, formulas without scripts, wide tables."""

from __future__ import annotations

import contextlib
import html
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

import sfumato

API_PAGE = "reference/api.md"
CODE_COLORS = "code.css"
SECTIONS = {
    "sf": "Publish a table",
    "sf.hierarchies": "Generalize",
    "sf.models": "Models",
    "sf.algorithms": "Algorithms",
    "sf.masking": "Mask",
    "sf.tables": "Requests and results of tables",
    "sf.tables.relational": "Several tables",
    "sf.metrics": "Metrics",
    "sf.attacks": "Attacks",
    "sf.report": "Reports and charts",
    "sf.queries": "Answer queries",
    "sf.dp": "Differential privacy",
    "sf.local_dp": "Local differential privacy",
    "sf.transactions": "Transactions",
    "sf.graphs": "Graphs",
    "sf.trajectories": "Trajectories",
    "sf.synthesis": "Synthetic records",
    "sf.mining": "Association rules",
    "sf.fusion": "Fuse with other owners",
    "sf.datasets": "Generated datasets",
    "sf.testing": "Check what you add",
    "sf.errors": "Errors",
}
BLOCK = re.compile(r"^```python(?P<options>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LONG_CELL = 24
PICTURE = re.compile(r"\bpicture=(\w+)")
LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source|object|video|audio)\b[^>]*?\b(?:src|srcset|href|data)=["']?(?:https?:)?//"""
    r"""|(?:\burl\(|@import\s)\s*["']?(?:https?:)?//"""
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and styles that are made from the code."""
    files.append(File.generated(config, API_PAGE, content=api_page(pages_of_names(files))))
    files.append(File.generated(config, CODE_COLORS, content=code_colors()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn what fences tell the tests into what readers see: a picture, a file's name, or nothing."""
    markdown = with_pictures(markdown, page.file.src_uri)
    named = re.sub(r"^(```\w+) .*\bfile=(\S+).*$", r'\1 title="\2"', markdown, flags=re.MULTILINE)
    return re.sub(r"^(```\w+) (?!title=).*$", r"\1", named, flags=re.MULTILINE)


def on_page_content(content: str, **_: object) -> str:
    """Turn formulas into MathML, which browsers draw without a script, and let wide tables scroll in a box."""
    content = re.sub(r"<table>.*?</table>", _scrolling, content, flags=re.DOTALL)
    content = re.sub(r'<span class="arithmatex">\\\((.*?)\\\)</span>', _inline, content, flags=re.DOTALL)
    return re.sub(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', _block, content, flags=re.DOTALL)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Refuse a page that would load anything from outside."""
    if LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from outside; bring it along instead.")
    return output


def with_pictures(markdown: str, place: str) -> str:
    """Run the Python blocks of a page that shows pictures, and put each picture under its block.

    `picture=NAME` after the language says that the block gives this name to a picture.
    """
    if not any(PICTURE.search(block["options"]) for block in BLOCK.finditer(markdown)):
        return markdown
    names: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        exec(block["body"], names)  # noqa: S102 - the pages are ours
        asked = PICTURE.search(block["options"])
        if asked is None:
            return block[0]
        drawn = names.get(asked[1])
        if not isinstance(drawn, str) or not drawn.startswith("<svg"):
            raise PluginError(f"{place} shows {asked[1]!r} as a picture, which is none; give it an SVG text.")
        return f'{block[0]}\n\n<figure class="picture">{drawn}</figure>\n'

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _state_in(folder):
        return BLOCK.sub(run, markdown)


@contextlib.contextmanager
def _state_in(folder: str) -> Iterator[None]:
    """Keep budgets that a page opens out of the user's state folder, which would refuse them at the next build."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


def pages_of_names(files: Files) -> dict[str, str]:
    """Find the names that have a page of their own, as the page's `:::` line says."""
    pages = {}
    for file in files.documentation_pages():
        for found in re.finditer(r"^::: (\S+)$", file.content_string, re.MULTILINE):
            pages[found[1]] = posixpath.relpath(file.src_uri, posixpath.dirname(API_PAGE))
    return pages


def api_page(pages: dict[str, str]) -> str:
    """List every public name with what its docstring says, or where its page is, by namespace."""
    entries: dict[str, list[str]] = {namespace: [] for namespace in SECTIONS}
    for namespace, name, thing in public_names():
        if namespace not in entries:
            raise PluginError(f"{name} is in {namespace}, which SECTIONS in scripts/docs_hooks.py lacks.")
        path = f"{thing.__module__}.{thing.__qualname__}"
        entries[namespace].append(_entry(name, path, pages.get(path)))
    lines = ["# Python names", "", "Everything that `import sfumato as sf` offers, by namespace."]
    for namespace, heading in SECTIONS.items():
        lines += ["", f"## {heading}", *(f"\n{entry}" for entry in entries[namespace])]
    return "\n".join(lines) + "\n"


def public_names() -> Iterator[tuple[str, str, Any]]:
    """Yield every public class and function once: its namespace, its shortest name, and the thing itself."""
    top = {name: getattr(sfumato, name) for name in sfumato.__all__ if name != "__version__"}
    seen = {id(thing) for thing in top.values()}
    yield from (("sf", f"sf.{name}", top[name]) for name in sorted(top) if not isinstance(top[name], ModuleType))
    namespaces = [(f"sf.{name}", top[name]) for name in sorted(top) if isinstance(top[name], ModuleType)]
    for namespace, module in namespaces:
        for name in sorted(_offered(module)):
            thing = getattr(module, name)
            if id(thing) in seen:
                continue
            if isinstance(thing, ModuleType):
                namespaces.append((f"{namespace}.{name}", thing))
            else:
                yield namespace, f"{namespace}.{name}", thing


def _offered(module: ModuleType) -> list[str]:
    """List what a namespace exports; of a plain module, what is defined in it."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [name for name, thing in vars(module).items() if _is_at_home(name, thing, module)]


def _is_at_home(name: str, thing: object, module: ModuleType) -> bool:
    """Return whether a module defines a public thing."""
    return not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__


def code_colors() -> str:
    """Return the colors of code for light and dark pages."""
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="native").get_style_defs(".highlight")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _entry(name: str, path: str, page: str | None) -> str:
    if page is None:
        return f"::: {path}\n    options:\n      heading: {name}"
    return f"### {name}\n\nSee [{path.rpartition('.')[2]}]({page})."


def _scrolling(table: re.Match[str]) -> str:
    """Put a table into a box that scrolls, and keep its cells of prose from becoming too narrow to read."""
    cells = re.sub(r"<td>(?=(.*?)</td>)", _cell, table[0], flags=re.DOTALL)
    return f'<div class="wide" tabindex="0">{cells}</div>'


def _cell(start: re.Match[str]) -> str:
    words = html.unescape(re.sub(r"<code>.*?</code>|<[^>]*>", "", start[1]))
    return '<td class="prose">' if len(words) >= LONG_CELL else start[0]


def _inline(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]))


def _block(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]), display="block")
