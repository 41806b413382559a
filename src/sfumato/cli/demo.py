"""`sfumato demo`: make a hospital population up, publish it, show what happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import examples
from sfumato.cli.printing import aligned, progress
from sfumato.cli.summary import audit_lines, measure_lines, place_lines

if TYPE_CHECKING:
    from sfumato.release import Release

EXAMPLES = examples(
    "sfumato demo",
    "sfumato demo --rows 100000 --seed 7 --out big-demo",
)
SHOWN_COLUMNS = ("age", "sex", "zip", "job", "disease")
SHOWN_ROWS = 4


def demo(
    rows: Annotated[int, typer.Option(metavar="N", help="How many patients to make up.")] = 5000,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives other patients.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write the release.")] = Path("sfumato-demo"),
) -> None:
    """Publish a made-up hospital table and show what became of it.

    Nobody in the table exists. Every group of patients that look alike in the release has at least 5
    members and 3 different diseases. An older demo in the same folder is replaced; nothing is opened.
    """
    from sfumato.demo import refuse_foreign, run_demo

    refuse_foreign(out)
    with progress("Publishing"):
        release = run_demo(rows, seed)
        release.write(out, replace=True)
    typer.echo(f"Made up {release.original.num_rows:,} patients of a hospital; nobody of them exists.")
    typer.echo("Published them with Mondrian, so that nobody stands out in a group of fewer than 5,")
    typer.echo("and every group has at least 3 different diseases.")
    typer.echo(f"\nOne group of patients, some of its members and columns, before\n\n{_members(release)}\n")
    typer.echo("\n".join([*audit_lines(release.audit), "", *measure_lines(release.measures), ""]))
    typer.echo("\n".join(place_lines(out)))


def _members(release: Release) -> str:
    """Show some members of the group in the middle, as they were and as they are published."""
    import numpy as np

    from sfumato.data.values import texts
    from sfumato.published.table import PublishedTable
    from sfumato.release import decoded

    published = decoded(release.published)
    groups = PublishedTable.read(published, release.recipe.schema).grouped.labels
    members = np.flatnonzero(groups == groups[len(groups) // 2])[:SHOWN_ROWS]
    tables = []
    for table, rows in ((release.original, release.correspondence[members]), (published, members)):
        shown = [
            [
                "name",
                *(texts(table["name"].take(rows)).to_pylist() if "name" in table.column_names else [""] * len(rows)),
            ]
        ]
        shown += [[name, *(text or "" for text in texts(table[name].take(rows)).to_pylist())] for name in SHOWN_COLUMNS]
        tables.append(aligned(list(zip(*shown, strict=True)), indent=2))
    return "\n\nand after\n\n".join(tables)
