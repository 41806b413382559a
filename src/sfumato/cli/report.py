"""`sfumato report`: render the report of a release again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Language, format_examples
from sfumato.cli._output import write_text_atomically

EXAMPLES = format_examples(
    "sfumato report release",
    "sfumato report release --out report.html",
    "sfumato report release --language zh --out report-zh.html",
)


def render_report_again(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that anonymize wrote.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page to this file instead.")] = None,
    language: Language = None,
) -> None:
    """Render the report of a release again, and print its path.

    The figures come from internal/report.json. Keep the page private, like everything in internal/.
    """
    from sfumato.core.writing import read_facts, render

    page = out or folder / "internal" / "report.html"
    write_text_atomically(page, render(read_facts(folder), language))
    typer.echo(page)
