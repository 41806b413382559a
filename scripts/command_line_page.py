"""Writes docs/reference/command-line.md from the commands themselves; tests/test_docs.py compares the two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from sfumato.cli._application import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command-line.md"
TOP = """# Command line

Every command has `--help` with examples; this page holds all of them. Commands read files and database URLs, write
nothing half, and exit with 0 if what was asked holds, 1 if it does not, and 2 for a bad request. With `--json` they
print JSON and nothing else.

This page is written by `python scripts/command_line_page.py`.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Give the page as it must be."""
    parts = [
        f"## `{context.command_path}`\n\n```text\n{context.get_help().strip()}\n```\n"
        for context in contexts(get_command(app), "sfumato", None)
    ]
    return "\n".join([TOP, *parts])


def contexts(command: Any, name: str, parent: Any) -> Iterator[Any]:
    """Open a command and all that are under it, as the command line does."""
    settings = {**command.context_settings, "terminal_width": 80}
    context = command.context_class(command, info_name=name, parent=parent, **settings)
    yield context
    for part, below in getattr(command, "commands", {}).items():
        yield from contexts(below, part, context)


if __name__ == "__main__":
    main()
