"""`sfumato places`: cloak or move single places."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato._neighbors import PLACE, describe_epsilon
from sfumato.cli._data_types import BatchReadingOptions, parse_area, print_audit_and_exit
from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import Force, Json, command_group, expand_option_groups, format_examples
from sfumato.cli._output import check_overwrite, print_json, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.trajectories.geometry import Area
    from sfumato.trajectories.streams import TrajectoryStream


# `sfumato ways stream`: publish regions of crowds while people move.

STREAM_EXAMPLES = format_examples(
    "sfumato ways stream update crowds.state minute1.csv --k 5 --area 13.2,52.4,13.6,52.6 --out shown1.csv",
    "sfumato ways stream update crowds.state minute2.csv --out shown2.csv",
    "sfumato ways stream audit shown1.csv shown2.csv --k 5",
)


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """How a stream begins."""

    k: Annotated[int | None, typer.Option("--k", metavar="K", help="At the start: persons in a crowd.")] = None
    area: Annotated[
        str | None, typer.Option(metavar="WEST,SOUTH,EAST,NORTH", help="At the start: the public area, in degrees.")
    ] = None
    window: Annotated[
        float | None, typer.Option(metavar="S", help="At the start: who is silent so long leaves; by default 900.")
    ] = None
    patience: Annotated[
        float | None, typer.Option(metavar="S", help="At the start: how long somebody waits; by default 300.")
    ] = None
    order: Annotated[
        int | None, typer.Option(metavar="N", help="At the start: how often the area is quartered; by default 8.")
    ] = None

    def opened(self, state: Path) -> TrajectoryStream:
        """Begin a stream, or go on with one as its state says."""
        from sfumato.trajectories.streams import TrajectoryStream

        given = {name: value for name, value in vars(self).items() if value is not None}
        if state.exists():
            if given:
                raise InvalidParameterError(
                    f"{state} already has its settings; drop --k, --area and what is for the start."
                )
            return TrajectoryStream.load(state)
        if self.k is None or self.area is None:
            raise InvalidParameterError(f"{state} does not exist; give --k and --area to create it.")
        return TrajectoryStream(**{**given, "area": parse_area(self.area), "state": state})


stream_app = command_group("Publish regions of crowds of k persons who stay together, while they move.")


@stream_app.command(
    "update",
    epilog=format_examples(
        "sfumato ways stream update crowds.state minute1.csv --k 5 --area 13.2,52.4,13.6,52.6 --out shown1.csv",
        "sfumato ways stream update crowds.state minute2.csv --out shown2.csv",
        "tail -n 500 points.csv | cat header.csv - | sfumato ways stream update crowds.state - --out shown3.csv",
    ),
)
@expand_option_groups
def update_stream(
    *,
    state: Annotated[
        Path, typer.Argument(metavar="STATE", help="The state; as confidential as the points.", show_default=False)
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="New points, or - for standard input (CSV).", show_default=False)
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new file for what may leave.", show_default=False)],
    start: StreamOptions,
    reading: BatchReadingOptions,
    json: Json = False,
) -> None:
    """Take new points, and write the regions of crowds that may leave: a row for every crowd that moved.

    The first points need --k and --area, and create the state. The state is written before what may leave: after a
    crash in between, the same points can be given again, and those that are not too late by then leave. Points that do
    not fit change nothing.
    """
    from sfumato.core._atomic_writes import check_parent_exists
    from sfumato.io._writing import write

    check_overwrite(out, force=None)
    check_parent_exists(out.resolve())
    stream = start.opened(state)
    batch = reading.read(file)
    with show_progress_bar("Gathering"):
        shown = stream.update(batch, **reading.columns)
        write(shown, out)
    if json:
        counted = {"waiting": stream.waiting, "suppressed": stream.suppressed, "late": stream.late}
        print_json({"regions": shown.num_rows, **counted})
        return
    typer.echo(f"{shown.num_rows:,} regions, written to {out}")
    typer.echo(repr(stream))


@stream_app.command("audit", epilog=format_examples("sfumato ways stream audit shown1.csv shown2.csv --k 5"))
def audit_published_stream(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="All that was published, in any order.", show_default=False)
    ],
    k: Annotated[int, typer.Option("--k", metavar="K", help="What was promised.", show_default=False)],
    json: Json = False,
) -> None:
    """Judge all that a stream published, from its files alone; the exit code is 1 if the promise does not hold."""
    from sfumato.trajectories.streams import audit_stream, concatenate_updates

    with show_progress_bar("Judging"):
        found = audit_stream(concatenate_updates([_read_published_stream(file) for file in files]), k=k)
    print_audit_and_exit(found, json=json)


def _read_published_stream(file: Path) -> pa.Table:
    """Read what a stream published; keys are texts, also where all of them look like numbers."""
    import pyarrow as pa

    from sfumato.io._reading import read

    found = read(file)
    numbers = "key" in found.column_names and not pa.types.is_string(found["key"].type)
    return read(file, column_types={"key": "text"}) if numbers else found


LOCATION_EXAMPLES = format_examples(
    "sfumato places cloak positions.csv --k 5 --out regions.csv",
    "sfumato places perturb positions.csv --epsilon 0.00693 --area 13.0,52.3,13.8,52.7 --out moved.csv",
)
Positions = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A table with columns longitude and latitude, a row for every person.", show_default=False
    ),
]
OutFile = Annotated[Path, typer.Option(metavar="FILE", help="The file to write.", show_default=False)]
CloakedArea = Annotated[
    str | None,
    typer.Option(
        "--area",
        metavar="WEST,SOUTH,EAST,NORTH",
        help="The public area, in degrees; by default drawn around the places, to a hundredth of a degree.",
    ),
]
PublicArea = Annotated[
    str | None,
    typer.Option(
        "--area",
        metavar="WEST,SOUTH,EAST,NORTH",
        help="A public area, in degrees, that results are moved into; without it nothing is clamped.",
    ),
]

DRAWN = "The area was drawn around the places, so it tells roughly where they are; give a public one by --area."

locations_app = command_group("Hide single places: cloak them by regions, or move them by noise.")


@locations_app.command(
    "cloak",
    epilog=format_examples(
        "sfumato places cloak positions.csv --k 5 --out regions.csv",
        "sfumato places cloak positions.csv --k 5 --method halving --area 13.0,52.3,13.8,52.7 --out regions.csv",
    ),
)
def cloak_locations(
    *,
    file: Positions,
    k: Annotated[int, typer.Option("--k", metavar="K", help="The least number of persons.", show_default=False)],
    out: OutFile,
    method: Annotated[str, typer.Option(metavar="NAME", help="hilbert, halving, quadrants or casper.")] = "hilbert",
    area: CloakedArea = None,
    order: Annotated[int, typer.Option(metavar="N", help="How often the area is quartered.")] = 10,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a region in place of every position, in the order of the rows.

    Sides are rounded outward to a quarter of the finest square at most, and judged as they are written.
    The exit code is 1 if a region is that of fewer than k persons, as quadrants and casper allow.
    """
    from sfumato.io._reading import read
    from sfumato.io._writing import write
    from sfumato.trajectories.locations._input import parse_positions
    from sfumato.trajectories.locations.cloaking import cloak as find
    from sfumato.trajectories.locations.reciprocity import Reciprocity

    check_overwrite(out, force=force)
    with show_progress_bar("Cloaking"):
        longitudes, latitudes = parse_positions(read(file))
        regions = find(longitudes, latitudes, k=k, method=method, area=_given_or_bounding_area(area), order=order)  # type: ignore[arg-type]  # refused there
        found = Reciprocity(k=k).evaluate(regions)
        write(regions.to_arrow(), out)
    warnings = [DRAWN] if area is None else []
    told = {**found.to_dict(), "mean_square_meters": float(regions.square_meters.mean()), "warnings": warnings}
    if json:
        print_json(told)
    else:
        typer.echo(
            f"Every region is shared by {found.level:g} persons or more; {found.violations:,} regions by "
            f"fewer than {k}."
        )
        typer.echo(
            "\n".join(
                (
                    f"Regions have {regions.square_meters.mean():,.0f} square meters on average; written to {out}",
                    *warnings,
                )
            )
        )
    raise typer.Exit(0 if found.holds else DOES_NOT_HOLD)


