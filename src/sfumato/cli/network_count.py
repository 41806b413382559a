"""`sfumato network count`: figures of a network, or a made-up one, with differential privacy and a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, command_group, expand_option_groups, format_examples
from sfumato.cli.paying import BudgetOptions, print_spent
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.reading_ways import read_told
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.networks.network import Graph
    from sfumato.queries.private.accountant import Accountant

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
        from sfumato.networks.counted_edges import is_edge_list, read_graph_for_counts

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
    from sfumato.networks.noisy_degrees import private_degrees
    from sfumato.table.write import write

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
    from sfumato.networks.noisy_triangles import private_triangles

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
    from sfumato.networks.noisy_stars import private_stars

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
    from sfumato.cli.asking import split_names
    from sfumato.networks.noisy_blocks import private_blocks
    from sfumato.table.write import write

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
    from sfumato.cli.asking import split_names
    from sfumato.networks.noisy_blocks import private_blocks
    from sfumato.networks.noisy_graph import private_graph
    from sfumato.table.atomic import atomic_folder, check_target_free

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

    from sfumato.table.write import write

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
