"""`sfumato collect`: randomize data before it leaves its owner, and estimate distributions from what arrives."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import (
    Force,
    Json,
    ReadingOptions,
    Source,
    command_group,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import (
    align_columns,
    check_overwrite,
    print_json,
    printable,
    show_progress_bar,
    write_text_atomically,
)
from sfumato.errors import InvalidParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.local_dp.mechanisms.base import Reports
    from sfumato.local_dp.reconstruction.distribution import Reconstruction

EXAMPLES = format_examples(
    "sfumato collect perturb patients.csv --noise age=uniform:-20,20 --out sent.csv",
    "sfumato collect reconstruct sent.csv --column age --noise uniform:-20,20 --edges 0:100:10",
    "sfumato collect report --agreement agreement.toml --budget 2 --state me.json < value.txt",
    "sfumato collect estimate reports.csv --agreement agreement.toml",
)
MAX_EDGES = 10_000

app = command_group("Randomize what leaves its owner, and estimate distributions from what arrives.")

Agreement = Annotated[
    Path, typer.Option(metavar="FILE", help="A TOML file: the mechanism and its public parameters.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class PerturbationOptions:
    """How to perturb each column."""

    plan: Annotated[Path | None, typer.Option(metavar="FILE", help="A TOML file with one table per column.")] = None
    noise: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=HOW",
            help="uniform:LOW,HIGH, gaussian:SCALE or laplace:SCALE. Repeatable.",
        ),
    ] = field(default_factory=list)
    response: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=HOW",
            help="Randomized response: TRUTH:VALUE,VALUE,... with the chance of the truth. Repeatable.",
        ),
    ] = field(default_factory=list)

    keep: Annotated[list[str], typer.Option(metavar="A,B,...", help="Columns that are sent unchanged.")] = field(
        default_factory=list
    )

    def read_plan(self) -> dict[str, Any]:
        """Return the plan given by the file and the options."""
        from sfumato.local_dp.configuration import load_perturbation_plan, parse_noise, parse_randomized_response

        plan: dict[str, Any] = dict(load_perturbation_plan(self.plan)) if self.plan else {}
        for written, read in ((self.noise, parse_noise), (self.response, parse_randomized_response)):
            for each in written:
                column, sign, how = each.partition("=")
                if not sign:
                    raise InvalidParameterError("Write --noise and --response as COLUMN=HOW, as in age=gaussian:15.")
                plan[column] = read(how)
        if not plan:
            raise InvalidParameterError("There is no column to perturb; give --noise, --response or --plan.")
        return plan


@app.command(
    "perturb",
    epilog=format_examples("sfumato collect perturb p.csv --noise age=gaussian:15 --keep region --out sent.csv"),
)
@expand_option_groups
def perturb_table(
    *,
    file: Source,
    reading: ReadingOptions,
    planned: PerturbationOptions,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the perturbed table.", show_default=False)],
    force: Force = False,
) -> None:
    """Perturb columns with public noise or randomized response, and drop all others.

    Values are blurred, but no epsilon is promised; use report for that.
    """
    from sfumato.io._writing import write
    from sfumato.local_dp.randomization.perturbation import perturb_columns

    check_overwrite(out, force=force)
    kept = [name for each in planned.keep for name in each.split(",") if name]
    sent = perturb_columns(reading.read(file), planned.read_plan(), keep=kept)
    with show_progress_bar("Writing"):
        write(sent, out)
    typer.echo(printable(f"{sent.num_rows:,} perturbed records are in {out}"))


@app.command(
    "reconstruct",
    epilog=format_examples("sfumato collect reconstruct s.csv --column age --noise gaussian:15 --edges 0:100:20"),
)
@expand_option_groups
def reconstruct_column(
    *,
    file: Source,
    reading: ReadingOptions,
    column: Annotated[str, typer.Option(metavar="NAME", help="The perturbed column.", show_default=False)],
    noise: Annotated[
        str | None, typer.Option(metavar="HOW", help="uniform:LOW,HIGH, gaussian:SCALE or laplace:SCALE.")
    ] = None,
    response: Annotated[str | None, typer.Option(metavar="HOW", help="TRUTH:VALUE,VALUE,...")] = None,
    edges: Annotated[
        str | None,
        typer.Option(metavar="EDGES", help="The edges of bins of numbers: LOW:HIGH:WIDTH, or all of them with commas."),
    ] = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="em, bayes or inversion.")] = "em",
    bands: Annotated[bool, typer.Option("--bands", help="Add 95% bootstrap bands.")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the density as SVG.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Estimate the distribution of a column before it was perturbed.

    The exit code is 1 if the problem is ill-posed; do not trust the answer then.
    """
    from sfumato.local_dp.configuration import parse_noise, parse_randomized_response
    from sfumato.local_dp.reconstruction.distribution import reconstruct as reconstructed

    check_overwrite(picture, force=force)
    if (noise is None) == (response is None):
        raise InvalidParameterError("Give either --noise or --response, whichever perturbed the column.")
    how = parse_noise(noise) if noise is not None else parse_randomized_response(str(response))
    table = reading.read(file)
    cells = None if edges is None else {column: _parse_edges(edges)}
    with show_progress_bar("Reconstructing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the reasons are printed below
        found = reconstructed(
            table,
            {column: how},
            edges=cells,
            method=method,  # type: ignore[arg-type]  # a method that is none is refused there
        )
    limits = found.bands() if bands else None
    if picture is not None:
        _write_chart(found, table, column, picture)
    if json:
        print_json({**found.to_dict(), "bands": None if limits is None else [each.tolist() for each in limits]})
    else:
        typer.echo("\n".join(_result_lines(found, limits)))
    if found.ill_posed:
        raise typer.Exit(1)


@app.command(
    "report", epilog=format_examples("echo flu | sfumato collect report --agreement a.toml --budget 2 --state me.json")
)
@expand_option_groups
def randomize_one(
    *,
    agreement: Agreement,
    budget: Annotated[
        float, typer.Option(metavar="EPSILON", help="The most that all reports of this client may cost together.")
    ],
    state: Annotated[Path, typer.Option(metavar="FILE", help="The file that keeps what this client has spent.")],
) -> None:
    """Print one randomized report of the value on standard input: the client side of local differential privacy.

    A report is printed and paid for whatever the value is, also if it is missing or none of the agreed ones. The costs
    of reports add up. Once the budget is spent, nothing is printed and the exit code is 2.
    """
    from sfumato.local_dp.client import LocalClient
    from sfumato.local_dp.configuration import load_mechanism

    mechanism = load_mechanism(agreement)
    value = sys.stdin.buffer.readline().decode(errors="replace").rstrip("\r\n")
    sent = LocalClient(mechanism, budget=budget, state=state).report(value)
    typer.echo(",".join(map(str, sent)))


@app.command(
    "randomize",
    epilog=format_examples("sfumato collect randomize p.csv --column disease --agreement a.toml --out reports.csv"),
)
@expand_option_groups
def randomize_table(
    *,
    file: Source,
    reading: ReadingOptions,
    column: Annotated[str, typer.Option(metavar="NAME", help="The column to report.", show_default=False)],
    agreement: Agreement,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the reports.", show_default=False)],
    force: Force = False,
) -> None:
    """Make one report per row, as if every row were a client, to plan a collection; no budget is kept."""
    import pyarrow as pa

    from sfumato.io._writing import write
    from sfumato.local_dp.configuration import load_mechanism
    from sfumato.local_dp.mechanisms.base import simulate_reports

    check_overwrite(out, force=force)
    mechanism = load_mechanism(agreement)
    reports = simulate_reports(mechanism, _checked_column(reading.read(file), column))
    columns = {name: pa.array(reports[:, at].astype("int64")) for at, name in enumerate(mechanism.columns)}
    write(pa.table(columns), out)
    typer.echo(printable(f"{len(reports):,} reports are in {out}"))


@app.command("estimate", epilog=format_examples("sfumato collect estimate reports.csv --agreement a.toml --consistent"))
@expand_option_groups
def estimate_from_reports(
    *,
    file: Source,
    reading: ReadingOptions,
    agreement: Agreement,
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The confidence of the intervals.")] = 0.95,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Make the counts nonnegative, with the right sum.")
    ] = False,
    json: Json = False,
) -> None:
    """Estimate from a table of reports: the server side of local differential privacy."""
    from sfumato.local_dp.configuration import load_mechanism
    from sfumato.local_dp.estimates import FrequencyEstimate
    from sfumato.local_dp.server import LocalServer

    mechanism = load_mechanism(agreement)
    server = LocalServer(mechanism)
    server.add(_read_reports(reading.read(file), mechanism.columns))
    found = server.estimate(confidence=confidence)
    if consistent and isinstance(found, FrequencyEstimate):
        found = found.consistent()
    if json:
        print_json(found.to_dict())
    else:
        typer.echo("\n".join(printable(each) for each in repr(found).splitlines()))


