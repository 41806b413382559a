"""`sfumato reproduce`: do published experiments again."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import examples
from sfumato.cli.printing import printable, progress, verdict
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.reproducing.figures import Finding, Reproduction
    from sfumato.reproducing.setting import Subject

EXAMPLES = examples(
    "sfumato reproduce thesis",
    "sfumato reproduce thesis --rows 5000 --queries 200 --out quick",
)
WIDTH = 96
FOLDER = Path("sfumato-thesis")
Rows = Annotated[
    int | None, typer.Option(metavar="N", help="Records of each made-up census; else as many as in the thesis.")
]

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Do published experiments again: draw their figures, tell which findings are seen."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    epilog=examples(
        "sfumato reproduce thesis",
        "sfumato reproduce thesis --rows 5000 --queries 200 --out quick",
        "sfumato reproduce thesis --table census.csv --schema recipe.toml --out on-my-table",
    )
)
def thesis(
    *,
    rows: Rows = None,
    queries: Annotated[int, typer.Option(metavar="N", help="Random queries per release.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives another census and other queries.")] = 0,
    table: Annotated[str | None, typer.Option(metavar="FILE", help="A table of yours in place of a census.")] = None,
    schema: Annotated[Path | None, typer.Option(metavar="RECIPE", help="A recipe with roles of its columns.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures and numbers.")] = FOLDER,
) -> None:
    """Do the experiments on bucketization again and draw all 37 figures.

    Every finding of the thesis is listed with whether it is seen here, and the numbers that say so. That one is
    not seen is no failure: the exit code is 0. An older reproduction in the same folder is replaced.
    """
    from sfumato.engine.threads import worker_count
    from sfumato.reproducing.drawing import refuse_foreign, refuse_no_plots, write_reproduction
    from sfumato.reproducing.setting import Grid
    from sfumato.reproducing.thesis import reproduce_thesis

    refuse_no_plots()
    refuse_foreign(out)
    grid = Grid(queries=queries, seed=seed)
    subject = _subject(table, schema, rows)
    with progress("Measuring releases") as tell:
        found = reproduce_thesis(grid, rows=rows, subject=subject, workers=worker_count(), progress=tell)
    with progress("Drawing"):
        write_reproduction(found, out)
    _print(found, out)


def _subject(table: str | None, schema: Path | None, rows: int | None) -> Subject | None:
    """Read the user's table, if one is given."""
    if (table is None) != (schema is None):
        raise InvalidParameterError("--table and --schema need each other; give both, or none for a made-up census.")
    if table is None or schema is None:
        return None
    if rows is not None:
        raise InvalidParameterError("--rows is for a made-up census; leave it out with --table.")
    from sfumato.data.read import read
    from sfumato.recipe import Recipe
    from sfumato.reproducing.setting import given_subject

    return given_subject(read(table), Recipe.read(schema).schema)


def _print(found: Reproduction, out: Path) -> None:
    seen = sum(finding.seen for finding in found.findings)
    typer.echo("\n".join(line for finding in found.findings for line in _lines(finding)))
    typer.echo(f"\n{seen} of {len(found.findings)} findings were seen.")
    typer.echo(f"{len(found.figures)} figures, their numbers and findings.csv are in {out}")


def _lines(finding: Finding) -> Iterator[str]:
    """Write a finding: figure and verdict in front, the claim, and below it why."""
    head = f"{finding.figure:<10}{'yes' if finding.seen else 'NO':<5}"
    first, *rest = textwrap.wrap(printable(finding.claim), WIDTH - len(head))
    yield verdict(head, good=finding.seen) + first
    why = textwrap.wrap(printable(finding.why), WIDTH - len(head) - 2)
    for text in (*rest, *why):
        yield " " * (len(head) + 2) + text
