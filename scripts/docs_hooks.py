"""What MkDocs cannot do by itself: a page of all names, pictures by code, formulas without scripts, plain fences."""

from __future__ import annotations

import contextlib
import html
import posixpath
import re
import tempfile
from typing import Any

from latex2mathml.converter import convert
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

import sfumato

API_PAGE = "reference/api.md"
STYLE_SHEET = "page.css"
STAGES = {
    "data": "Read and write",
    "inspection": "Inspect",
    "risk": "Assess risk",
    "attributes": "Describe",
    "hierarchies": "Generalize",
    "models": "Promise",
    "algorithms": "Search",
    "solutions": "Explore",
    "release": "Release",
    "recoding_rules": "Keep the rules",
    "later_rows": "Recode later rows",
    "bucket_tables": "Split and join bucketized tables",
    "auditing": "Judge",
    "answering": "Answer",
    "condensing": "Condense",
    "comparing": "Compare with the original",
    "collecting": "Collect",
    "querying": "Answer with noise",
    "query_auditing": "Answer exactly, audited",
    "mining": "Mine",
    "attacking": "Attack",
    "reporting": "Draw",
    "fusing": "Fuse with other owners",
    "recipe": "Repeat",
    "exceptions": "Refuse",
}
BLOCK = re.compile(r"^```python(?P<options>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"\bpicture=(\w+)")
LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//""")
STYLE = """
math[display="block"] { margin: 1em 0; }
.doc-contents { padding-left: 1.2em; border-left: 2px solid var(--bs-border-color); }
figure.picture { margin: 1em 0; overflow-x: auto; }
figure.picture svg { max-width: 100%; height: auto; }
.highlight .filename { display: block; font-family: var(--bs-font-monospace); font-size: 0.8em; }
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let no anchor begin with a digit: the theme's script stops at one."""
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: re.sub(
        r"^(?=\d)", "section-", slugify(text, separator)
    )
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and styles that are made from the code."""
    files.append(File.generated(config, API_PAGE, content=api_page(pages_of_names(files))))
    files.append(File.generated(config, STYLE_SHEET, content=STYLE + code_colors()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn what fences tell the tests into what readers see: a picture, a file's name, or nothing."""
    markdown = with_pictures(markdown, page.file.src_uri)
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

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(run, markdown)


def pages_of_names(files: Files) -> dict[str, str]:
    """Find the names that have a page of their own, as the page's `:::` line says."""
    pages = {}
    for file in files.documentation_pages():
        for found in re.finditer(r"^::: (\S+)$", file.content_string, re.MULTILINE):
            pages[found[1]] = posixpath.relpath(file.src_uri, posixpath.dirname(API_PAGE))
    return pages


def api_page(pages: dict[str, str]) -> str:
    """List every public name with what its docstring says, or where its page is, in the order in which data flows."""
    paths: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for name in sorted(sfumato.__all__):
        thing = getattr(sfumato, name)
        if name == "__version__":
            continue
        stage = thing.__module__.split(".")[1]
        if stage not in paths:
            raise PluginError(f"sfumato.{name} is of stage {stage}, which STAGES in scripts/docs_hooks.py lacks.")
        paths[stage].append(f"{thing.__module__}.{thing.__qualname__}")
    lines = ["# Python names", "", "Everything that `import sfumato as sf` offers, in the order of use."]
    for stage, heading in STAGES.items():
        lines += ["", f"## {heading}", *("\n" + _entry(path, pages.get(path)) for path in paths[stage])]
    return "\n".join(lines) + "\n"


def code_colors() -> str:
    """Give the colors of code for light and dark pages."""
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="native").get_style_defs('[data-bs-theme="dark"] .highlight')
    return f"{light}\n{dark}\n"


def _entry(path: str, page: str | None) -> str:
    if page is None:
        return f"::: {path}"
    name = path.rpartition(".")[2]
    return f"### {name}\n\nSee [{name}]({page})."


def _inline(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]))


def _block(found: re.Match[str]) -> str:
    return convert(html.unescape(found[1]), display="block")