def _checked_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    from sfumato._validation import suggest_closest

    if name not in table.column_names:
        raise SchemaError(f"There is no column {name!r} in the table{suggest_closest(name, table.column_names)}.")
    return table.column(name)


def _read_reports(table: pa.Table, names: tuple[str, ...]) -> Reports:
    import numpy as np
    import pyarrow as pa

    columns = [_checked_column(table, name) for name in names]
    if not all(pa.types.is_integer(column.type) and not column.null_count for column in columns):
        raise SchemaError("The reports must be rows of whole numbers, as the clients printed them.")
    return np.stack([column.to_numpy() for column in columns], axis=1)


def _parse_edges(written: str) -> list[float]:
    """Read edges: LOW:HIGH:WIDTH, or all of them with commas.

    >>> _parse_edges("0:1:0.25")
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    try:
        if ":" not in written:
            return [float(part) for part in written.split(",")]
        low, high, width = (float(part) for part in written.split(":"))
        count = round((high - low) / width)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InvalidParameterError("Write edges as LOW:HIGH:WIDTH, or all of them separated by commas.") from None
    if not 1 <= count <= MAX_EDGES:
        raise InvalidParameterError(f"Edges must make 1 to {MAX_EDGES:,} bins; these make {count:,}.")
    return [low + (high - low) * at / count for at in range(count + 1)]


def _write_chart(found: Reconstruction, table: pa.Table, column: str, out: Path) -> None:
    from sfumato.report.charts.estimates import draw_reconstruction

    observed = table.column(column).cast("float64", safe=False).to_numpy()
    write_text_atomically(out, draw_reconstruction(found, observed=observed))


def _result_lines(found: Reconstruction, limits: Any) -> Iterator[str]:
    yield from repr(found).splitlines()
    rows = [["cell", "share", *(["from", "to"] if limits else [])]]
    for at, label in enumerate(found.axes[0].labels):
        more = [f"{each[at]:.4f}" for each in limits] if limits else []
        rows.append([label, f"{found.shares[at]:.4f}", *more])
    yield align_columns(rows, indent=2)
