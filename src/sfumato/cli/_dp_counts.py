"""`sfumato network count`: figures of a network, or a made-up one, with differential privacy and a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._data_types import Points, ReadingCounted, parse_area, read_told
from sfumato.cli._errors import DOES_NOT_HOLD, exit_with_error
from sfumato.cli._options import Json, Source, command_group, expand_option_groups, format_examples
from sfumato.cli._output import check_overwrite, print_json, show_progress_bar
from sfumato.cli.dp import BudgetOptions, print_spent
from sfumato.errors import InfeasibleError, InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.dp.accountant import Accountant
    from sfumato.graphs.graph import Graph
    from sfumato.trajectories.dp import PrefixTree, PrivatePlaceCounts, SequenceCounts
    from sfumato.trajectories.grids import PublicPlaces
    from sfumato.transactions.dp import PrivateItemCounts


# `sfumato ways count`: count places, trips and sequences of places with differential privacy.

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
        from sfumato.io._reading import read
        from sfumato.io._values import format_values
        from sfumato.trajectories.grids import HexagonGrid, SquareGrid

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
    from sfumato.trajectories.dp import private_density

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
    from sfumato.trajectories.dp import private_trips

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
    from sfumato.trajectories.dp import private_prefix_tree

    check_overwrite(ways, force=None)
    asked = _CountRequest(file, out, paid, places, reading)
    found: PrefixTree = _run_count(private_prefix_tree, asked, {"height": height, "trips": trips}, json=json, more=ways)
    if ways is None:
        return
    from sfumato.io._writing import write

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
    from sfumato.trajectories.dp import private_n_grams

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
    from sfumato.io._writing import write

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


WHERE = "--budget friends.sqlite --analyst ann"
GRAPH_COUNT_EXAMPLES = format_examples(
    "sfumato network count degrees friends.txt --persons people.csv --epsilon 1 --budget friends.sqlite \\",
    "    --total 3 --analyst ann --out degrees.csv",
    f"sfumato network count triangles friends.txt --persons people.csv --epsilon 0.5 {WHERE}",
    f"sfumato network count graph friends.txt --persons people.csv --epsilon 1 {WHERE} --out made-up",
)

graph_counts_app = command_group(
    "Count in a network with differential privacy, and pay from a budget before anything is counted."
)


@dataclass(frozen=True, kw_only=True)
class GraphCountOptions:
    """Which network is counted, and how it is read."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="The edges.", show_default=False)]
    persons: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A table of all persons, whose number is public; the first column has keys."),
    ] = None
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of persons that holds the keys.")] = None
    as_undirected: Annotated[
        str | None,
        typer.Option(metavar="either|both", help="Whether one direction of an edge suffices, as by default."),
    ] = None
    separator: Annotated[str, typer.Option(metavar="CHAR", help="The separator of a table of edges.")] = ","
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of a table of edges.")] = "utf-8"

    def read(self) -> Graph:
        """Read the network as it is told; nothing is refused or said because of an edge."""
        from sfumato.graphs.dp._input import is_edge_list, read_graph_for_counts

        listed = is_edge_list(self.file)
        with show_progress_bar("Reading"):
            edges = None if listed else read_told(str(self.file), separator=self.separator, encoding=self.encoding)
            return read_graph_for_counts(
                self.file,
                edges=edges,
                persons=self.persons,
                key=self.key,
                as_undirected=self.as_undirected,  # type: ignore[arg-type]  # which is checked
            )


@dataclass(frozen=True, kw_only=True)
class PrivacyUnitOptions:
    """What is hidden."""

    unit: Annotated[str, typer.Option(metavar="UNIT", help="What is hidden: an edge, or a person with all hers.")] = (
        "edge"
    )
    bound: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For persons: how many neighbors count at most, known without looking; by default bought.",
        ),
    ] = None


NAMED = "The blocks, never taken from the data; whoever is in no other is counted in one without a name."
OutFile = Annotated[Path, typer.Option(metavar="FILE", help="Where the counts go.", show_default=False)]


@graph_counts_app.command(
    "degrees",
    epilog=format_examples(
        f"sfumato network count degrees friends.txt --persons people.csv --epsilon 1 {WHERE} --out degrees.csv",
        "sfumato network count degrees friends.txt --persons people.csv --unit person --bound 100 \\",
        f"    --epsilon 1 {WHERE} --out degrees.csv",
    ),
)
@expand_option_groups
def degree_distribution(
    *, counted: GraphCountOptions, hidden: PrivacyUnitOptions, paid: BudgetOptions, out: OutFile, json: Json = False
) -> None:
    """Count the persons with each number of neighbors; edges are hidden, or persons with all their edges.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.graphs.dp.degrees import private_degrees
    from sfumato.io._writing import write

    check_overwrite(out, force=None)
    network = counted.read()
    with paid.open() as payment:
        found = private_degrees(network, unit=hidden.unit, bound=hidden.bound, **payment)  # type: ignore[arg-type]  # checked
    write(found.to_frame(), out)
    facts = {"persons": len(network), "bound": found.bound, "scale": found.scale}
    _print_graph_counts(facts, payment["accountant"], found.epsilon, out, json=json)


@graph_counts_app.command(
    "triangles",
    epilog=format_examples(f"sfumato network count triangles friends.txt --persons people.csv --epsilon 0.5 {WHERE}"),
)
@expand_option_groups
def triangle_count(*, counted: GraphCountOptions, paid: BudgetOptions, json: Json = False) -> None:
    """Count the triangles, three persons who all know each other; edges are hidden.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.graphs.dp.subgraph_counts import private_triangles

    network = counted.read()
    with paid.open() as payment:
        found = private_triangles(network, **payment)
    facts = {"triangles": found.triangles, "persons": found.persons}
    _print_graph_counts(facts, payment["accountant"], found.epsilon, json=json)


