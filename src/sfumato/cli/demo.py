"""`sfumato demo`: make up a hospital population, publish it and show the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import format_examples
from sfumato.cli._output import align_columns, audit_lines, folder_lines, metric_lines, show_progress_bar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli._demo_runs import SeriesDemo
    from sfumato.tables._pipeline.release import Release

EXAMPLES = format_examples(
    "sfumato demo",
    "sfumato demo --rows 100000 --seed 7 --out big-demo",
    "sfumato demo --series",
)
SHOWN_COLUMNS = ("name", "age", "sex", "zip", "job", "disease")
SHOWN_ROWS = 4
ROWS, SERIES_ROWS = 5000, 1000


def demo(
    *,
    rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"How many patients to generate; by default {ROWS:,}, or {SERIES_ROWS:,} a quarter with --series.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives other patients.")] = 0,
    series: Annotated[
        bool,
        typer.Option("--series", help="Publish four quarters of a changing population, with a ledger and without."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where to write the release; by default sfumato-demo, or sfumato-series-demo."
        ),
    ] = None,
) -> None:
    """Publish a made-up hospital table and show the result.

    Nobody in the table exists. In the release, every group of patients who look alike has at least 5 members
    and 3 different diseases. An older demo in the same folder is replaced; the report is not opened. With --series,
    four quarters are published twice: each on its own, which breaks, and with a ledger, which holds.
    """
    if series:
        _show_series(SERIES_ROWS if rows is None else rows, seed, out or Path("sfumato-series-demo"))
    else:
        _show_release(ROWS if rows is None else rows, seed, out or Path("sfumato-demo"))


def _show_release(rows: int, seed: int, out: Path) -> None:
    """Publish a table once."""
    from sfumato.cli._demo_runs import check_demo_folder, run_demo

    check_demo_folder(out)
    with show_progress_bar("Publishing"):
        release = run_demo(rows, seed)
        release.write(out, replace=True)
    typer.echo(f"Made up {release.original.num_rows:,} hospital patients; none of them exists.")
    typer.echo("Published them with Mondrian: every group has at least 5 patients")
    typer.echo("and at least 3 different diseases.")
    typer.echo(f"\nMembers of one group, before\n\n{_group_members(release)}\n")
    typer.echo("\n".join([*audit_lines(release.audit), "", *metric_lines(release.metrics), ""]))
    typer.echo("\n".join(folder_lines(out)))


def _show_series(rows: int, seed: int, out: Path) -> None:
    """Publish a table that changes, quarter by quarter, in two ways."""
    from sfumato.cli._demo_runs import APART, LEDGER, QUARTERS, TOGETHER, check_series_demo_folder, run_series_demo

    check_series_demo_folder(out)
    with show_progress_bar("Publishing"):
        found = run_series_demo(rows, seed, out)
    apart, together = found[APART], found[TOGETHER]
    typer.echo(f"Made up {QUARTERS} quarters of a hospital with {rows:,} patients; none of them exists.")
    typer.echo("From quarter to quarter a tenth leaves, as many come or come back, and some move.")
    typer.echo("Every release shows at least 3 conditions, equally often or nearly so, in every group.")
    typer.echo(f"\nEach quarter published on its own, by Anatomy\n{_series_lines(apart)}")
    typer.echo(f"\nWith a ledger, by m-invariant buckets\n{_series_lines(together)}")
    counterfeits = sum(each.counterfeits for each in together.releases)
    typer.echo(f"  It took {counterfeits:,} counterfeit rows in {QUARTERS} releases, and {_delayed_records(together)}.")
    typer.echo(f"\nFiles: {out}, explained in {out / 'about.txt'}")
    typer.echo(f"Report of the last release: {out / TOGETHER / f'q{QUARTERS}' / 'internal' / 'report.html'}")
    typer.echo(f"Look on: sfumato ledger exposure {out / LEDGER}")


def _series_lines(series: SeriesDemo) -> str:
    """Say what the releases of a series tell together, and what an attack makes of it."""
    exposed, (attack,) = series.audit.disclosure_risk(), series.attacks.results
    each = "kept" if all(release.audit.holds for release in series.releases) else "BROKEN"
    least = "" if exposed.exact else "at least "
    sure = f"names the condition of {attack.claims:,} of {attack.targets:,} patients, {attack.successes:,} rightly"
    return "\n".join(
        [
            f"  promise of each release alone     {each}",
            f"  exposure of at most 1/3 together  {_ANSWERS[series.audit.verdicts[-1].answer]}",
            f"  highest exposure of a patient     {least}{exposed.max():.3g}",
            f"  patients whose condition is sure  {exposed.decided:,} of {exposed.individuals:,}",
            f"  intersection attack               {sure}",
        ]
    )


_ANSWERS = {"holds": "holds", "broken": "BROKEN", "not shown": "not shown to hold"}


def _delayed_records(series: SeriesDemo) -> str:
    many = series.releases[-1].waiting
    return f"{many:,} patients wait for a later release" if many else "nobody waits for a later release"


def _group_members(release: Release) -> str:
    """Show some members of a group that is suppressed in few columns, as they were and as they are published."""
    import numpy as np

    from sfumato.tables.published.published_table import PublishedTable

    table = PublishedTable.read(release.published, release.recipe.schema)
    stars = np.sum([column.mask_suppressed() for column in table.columns if column.name in SHOWN_COLUMNS], axis=0)
    groups = table.grouped.labels
    members = np.flatnonzero(groups == groups[np.argmin(stars)])[:SHOWN_ROWS]
    before = _table_lines(release.original, release.correspondence[members])
    return f"{before}\n\nand after\n\n{_table_lines(release.published, members)}"


def _table_lines(table: pa.Table, rows: npt.NDArray[np.integer]) -> str:
    from sfumato.io._values import format_values

    chosen = table.select([name for name in SHOWN_COLUMNS if name in table.column_names]).take(rows)
    shown = {
        name: format_values(column).fill_null("").to_pylist()
        for name, column in zip(chosen.column_names, chosen.columns, strict=True)
    }
    dropped = ["(dropped)"] * len(rows)
    return align_columns(
        list(zip(*([name, *shown.get(name, dropped)] for name in SHOWN_COLUMNS), strict=True)), indent=2
    )
