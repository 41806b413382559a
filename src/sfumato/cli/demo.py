"""`sfumato demo`: make a hospital population up, publish it, show what happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import examples
from sfumato.cli.printing import aligned, progress
from sfumato.cli.summary import audit_lines, measure_lines, place_lines

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.release.release import Release

EXAMPLES = examples(
    "sfumato demo",
    "sfumato demo --rows 100000 --seed 7 --out big-demo",
)
SHOWN_COLUMNS = ("name", "age", "sex", "zip", "job", "disease")
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
    from sfumato.samples.demo import refuse_foreign, run_demo

    refuse_foreign(out)
    with progress("Publishing"):
        release = run_demo(rows, seed)
        release.write(out, replace=True)
    typer.echo(f"Made up {release.original.num_rows:,} patients of a hospital; none of them exists.")
    typer.echo("Published them with Mondrian: nobody stands in a group of fewer than 5,")
    typer.echo("and every group has at least 3 different diseases.")
    typer.echo(f"\nMembers of one group, before\n\n{_members(release)}\n")
    typer.echo("\n".join([*audit_lines(release.audit), "", *measure_lines(release.measures), ""]))
    typer.echo("\n".join(place_lines(out)))


def _members(release: Release) -> str:
    """Show some members of a group that is suppressed in few columns, as they were and as they are published."""
    import numpy as np

    from sfumato.core.published.table import PublishedTable

    table = PublishedTable.read(release.published, release.recipe.schema)
    stars = np.sum([column.starred() for column in table.columns if column.name in SHOWN_COLUMNS], axis=0)
    groups = table.grouped.labels
    members = np.flatnonzero(groups == groups[np.argmin(stars)])[:SHOWN_ROWS]
    before = _rows(release.original, release.correspondence[members])
    return f"{before}\n\nand after\n\n{_rows(release.published, members)}"


def _rows(table: pa.Table, rows: npt.NDArray[np.integer]) -> str:
    from sfumato.table.values import texts

    chosen = table.select([name for name in SHOWN_COLUMNS if name in table.column_names]).take(rows)
    shown = {
        name: texts(column).fill_null("").to_pylist()
        for name, column in zip(chosen.column_names, chosen.columns, strict=True)
    }
    dropped = ["(dropped)"] * len(rows)
    return aligned(list(zip(*([name, *shown.get(name, dropped)] for name in SHOWN_COLUMNS), strict=True)), indent=2)
