"""What commands print: aligned columns and verdicts, plain wherever the output is no terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from sfumato.core.progress import Progress


def printable(text: str) -> str:
    """Replace characters that a terminal would obey.

    >>> printable("age" + chr(27) + "[2J")
    'age?[2J'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def aligned(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Set rows of cells in columns, two spaces apart.

    >>> print(aligned([["age", "quasi"], ["disease", "sensitive"]]))
    age      quasi
    disease  sensitive
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


def print_json(content: object) -> None:
    """Print what a machine reads: JSON in ASCII, so that no encoding can spoil it."""
    typer.echo(json.dumps(content, indent=2))


def verdict(text: str, *, good: bool) -> str:
    """Color a verdict on a terminal whose user did not ask for none."""
    return _colored(text, "green" if good else "red")


def warning(text: str) -> str:
    """Color what is no failure and must be seen."""
    return _colored(text, "yellow")


def _colored(text: str, color: str) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=color, bold=True)


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """Show a bar on the error stream while work lasts, if it is a terminal; give what to tell the share done."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, note="")

        def tell(done: float, note: str = "") -> None:
            bar.update(task, total=1.0, completed=done, note=note)

        yield tell


def _silent(done: float, note: str = "") -> None:
    """Show no progress."""
