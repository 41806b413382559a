"""`sfumato ways count`: count places, trips and sequences of places with differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, command_group, expand_option_groups, format_examples
from sfumato.cli.paying import BudgetOptions, print_spent
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.reading_ways import Points, ReadingCounted, parse_area
from sfumato.cli.refusals import DOES_NOT_HOLD, exit_with_error
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import InfeasibleError, InvalidParameterError

if TYPE_CHECKING:
    from sfumato.places.prefix_tree import PrefixTree, SequenceCounts
    from sfumato.places.private_counts import PrivatePlaceCounts
    from sfumato.places.public_places import PublicPlaces
    from sfumato.queries.private.accountant import Accountant

PAYING = "--epsilon 1 --budget ways.budget --analyst ann"
TRAJECTORY_COUNT_EXAMPLES = format_examples(
    f"sfumato ways count density points.csv --area 13.2,52.4,13.6,52.6 {PAYING} \\",
    "    --total 2 --points 5 --out density.csv",
    f"sfumato ways count tree checkins.csv --place shop --places shops.csv {PAYING} \\",
    "    --out tree.csv --ways made-up.csv",
)
Out = Annotated[Path, typer.Option(metavar="FILE", help="Where the counts go.", show_default=False)]
Trips = Annotated[int, typer.Option(metavar="N", help="How many ways of a person count at most, drawn at random.")]

trajectory_counts_app = command_group("Count places, trips and sequences of places with differential privacy.")


@dataclass(frozen=True, kw_only=True)
class PublicLocationOptions:
    """The places that everybody knows, never read off the points."""

    area: Annotated[
        str | None, typer.Option(metavar="WEST,SOUTH,EAST,NORTH", help="A public area in degrees; its squares count.")
    ] = None
    order: Annotated[int, typer.Option(metavar="N", help="How often the area is quartered: 4 gives 256 squares.")] = 4
    hexagons: Annotated[
        int | None, typer.Option(metavar="N", help="Count H3 hexagons of this resolution in place of squares.")
    ] = None
    places: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of all places, their names first; with --place.")
    ] = None

    def locations(self) -> PublicPlaces:
        """Return the squares, the hexagons or the names."""
        from sfumato.places.hexagons import HexagonGrid
        from sfumato.places.public_places import SquareGrid
        from sfumato.table.read import read
        from sfumato.table.values import format_values

        if (self.area is None) == (self.places is None):
            raise InvalidParameterError("Say which places everybody knows: either --area or --places.")
        if self.area is not None:
            area = parse_area(self.area)
            return (
                SquareGrid(area=area, order=self.order)
                if self.hexagons is None
                else HexagonGrid(area=area, resolution=self.hexagons)
            )
        table = read(str(self.places))
        return [str(name) for name in format_values(table.column(0)).to_pylist() if name is not None]


@trajectory_counts_app.command(
    "density",
    epilog=format_examples(
        f"sfumato ways count density points.csv --area 13.2,52.4,13.6,52.6 {PAYING} \\",
        "    --total 2 --points 5 --out density.csv",
    ),
)
@expand_option_groups
def location_density(
    *,
    file: Points,
    out: Out,
    paid: BudgetOptions,
    places: PublicLocationOptions,
    points: Annotated[
        int, typer.Option(metavar="N", help="How many points of a person count at most, drawn at random.")
    ] = 1,
    reading: ReadingCounted,
    json: Json = False,
) -> None:
    """Count the points at every place, also where nobody is, with noise that hides a person with all her points.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.places.private_counts import private_density

    _run_count(private_density, _CountRequest(file, out, paid, places, reading), {"points": points}, json=json)


