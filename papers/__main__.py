"""`python -m papers`: repeat published experiments, from a checkout of the repository."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sfumato.cli._application import run_application
from sfumato.cli._errors import ErrorHandlingGroup
from sfumato.cli._options import format_examples
from sfumato.cli._output import color_verdict, printable, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from papers._reproduction import FigureFinding, Reproduction
    from papers.thesis.setting import ThesisSubject

EXAMPLES = format_examples(
    "python -m papers thesis",
    "python -m papers thesis --rows 5000 --queries 200 --out quick",
    "python -m papers maa-slie --table adult.csv",
    "python -m papers fusion --table adult.csv",
)
WIDTH = 96
FOLDER = Path("sfumato-thesis")
MAA_SLIE_FOLDER = Path("sfumato-maa-slie")
FUSION_FOLDER = Path("sfumato-fusion")
Rows = Annotated[
    int | None,
    typer.Option(metavar="N", help="Records in each made-up census; by default as many as in the thesis."),
]

app = typer.Typer(
    cls=ErrorHandlingGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES,
)


@app.callback(invoke_without_command=True)
def main_callback(context: typer.Context) -> None:
    """Repeat published experiments: draw their figures and check their findings."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    "thesis",
    epilog=format_examples(
        "python -m papers thesis",
        "python -m papers thesis --rows 5000 --queries 200 --out quick",
        "python -m papers thesis --table census.csv --schema recipe.toml --out on-my-table",
    ),
)
def run_thesis(
    *,
    rows: Rows = None,
    queries: Annotated[int, typer.Option(metavar="N", help="Random queries per release.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives another census and other queries.")] = 0,
    table: Annotated[
        str | None, typer.Option(metavar="FILE", help="Your own table instead of a made-up census.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="RECIPE", help="A recipe with the roles of its columns.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures and numbers.")] = FOLDER,
) -> None:
    """Repeat the experiments on bucketization and draw all 37 figures.

    Every finding of the thesis is listed with whether it was seen here, and the numbers that show it. A finding that
    was not seen is not a failure: the exit code is 0. An older reproduction in the same folder is replaced.
    """
    from papers._reproduction import check_matplotlib, check_output_folder, write_reproduction
    from papers.thesis.experiment import reproduce_thesis
    from papers.thesis.setting import ThesisGrid
    from sfumato._threads import count_workers

    check_matplotlib()
    check_output_folder(out)
    grid = ThesisGrid(queries=queries, seed=seed)
    subject = _read_subject(table, schema, rows)
    with show_progress_bar("Measuring releases") as tell:
        found = reproduce_thesis(grid, rows=rows, subject=subject, workers=count_workers(), progress=tell)
    with show_progress_bar("Drawing"):
        write_reproduction(found, out)
    _print_findings(found, out)


@app.command(
    name="maa-slie",
    epilog=format_examples(
        "python -m papers maa-slie",
        "python -m papers maa-slie --table adult.csv --out on-adult",
        "python -m papers maa-slie --rows 500 --large-rows 0 --repetitions 2 --out quick",
    ),
)
def run_maa_slie(
    *,
    table: Annotated[
        str | None, typer.Option(metavar="FILE", help="The Adult table instead of a made-up census.")
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", help="Records of each table.")] = 3000,
    large_rows: Annotated[int, typer.Option(metavar="N", help="Records of each larger table; 0 for none.")] = 30_000,
    repetitions: Annotated[int, typer.Option(metavar="N", help="How many tables to draw; at most 3 large ones.")] = 10,
    index: Annotated[
        Literal["mean", "sum"],
        typer.Option(help="Whether MAA-SLIE's index has the mean loss per record, or the sum as printed."),
    ] = "mean",
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives other tables.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures and numbers.")] = MAA_SLIE_FOLDER,
) -> None:
    """Repeat the experiments on MAA-SLIE, and again on larger tables.

    Draws entropy privacy protection, information loss and running time next to those of GPKC. Every finding of the
    paper is listed with whether it was seen here, and the numbers that show it. A finding that was not seen is not
    a failure: the exit code is 0. An older reproduction in the same folder is replaced.
    """
    from papers._reproduction import check_matplotlib, check_output_folder, write_reproduction
    from papers.maa_slie.experiment import reproduce_maa_slie
    from papers.maa_slie.setting import MaaSlieGrid, ranked_adult
    from sfumato._threads import count_workers
    from sfumato.io._reading import read

    check_matplotlib()
    check_output_folder(out)
    grid = MaaSlieGrid(rows=rows, large_rows=large_rows, repetitions=repetitions, index=index, seed=seed)
    subject = None if table is None else ranked_adult(read(table))
    with show_progress_bar("Measuring partitions") as tell:
        found = reproduce_maa_slie(grid, subject=subject, workers=count_workers(), progress=tell)
    with show_progress_bar("Drawing"):
        write_reproduction(found, out)
    _print_findings(found, out)


def _read_subject(table: str | None, schema: Path | None, rows: int | None) -> ThesisSubject | None:
    """Read the user's table, if one is given."""
    if (table is None) != (schema is None):
        raise InvalidParameterError("Give --table and --schema together, or neither for a made-up census.")
    if table is None or schema is None:
        return None
    if rows is not None:
        raise InvalidParameterError("--rows is for a made-up census; drop it when you give --table.")
    from papers.thesis.setting import subject_from_table
    from sfumato.core.recipe import Recipe
    from sfumato.io._reading import read

    return subject_from_table(read(table), Recipe.read(schema).schema)


def _print_findings(found: Reproduction, out: Path) -> None:
    said = [finding for finding in found.findings if finding.said]
    typer.echo("\n".join(line for finding in found.findings for line in _finding_lines(finding)))
    typer.echo(f"\n{sum(finding.seen for finding in said)} of {len(said)} findings were seen.")
    typer.echo(f"{len(found.figures)} figures, their numbers and findings.csv are in {out}")


def _finding_lines(finding: FigureFinding) -> Iterator[str]:
    """Format a finding: its figure and verdict, the claim, and below it the reason."""
    mark = ("yes" if finding.seen else "NO") if finding.said else "-"
    head = f"{finding.figure:<10}{mark:<5}"
    first, *rest = textwrap.wrap(printable(finding.claim), WIDTH - len(head))
    yield (color_verdict(head, good=finding.seen) if finding.said else head) + first
    why = textwrap.wrap(printable(finding.why), WIDTH - len(head) - 2)
    for text in (*rest, *why):
        yield " " * (len(head) + 2) + text


@app.command(
    "fusion",
    epilog=format_examples(
        "python -m papers fusion",
        "python -m papers fusion --table adult.csv --out on-adult",
        "python -m papers fusion --rows 3000 --out quick",
    ),
)
def run_fusion(
    *,
    table: Annotated[
        str | None, typer.Option(metavar="FILE", help="The Adult table instead of made-up hospital stays.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="How many records to use; by default 45,222, or all of the table.")
    ] = None,
    repetitions: Annotated[int, typer.Option(metavar="N", help="How often to hold out records, others each time.")] = 5,
    scoring: Annotated[
        Literal["sensitive", "sensitive-sum"],
        typer.Option(help="Whether a node weighs the mean of its values' factors, or their sum as printed."),
    ] = "sensitive",
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed holds out other records.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures and numbers.")] = FUSION_FOLDER,
) -> None:
    """Repeat the experiments on fusing the tables of two owners.

    Draws rounds and classification accuracy over k, for two settings of the factors. Every finding of the paper is
    listed with whether it was seen here, and the numbers that show it. A finding that was not seen is not a failure:
    the exit code is 0. An older reproduction in the same folder is replaced.
    """
    from papers._reproduction import check_matplotlib, check_output_folder, write_reproduction
    from papers.fusion.accuracy import check_scikit_learn
    from papers.fusion.experiment import reproduce_fusion
    from papers.fusion.setting import FusionGrid, adult_subject, synthetic_subject
    from sfumato._threads import count_workers
    from sfumato.io._reading import read

    check_matplotlib()
    check_scikit_learn()
    check_output_folder(out)
    grid = FusionGrid(repetitions=repetitions, scoring=scoring, seed=seed)
    subject = (
        synthetic_subject(rows=rows, seed=seed) if table is None else adult_subject(read(table), rows=rows, seed=seed)
    )
    with show_progress_bar("Fusing") as tell:
        found = reproduce_fusion(grid, subject=subject, workers=count_workers(), progress=tell)
    with show_progress_bar("Drawing"):
        write_reproduction(found, out)
    _print_findings(found, out)


def main() -> None:
    """Run the reproductions, with the same streams, signals and errors as `sfumato`."""
    run_application(app)


if __name__ == "__main__":
    main()