@graph_counts_app.command(
    "stars",
    epilog=format_examples(
        f"sfumato network count stars friends.txt --persons people.csv --leaves 3 --epsilon 0.5 {WHERE}"
    ),
)
@expand_option_groups
def star_count(
    *,
    counted: GraphCountOptions,
    leaves: Annotated[int, typer.Option(metavar="N", help="How many leaves a star has: 2 or 3.")] = 2,
    paid: BudgetOptions,
    json: Json = False,
) -> None:
    """Count the stars, a person with two or three of her neighbors; edges are hidden.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.graphs.dp.subgraph_counts import private_stars

    network = counted.read()
    with paid.open() as payment:
        found = private_stars(network, leaves=leaves, **payment)
    facts = {"stars": found.stars, "leaves": found.leaves, "persons": found.persons}
    _print_graph_counts(facts, payment["accountant"], found.epsilon, json=json)


@graph_counts_app.command(
    "blocks",
    epilog=format_examples(
        "sfumato network count blocks edges.csv --persons people.csv --by city --blocks Rome,Oslo \\",
        f"    --epsilon 1 {WHERE} --out cities.csv",
    ),
)
@expand_option_groups
def block_counts(
    *,
    counted: GraphCountOptions,
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of persons that names public blocks.", show_default=False)
    ],
    named: Annotated[str, typer.Option("--blocks", metavar="A,B,...", help=NAMED, show_default=False)],
    paid: BudgetOptions,
    out: OutFile,
    json: Json = False,
) -> None:
    """Count the edges inside and between blocks of persons, which are public; edges are hidden.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.cli._recipe_options import split_names
    from sfumato.graphs.dp.block_counts import private_blocks
    from sfumato.io._writing import write

    check_overwrite(out, force=None)
    network = counted.read()
    with paid.open() as payment:
        found = private_blocks(network, blocks=by, names=split_names(named), **payment)
    write(found.to_frame(), out)
    facts = {"blocks": len(found.blocks) - 1, "persons": len(network), "scale": found.scale}
    _print_graph_counts(facts, payment["accountant"], found.epsilon, out, json=json)


