"""`sfumato places`: cloak or move single places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Json, command_group, format_examples
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import InvalidParameterError
from sfumato.neighbors import PLACE, describe_epsilon

if TYPE_CHECKING:
    from sfumato.places.earth import Area

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
    from sfumato.places.cloaking import cloak as find
    from sfumato.places.positions import parse_positions
    from sfumato.places.reciprocal import Reciprocity
    from sfumato.table.read import read
    from sfumato.table.write import write

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
            f"Every region is shared by {found.level:g} persons or more; {found.violations:,} regions by fewer than {k}."
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
    from sfumato.places.planar_laplace import PlanarLaplace
    from sfumato.table.read import read
    from sfumato.table.write import write

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
    from sfumato.places.earth import Area

    if text is None:
        return None
    try:
        west, south, east, north = (float(side) for side in text.split(","))
    except ValueError:
        raise InvalidParameterError("--area must be four numbers of degrees, as in 13.0,52.3,13.8,52.7.") from None
    return Area(west=west, south=south, east=east, north=north)
