"""`sfumato report`: render the report of a release again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import examples
from sfumato.cli.writing import write_text

EXAMPLES = examples(
    "sfumato report release",
    "sfumato report release --out report.html",
)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What anonymize wrote.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page here instead.")] = None,
) -> None:
    """Render the report of a release again, and say where it is.

    The figures come from internal/report.json. The page stays inside the house, as everything in
    internal/ does.
    """
    from sfumato.reporting.folders import read_facts, render

    page = out or folder / "internal" / "report.html"
    write_text(page, render(read_facts(folder)))
    typer.echo(page)
