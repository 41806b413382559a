"""`sfumato compare`: releases side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Json, format_examples
from sfumato.cli.printing import print_json, printable
from sfumato.cli.writing import check_overwrite

if TYPE_CHECKING:
    from sfumato.reporting.comparison import ReleaseComparison

COMPARE_EXAMPLES = format_examples(
    "sfumato compare mondrian optimal anatomy",
    "sfumato compare candidates/*/ --out comparison.html",
    "sfumato compare mondrian optimal --json",
)


def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of releases, with their internal/.", show_default=False),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with a picture of risk and loss.")
    ] = None,
    language: Annotated[str, typer.Option(metavar="NAME", help="The language of the page, en or zh.")] = "en",
    force: Force = False,
    json: Json = False,
) -> None:
    """Compare releases of one table: promises, exposure, attacks, losses, and what analysts still find.

    The figures come from internal/report.json of every folder, so nothing is computed again. Keep them private, like
    everything in internal/.
    """
    from sfumato.reporting.comparison import compare as put_together
    from sfumato.words import check_language

    check_language(language)
    check_overwrite(out, force=force)
    found = put_together(folders)
    if out is not None:
        found.page(language).save(out)
    print_comparison(found, json=json, page=out)


def print_comparison(found: ReleaseComparison, *, json: bool, page: Path | None) -> None:
    """Print a comparison and where its page is."""
    if json:
        print_json({**found.to_dict(), "page": None if page is None else str(page)})
        return
    told = "\n".join(printable(line) for line in repr(found).splitlines())
    typer.echo(told if page is None else f"{told}\n\nPage: {page}")
