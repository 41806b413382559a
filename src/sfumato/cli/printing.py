"""How commands print: aligned columns and colored verdicts, plain text if the output is not a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer

from sfumato.cli.words import to_shell_terms

if TYPE_CHECKING:
    from sfumato.core.progress import Progress

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def printable(text: str) -> str:
    """Replace control characters that a terminal would act on.

    >>> printable("age" + chr(27) + "[2J")
    'age?[2J'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def align_columns(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Align the cells of rows in columns, two spaces apart.

    >>> print(align_columns([["age", "quasi"], ["disease", "sensitive"]]))
    age      quasi
    disease  sensitive
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


def print_json(content: object) -> None:
    """Print JSON in ASCII, which survives every encoding."""
    typer.echo(json.dumps(content, indent=2))


def color_verdict(text: str, *, good: bool) -> str:
    """Color a verdict on a terminal, unless the user has set NO_COLOR."""
    return _colored(text, "green" if good else "red")


def color_warning(text: str) -> str:
    """Color what is no failure and must be seen."""
    return _colored(text, "yellow")


def _colored(text: str, color: str) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=color, bold=True)


def set_quiet(*, quiet: bool = True) -> None:
    """Print no remarks and no progress from now on, or print them again."""
    _QUIET.set(quiet)


def is_quiet() -> bool:
    """Return whether to print only what is asked for."""
    return _QUIET.get()


def print_remark(sentence: str) -> None:
    """Print what the owner of a table should know, on the error stream."""
    if not is_quiet():
        typer.echo(f"Note: {printable(to_shell_terms(sentence))}", err=True)


@contextmanager
def show_progress_bar(title: str) -> Iterator[Progress]:
    """Show a progress bar if the error stream is a terminal; yield the function that updates it."""
    from sfumato.core.progress import ignore_progress, open_progress_bar

    if is_quiet() or not sys.stderr.isatty():
        yield ignore_progress
        return
    with open_progress_bar(title) as tell:
        yield tell