@locations_app.command(
    "perturb",
    epilog=format_examples(
        "sfumato places perturb positions.csv --epsilon 0.00693 --area 13.0,52.3,13.8,52.7 --out moved.csv",
    ),
)
def perturb_locations(
    *,
    file: Positions,
    epsilon: Annotated[float, typer.Option(metavar="E", help="The privacy loss per meter.", show_default=False)],
    out: OutFile,
    mechanism: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="exact or planar; by default exact with --area and planar without."),
    ] = None,
    step: Annotated[float, typer.Option(metavar="M", help="The side of the grid that places are rounded to.")] = 10.0,
    area: PublicArea = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the table with every place moved by noise, so that near places can hardly be told apart.

    Degrees are rounded to a quarter of the grid's side at most. All other columns stay as they are. Distances that are
    printed are those after results were moved into the area, on average over the area; they do not depend on the file.
    """
    from sfumato.io._reading import read
    from sfumato.io._writing import write
    from sfumato.trajectories.locations.planar_laplace import PlanarLaplace

    if mechanism == "exact" and area is None:
        raise InvalidParameterError("--mechanism exact needs a public area; give --area, or --mechanism planar.")
    noise = PlanarLaplace(epsilon=epsilon, mechanism=mechanism, step=step, area=_given_or_bounding_area(area))  # type: ignore[arg-type]  # refused there
    check_overwrite(out, force=force)
    with show_progress_bar("Moving"):
        write(noise.perturb(read(file)), out)
    told = {
        "epsilon": epsilon,
        "neighbors": f"{PLACE}, per meter",
        "decimals": noise.decimals,
        "mean_error": noise.mean_error,
        "largest_error_95": noise.quantile(0.95),
        "warnings": list(noise.remarks),
    }
    if json:
        print_json(told)
        return
    typer.echo(
        f"Places are moved by {told['mean_error']:,.0f} m on average, 95 of 100 by at most "
        f"{told['largest_error_95']:,.0f} m, and rounded to {noise.decimals} decimals of degrees; written to {out}"
    )
    typer.echo(f"{describe_epsilon(f'{epsilon:g} per meter', PLACE)}; rows of one individual add up")
    if noise.remarks:
        typer.echo("\n".join(noise.remarks))


def _given_or_bounding_area(text: str | None) -> Area | None:
    from sfumato.trajectories.geometry import Area

    if text is None:
        return None
    try:
        west, south, east, north = (float(side) for side in text.split(","))
    except ValueError:
        raise InvalidParameterError("--area must be four numbers of degrees, as in 13.0,52.3,13.8,52.7.") from None
    return Area(west=west, south=south, east=east, north=north)
