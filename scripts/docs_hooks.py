"""What MkDocs cannot do by itself: a page of all public names, formulas without scripts, plain code fences."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

import sfumato

API_PAGE = "reference/api.md"
STYLE_SHEET = "page.css"
LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//""")
STYLE = """
math[display="block"] { margin: 1em 0; overflow-x: auto; }
.doc-contents { padding-left: 1.2em; border-left: 2px solid var(--bs-border-color); }
.filename { display: block; font-family: var(--bs-font-monospace); font-size: 0.8em; }
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and styles that are made from the code."""
    files.append(File.generated(config, API_PAGE, content=api_page()))
    files.append(File.generated(config, STYLE_SHEET, content=STYLE + code_colors()))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn what fences tell the tests into what readers see: a file's name, or nothing."""
    named = re.sub(r"^(```\w+) .*\bfile=(\S+).*$", r'\1 title="\2"', markdown, flags=re.MULTILINE)
    return re.sub(r"^(```\w+) (?!title=).*$", r"\1", named, flags=re.MULTILINE)


def on_page_content(content: str, **_: object) -> str:
    """Turn formulas into MathML, which browsers draw without a script."""
    content = re.sub(r'<span class="arithmatex">\\\((.*?)\\\)</span>', _inline, content, flags=re.DOTALL)
    return re.sub(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', _block, content, flags=re.DOTALL)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Refuse a page that would load anything from outside."""
    if LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from outside; bring it along instead.")
    return output


def api_page() -> str:
    """List every public name with what its docstring says, by the stage it belongs to."""
    stages: dict[str, list[str]] = {}
    for name in sorted(sfumato.__all__):
        thing = getattr(sfumato, name)
        home = getattr(thing, "__module__", None)
        if home is not None:
            stages.setdefault(home.split(".")[1], []).append(f"{home}.{thing.__qualname__}")
    lines = ["# Python names", "", "Everything that `import sfumato as sf` offers, by stage."]
    for stage, paths in sorted(stages.items()):
        lines += ["", f"## {stage.capitalize()}"]
        for path in paths:
            lines += ["", f"::: {path}"]
    return "\n".join(lines) + "\n"


def code_colors() -> str:
    """Give the colors of code for light and dark pages."""
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="native").get_style_defs('[data-bs-theme="dark"] .highlight')
    return f"{light}\n{dark}\n"


def _inline(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]))


def _block(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]), display="block")