@trajectory_counts_app.command(
    "trips",
    epilog=format_examples(
        f"sfumato ways count trips points.csv --trip ride --area 13.2,52.4,13.6,52.6 {PAYING} --out od.csv"
    ),
)
@expand_option_groups
def trip_counts(
    *,
    file: Points,
    out: Out,
    paid: BudgetOptions,
    places: PublicLocationOptions,
    trips: Trips = 1,
    reading: ReadingCounted,
    json: Json = False,
) -> None:
    """Count ways by their first and last place, all pairs of places, with noise that hides a person with all her ways.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.places.private_counts import private_trips

    _run_count(private_trips, _CountRequest(file, out, paid, places, reading), {"trips": trips}, json=json)


@trajectory_counts_app.command(
    "tree",
    epilog=format_examples(
        f"sfumato ways count tree points.csv --area 13.2,52.4,13.6,52.6 --order 3 {PAYING} \\",
        "    --height 4 --out tree.csv --ways made-up.csv",
    ),
)
@expand_option_groups
def prefix_tree(
    *,
    file: Points,
    out: Out,
    paid: BudgetOptions,
    places: PublicLocationOptions,
    height: Annotated[int, typer.Option(metavar="N", help="The largest number of places; ways are cut there.")] = 5,
    trips: Trips = 1,
    ways: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write made-up ways, as many as the counts say.")
    ] = None,
    reading: ReadingCounted,
    json: Json = False,
) -> None:
    """Count how ways begin, and make up ways that nobody walked, with noise that hides a person with all her ways.

    Exit codes: 0 counted, 1 the budget does not allow it or noise hides all ways, 2 bad request.
    """
    from sfumato.places.prefix_tree import private_prefix_tree

    check_overwrite(ways, force=None)
    asked = _CountRequest(file, out, paid, places, reading)
    found: PrefixTree = _run_count(private_prefix_tree, asked, {"height": height, "trips": trips}, json=json, more=ways)
    if ways is None:
        return
    from sfumato.table.write import write

    try:
        made = found.synthesize()
    except InfeasibleError as error:
        raise exit_with_error(str(error), DOES_NOT_HOLD) from None
    write(made.to_arrow(), ways)
    if not json:
        typer.echo(ways)
        typer.echo(f"{len(made):,} made-up ways, {len(made.points):,} points")


@trajectory_counts_app.command(
    "n-grams",
    epilog=format_examples(
        f"sfumato ways count n-grams checkins.csv --place shop --places shops.csv {PAYING} \\",
        "    --size 2 --longest 10 --out pairs.csv",
    ),
)
@expand_option_groups
def n_grams(
    *,
    file: Points,
    out: Out,
    paid: BudgetOptions,
    places: PublicLocationOptions,
    size: Annotated[int, typer.Option(metavar="N", help="The largest number of places that follow each other.")] = 3,
    longest: Annotated[int, typer.Option(metavar="N", help="Ways are cut to so many points.")] = 20,
    trips: Trips = 1,
    reading: ReadingCounted,
    json: Json = False,
) -> None:
    """Count which places follow each other, wherever in a way, with noise that hides a person with all her ways.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.places.prefix_tree import private_n_grams

    options = {"size": size, "longest": longest, "trips": trips}
    _run_count(private_n_grams, _CountRequest(file, out, paid, places, reading), options, json=json)


@dataclass(frozen=True)
class _CountRequest:
    """What all counts need."""

    file: Path
    out: Path
    paid: BudgetOptions
    places: PublicLocationOptions
    reading: ReadingCounted


def _run_count(
    count: Callable[..., Any], asked: _CountRequest, options: dict[str, int], *, json: bool, more: Path | None = None
) -> Any:
    """Read, pay, count, write and tell; return what was counted."""
    from sfumato.table.write import write

    check_overwrite(asked.out, force=None)
    if more is not None and more.resolve() == asked.out.resolve():
        raise InvalidParameterError("Counts and made-up ways cannot go to the same file; name two.")
    known = asked.places.locations()
    if isinstance(known, list) != (asked.reading.place is not None):
        raise InvalidParameterError("Names of places need both --place and --places; leave both out with --area.")
    ways = asked.reading.read(asked.file)
    with asked.paid.open() as payment, show_progress_bar("Counting"):
        found = count(ways, places=known, **payment, **options)
    write(found.to_arrow(), asked.out)
    _print_trajectory_counts(found, payment["accountant"], asked, json=json)
    return found


def _print_trajectory_counts(
    found: PrivatePlaceCounts | SequenceCounts, accountant: Accountant, asked: _CountRequest, *, json: bool
) -> None:
    if json:
        print_json({**found.to_dict(), "epsilon_left": accountant.balance().total.left})
        return
    typer.echo(asked.out)
    typer.echo(repr(found))
    print_spent(accountant, asked.paid.epsilon)
