"""`sfumato ways count`: count places, trips and sequences of places with differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, examples, family, spread
from sfumato.cli.paying import Payment, tell_spent
from sfumato.cli.printing import print_json, progress
from sfumato.cli.reading_ways import Points, ReadingCounted, area_of
from sfumato.cli.refusals import DOES_NOT_HOLD, refuse
from sfumato.cli.writing import refuse_existing
from sfumato.exceptions import InfeasibleError, InvalidParameterError

if TYPE_CHECKING:
    from sfumato.places.prefix_tree import PrefixTree, SequenceCounts
    from sfumato.places.private_counts import PlaceCounts
    from sfumato.places.public_places import PublicPlaces
    from sfumato.queries.private.accountant import Accountant

PAYING = "--epsilon 1 --budget ways.budget --analyst ann"
EXAMPLES = examples(
    f"sfumato ways count density points.csv --area 13.2,52.4,13.6,52.6 {PAYING} \\",
    "    --total 2 --points 5 --out density.csv",
    f"sfumato ways count tree checkins.csv --place shop --places shops.csv {PAYING} \\",
    "    --out tree.csv --ways made-up.csv",
)
Out = Annotated[Path, typer.Option(metavar="FILE", help="Where the counts go.", show_default=False)]
Trips = Annotated[int, typer.Option(metavar="N", help="How many ways of a person count at most, drawn at random.")]

app = family("Count places, trips and sequences of places with differential privacy.")


@dataclass(frozen=True, kw_only=True)
class KnownPlaces:
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

    def known(self) -> PublicPlaces:
        """Return the squares, the hexagons or the names."""
        from sfumato.places.hexagons import Hexagons
        from sfumato.places.public_places import Squares
        from sfumato.table.read import read
        from sfumato.table.values import texts

        if (self.area is None) == (self.places is None):
            raise InvalidParameterError("Say which places everybody knows: either --area or --places.")
        if self.area is not None:
            area = area_of(self.area)
            return (
                Squares(area=area, order=self.order)
                if self.hexagons is None
                else Hexagons(area=area, resolution=self.hexagons)
            )
        table = read(str(self.places))
        return [str(name) for name in texts(table.column(0)).to_pylist() if name is not None]


@app.command(
    epilog=examples(
        f"sfumato ways count density points.csv --area 13.2,52.4,13.6,52.6 {PAYING} \\",
        "    --total 2 --points 5 --out density.csv",
    )
)
@spread
def density(
    *,
    file: Points,
    out: Out,
    paid: Payment,
    places: KnownPlaces,
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

    _counted(private_density, _Asked(file, out, paid, places, reading), {"points": points}, json=json)


@app.command(
    epilog=examples(f"sfumato ways count trips points.csv --trip ride --area 13.2,52.4,13.6,52.6 {PAYING} --out od.csv")
)
@spread
def trips(
    *,
    file: Points,
    out: Out,
    paid: Payment,
    places: KnownPlaces,
    trips: Trips = 1,
    reading: ReadingCounted,
    json: Json = False,
) -> None:
    """Count ways by their first and last place, all pairs of places, with noise that hides a person with all her ways.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.places.private_counts import private_trips

    _counted(private_trips, _Asked(file, out, paid, places, reading), {"trips": trips}, json=json)


@app.command(
    epilog=examples(
        f"sfumato ways count tree points.csv --area 13.2,52.4,13.6,52.6 --order 3 {PAYING} \\",
        "    --height 4 --out tree.csv --ways made-up.csv",
    )
)
@spread
def tree(
    *,
    file: Points,
    out: Out,
    paid: Payment,
    places: KnownPlaces,
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

    refuse_existing(ways, force=None)
    asked = _Asked(file, out, paid, places, reading)
    found: PrefixTree = _counted(private_prefix_tree, asked, {"height": height, "trips": trips}, json=json, more=ways)
    if ways is None:
        return
    from sfumato.table.write import write

    try:
        made = found.ways()
    except InfeasibleError as error:
        raise refuse(str(error), DOES_NOT_HOLD) from None
    write(made.to_arrow(), ways)
    if not json:
        typer.echo(ways)
        typer.echo(f"{len(made):,} made-up ways, {len(made.points):,} points")


@app.command(
    "n-grams",
    epilog=examples(
        f"sfumato ways count n-grams checkins.csv --place shop --places shops.csv {PAYING} \\",
        "    --size 2 --longest 10 --out pairs.csv",
    ),
)
@spread
def n_grams(
    *,
    file: Points,
    out: Out,
    paid: Payment,
    places: KnownPlaces,
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
    _counted(private_n_grams, _Asked(file, out, paid, places, reading), options, json=json)


@dataclass(frozen=True)
class _Asked:
    """What all counts need."""

    file: Path
    out: Path
    paid: Payment
    places: KnownPlaces
    reading: ReadingCounted


def _counted(
    count: Callable[..., Any], asked: _Asked, options: dict[str, int], *, json: bool, more: Path | None = None
) -> Any:
    """Read, pay, count, write and tell; return what was counted."""
    from sfumato.table.write import write

    refuse_existing(asked.out, force=None)
    if more is not None and more.resolve() == asked.out.resolve():
        raise InvalidParameterError("Counts and made-up ways cannot go to the same file; name two.")
    known = asked.places.known()
    if isinstance(known, list) != (asked.reading.place is not None):
        raise InvalidParameterError("Names of places need both --place and --places; leave both out with --area.")
    ways = asked.reading.read(asked.file)
    with asked.paid.open() as payment, progress("Counting"):
        found = count(ways, places=known, **payment, **options)
    write(found.to_arrow(), asked.out)
    _print(found, payment["accountant"], asked, json=json)
    return found


def _print(found: PlaceCounts | SequenceCounts, accountant: Accountant, asked: _Asked, *, json: bool) -> None:
    if json:
        print_json({**found.to_dict(), "epsilon_left": accountant.balance().total.left})
        return
    typer.echo(asked.out)
    typer.echo(repr(found))
    tell_spent(accountant, asked.paid.epsilon)
