"""`sfumato report`: render the report of a release again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.options import examples
from sfumato.cli.writing import write_text
from sfumato.exceptions import ReadError

EXAMPLES = examples(
    "sfumato report release",
    "sfumato report release --out report.html",
)


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A release, as anonymize wrote it.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page here instead.")] = None,
) -> None:
    """Render the report of a release again, and say where it is.

    The figures come from internal/report.json. The page stays inside the house, as everything in internal/ does.
    """
    from sfumato.reporting.html import render_report

    page = out or folder / "internal" / "report.html"
    write_text(page, render_report(_facts(folder / "internal" / "report.json")), force=True)
    typer.echo(page)


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}; name a folder that anonymize wrote.") from None
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise ReadError(f"{path} does not hold the figures of a release; make the release again.")
    return facts