@graph_counts_app.command(
    "graph",
    epilog=format_examples(
        f"sfumato network count graph friends.txt --persons people.csv --epsilon 1 {WHERE} --out made-up",
        "sfumato network count graph edges.csv --persons people.csv --by city --blocks Rome,Oslo \\",
        f"    --epsilon 1 {WHERE} --out made-up",
    ),
)
@expand_option_groups
def synthetic_graph(
    *,
    counted: GraphCountOptions,
    hidden: PrivacyUnitOptions,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Keep counts between these public blocks instead of degrees.")
    ] = None,
    named: Annotated[str | None, typer.Option("--blocks", metavar="A,B,...", help=NAMED)] = None,
    paid: BudgetOptions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder that the network goes to.", show_default=False)],
    json: Json = False,
) -> None:
    """Make up a network with noisy degrees, or with noisy counts of edges between public blocks.

    The folder gets persons.csv and edges.csv; nobody in them stands for anybody.

    Exit codes: 0 made, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.cli._recipe_options import split_names
    from sfumato.core._atomic_writes import atomic_folder, check_target_free
    from sfumato.graphs.dp.block_counts import private_blocks
    from sfumato.graphs.dp.degrees import private_graph

    check_target_free(out, replace=False)
    if by is not None and (hidden.unit != "edge" or hidden.bound is not None):
        raise InvalidParameterError("Blocks hide edges; leave out --unit and --bound, or leave out --by.")
    if (by is None) != (named is None):
        raise InvalidParameterError("--by names the column of public blocks and --blocks lists them; give both.")
    network = counted.read()
    with paid.open() as payment:
        if by is None or named is None:
            made = private_graph(network, unit=hidden.unit, bound=hidden.bound, **payment)  # type: ignore[arg-type]  # checked
        else:
            made = private_blocks(network, blocks=by, names=split_names(named), **payment).sample()
    with atomic_folder(out) as folder:
        _write_graph(made, folder)
    _print_graph_counts(
        {"persons": len(made), "edges": made.n_edges}, payment["accountant"], paid.epsilon, out, json=json
    )


def _write_graph(made: Graph, folder: Path) -> None:
    """Write persons, with their block if they have one, and edges."""
    import pyarrow as pa

    from sfumato.io._writing import write

    shown = {} if made.vertices is None else {name: made.vertices[name] for name in made.vertices.column_names}
    write(pa.table({"person": made.keys, **shown}), folder / "persons.csv")
    ends = {name: made.keys.take(pa.array(made.edges[:, side])) for side, name in enumerate(("source", "target"))}
    write(pa.table(ends), folder / "edges.csv")


def _print_graph_counts(
    facts: Mapping[str, Any], accountant: Accountant, epsilon: str, out: Path | None = None, *, json: bool
) -> None:
    """Print the figures, what they cost and what is left."""
    known = {name: value for name, value in facts.items() if value is not None}
    if json:
        balance = accountant.balance()
        cost = {"epsilon": epsilon, "neighbors": balance.neighbors, "epsilon_left": balance.total.left}
        print_json({**known, **cost})
        return
    if out is not None:
        typer.echo(out)
    told = (f"{name} {value:,}" if isinstance(value, int) else f"{name} {value:.4g}" for name, value in known.items())
    typer.echo(", ".join(told))
    print_spent(accountant, epsilon)


# `sfumato baskets log`: count the persons behind queries or clicks with differential privacy.

LOG_EXAMPLES = format_examples(
    "sfumato baskets log searches.csv --person user --item query --max-items 5 --epsilon 1 --delta 1e-6 \\",
    "    --budget searches.sqlite --total 2 --total-delta 1e-5 --analyst ann --out queries.csv",
    "sfumato baskets log searches.csv --person user --item query --item clicked --max-items 5 --epsilon 0.5 \\",
    "    --delta 1e-6 --budget searches.sqlite --analyst ann --out clicks.csv",
)


@dataclass(frozen=True, kw_only=True)
class LogColumnOptions:
    """What is counted."""

    person: Annotated[str, typer.Option(metavar="COLUMN", help="Whose rows these are.", show_default=False)]
    item: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="What is counted; repeat it to count pairs.", show_default=False),
    ]
    max_items: Annotated[
        int, typer.Option(metavar="N", help="For how many items a person counts at most.", show_default=False)
    ]
    keep: Annotated[
        str, typer.Option(metavar="WHICH", help="Which items a person with too many keeps: random or frequent.")
    ] = "random"
    separator: Annotated[str, typer.Option(metavar="CHAR", help="The separator of a text file.")] = ","
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of a text file.")] = "utf-8"

    def read(self, file: str) -> pa.Table:
        """Read a log as it is told, so that nobody's rows change how others are read."""
        return read_told(file, separator=self.separator, encoding=self.encoding)


@dataclass(frozen=True, kw_only=True)
class LogBudgetOptions(BudgetOptions):
    """What it costs, also of delta, and who pays from which budget."""

    delta: Annotated[str, typer.Option(metavar="NUMBER", help="The delta to spend.", show_default=False)]
    total_delta: Annotated[str | None, typer.Option(metavar="DELTA", help="A new budget: the delta of all.")] = None


@expand_option_groups
def log_counts(
    *,
    file: Source,
    counted: LogColumnOptions,
    paid: LogBudgetOptions,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the counts go.", show_default=False)],
    json: Json = False,
) -> None:
    """Count the persons behind every query of a log, or every pair of query and click, with differential privacy.

    Items that few persons have are left out, and nothing is told about them. The cost is spent before anything is
    counted. Separator and encoding are told, not detected, so that nobody's rows change how others are read.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.io._writing import write
    from sfumato.transactions.dp import private_item_counts

    check_overwrite(out, force=None)
    with show_progress_bar("Reading"):
        table = counted.read(file)
    with paid.open(total_delta=paid.total_delta) as payment:
        found = private_item_counts(
            table,
            person=counted.person,
            item=counted.item,
            max_items=counted.max_items,
            delta=paid.delta,
            keep=counted.keep,  # type: ignore[arg-type]  # which is checked
            **payment,
        )
    write(found.to_frame(), out)
    _print_log_counts(found, payment["accountant"], out, json=json)


def _print_log_counts(found: PrivateItemCounts, accountant: Accountant, out: Path, *, json: bool) -> None:
    balance = accountant.balance()
    if json:
        facts = {"items": len(found.items), "threshold": found.threshold, "scale": found.scale}
        left = {"epsilon_left": balance.total.left, "delta_left": balance.delta.left}
        cost = {"epsilon": found.epsilon, "delta": found.delta, "neighbors": found.neighbors}
        print_json({**facts, **cost, **left})
        return
    typer.echo(out)
    typer.echo(f"{len(found.items):,} items, each with at least {found.threshold:,} persons after the noise")
    print_spent(accountant, found.epsilon)
    typer.echo(f"delta {found.delta} was spent, {balance.delta.left} of {balance.delta.budget} is left")
