"""`sfumato collect`: randomize data before it leaves its owner, and estimate distributions from what arrives."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Force, Json, Reading, Source, examples, family, spread
from sfumato.cli.printing import aligned, print_json, printable, progress
from sfumato.cli.writing import refuse_existing, write_text
from sfumato.exceptions import InvalidParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.collecting.local_mechanism import Reports
    from sfumato.collecting.reconstruction import Reconstruction

EXAMPLES = examples(
    "sfumato collect perturb patients.csv --noise age=uniform:-20,20 --out sent.csv",
    "sfumato collect reconstruct sent.csv --column age --noise uniform:-20,20 --edges 0:100:10",
    "sfumato collect report --agreement agreement.toml --budget 2 --state me.json < value.txt",
    "sfumato collect estimate reports.csv --agreement agreement.toml",
)
MOST_EDGES = 10_000

app = family("Randomize what leaves its owner, and estimate distributions from what arrives.")

Agreement = Annotated[
    Path, typer.Option(metavar="FILE", help="A TOML file: the mechanism and its public parameters.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class Planned:
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

    def asked(self) -> dict[str, Any]:
        """Return the plan given by the file and the options."""
        from sfumato.collecting.plans import read_plan, short_noise, short_response

        plan: dict[str, Any] = dict(read_plan(self.plan)) if self.plan else {}
        for written, read in ((self.noise, short_noise), (self.response, short_response)):
            for each in written:
                column, sign, how = each.partition("=")
                if not sign:
                    raise InvalidParameterError("Write --noise and --response as COLUMN=HOW, as in age=gaussian:15.")
                plan[column] = read(how)
        if not plan:
            raise InvalidParameterError("There is no column to perturb; give --noise, --response or --plan.")
        return plan


@app.command(epilog=examples("sfumato collect perturb p.csv --noise age=gaussian:15 --keep region --out sent.csv"))
@spread
def perturb(
    *,
    file: Source,
    reading: Reading,
    planned: Planned,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the perturbed table.", show_default=False)],
    force: Force = False,
) -> None:
    """Perturb columns with public noise or randomized response, and drop all others.

    Values are blurred, but no epsilon is promised; use report for that.
    """
    from sfumato.collecting.perturbing import collect
    from sfumato.table.write import write

    refuse_existing(out, force=force)
    kept = [name for each in planned.keep for name in each.split(",") if name]
    sent = collect(reading.read(file), planned.asked(), keep=kept)
    with progress("Writing"):
        write(sent, out)
    typer.echo(printable(f"{sent.num_rows:,} perturbed records are in {out}"))


@app.command(epilog=examples("sfumato collect reconstruct s.csv --column age --noise gaussian:15 --edges 0:100:20"))
@spread
def reconstruct(
    *,
    file: Source,
    reading: Reading,
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
    from sfumato.collecting.plans import short_noise, short_response
    from sfumato.collecting.reconstruction import reconstruct as reconstructed

    refuse_existing(picture, force=force)
    if (noise is None) == (response is None):
        raise InvalidParameterError("Give either --noise or --response, whichever perturbed the column.")
    how = short_noise(noise) if noise is not None else short_response(str(response))
    table = reading.read(file)
    cells = None if edges is None else {column: _edges(edges)}
    with progress("Reconstructing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the reasons are printed below
        found = reconstructed(
            table,
            {column: how},
            edges=cells,
            method=method,  # type: ignore[arg-type]  # a method that is none is refused there
        )
    limits = found.bands() if bands else None
    if picture is not None:
        _draw(found, table, column, picture)
    if json:
        print_json({**found.to_dict(), "bands": None if limits is None else [each.tolist() for each in limits]})
    else:
        typer.echo("\n".join(_lines(found, limits)))
    if found.ill_posed:
        raise typer.Exit(1)


@app.command(epilog=examples("echo flu | sfumato collect report --agreement a.toml --budget 2 --state me.json"))
@spread
def report(
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
    from sfumato.collecting.agreements import read_agreement
    from sfumato.collecting.client import LocalClient

    mechanism = read_agreement(agreement)
    value = sys.stdin.buffer.readline().decode(errors="replace").rstrip("\r\n")
    sent = LocalClient(mechanism, budget=budget, state=state).report(value)
    typer.echo(",".join(map(str, sent)))


@app.command(epilog=examples("sfumato collect randomize p.csv --column disease --agreement a.toml --out reports.csv"))
@spread
def randomize(
    *,
    file: Source,
    reading: Reading,
    column: Annotated[str, typer.Option(metavar="NAME", help="The column to report.", show_default=False)],
    agreement: Agreement,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the reports.", show_default=False)],
    force: Force = False,
) -> None:
    """Make one report per row, as if every row were a client, to plan a collection; no budget is kept."""
    import pyarrow as pa

    from sfumato.collecting.agreements import read_agreement
    from sfumato.collecting.local_mechanism import simulate
    from sfumato.table.write import write

    refuse_existing(out, force=force)
    mechanism = read_agreement(agreement)
    reports = simulate(mechanism, _column(reading.read(file), column))
    columns = {name: pa.array(reports[:, at].astype("int64")) for at, name in enumerate(mechanism.columns)}
    write(pa.table(columns), out)
    typer.echo(printable(f"{len(reports):,} reports are in {out}"))


@app.command(epilog=examples("sfumato collect estimate reports.csv --agreement a.toml --consistent"))
@spread
def estimate(
    *,
    file: Source,
    reading: Reading,
    agreement: Agreement,
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The confidence of the intervals.")] = 0.95,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Make the counts nonnegative, with the right sum.")
    ] = False,
    json: Json = False,
) -> None:
    """Estimate from a table of reports: the server side of local differential privacy."""
    from sfumato.collecting.agreements import read_agreement
    from sfumato.collecting.frequency_estimate import FrequencyEstimate
    from sfumato.collecting.server import LocalServer

    mechanism = read_agreement(agreement)
    server = LocalServer(mechanism)
    server.add(_reports(reading.read(file), mechanism.columns))
    found = server.estimate(confidence=confidence)
    if consistent and isinstance(found, FrequencyEstimate):
        found = found.consistent()
    if json:
        print_json(found.to_dict())
    else:
        typer.echo("\n".join(printable(each) for each in repr(found).splitlines()))


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    from sfumato.validation import did_you_mean

    if name not in table.column_names:
        raise SchemaError(f"There is no column {name!r} in the table{did_you_mean(name, table.column_names)}.")
    return table.column(name)


def _reports(table: pa.Table, names: tuple[str, ...]) -> Reports:
    import numpy as np
    import pyarrow as pa

    columns = [_column(table, name) for name in names]
    if not all(pa.types.is_integer(column.type) and not column.null_count for column in columns):
        raise SchemaError("The reports must be rows of whole numbers, as the clients printed them.")
    return np.stack([column.to_numpy() for column in columns], axis=1)


def _edges(written: str) -> list[float]:
    """Read edges: LOW:HIGH:WIDTH, or all of them with commas.

    >>> _edges("0:1:0.25")
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    try:
        if ":" not in written:
            return [float(part) for part in written.split(",")]
        low, high, width = (float(part) for part in written.split(":"))
        count = round((high - low) / width)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InvalidParameterError("Write edges as LOW:HIGH:WIDTH, or all of them separated by commas.") from None
    if not 1 <= count <= MOST_EDGES:
        raise InvalidParameterError(f"Edges must make 1 to {MOST_EDGES:,} bins; these make {count:,}.")
    return [low + (high - low) * at / count for at in range(count + 1)]


def _draw(found: Reconstruction, table: pa.Table, column: str, out: Path) -> None:
    from sfumato.reporting.collection_pictures import draw_reconstruction

    observed = table.column(column).cast("float64", safe=False).to_numpy()
    write_text(out, draw_reconstruction(found, observed=observed))


def _lines(found: Reconstruction, limits: Any) -> Iterator[str]:
    yield from repr(found).splitlines()
    rows = [["cell", "share", *(["from", "to"] if limits else [])]]
    for at, label in enumerate(found.axes[0].labels):
        more = [f"{each[at]:.4f}" for each in limits] if limits else []
        rows.append([label, f"{found.shares[at]:.4f}", *more])
    yield aligned(rows, indent=2)
