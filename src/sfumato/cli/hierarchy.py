"""`sfumato hierarchy`: draw, check and make hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._errors import DOES_NOT_HOLD, exit_with_error
from sfumato.cli._options import Force, ReadingOptions, Source, command_group, expand_option_groups, format_examples
from sfumato.cli._output import check_overwrite, printable, write_text_atomically
from sfumato.errors import HierarchyError, InvalidParameterError, SchemaError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.hierarchies.hierarchy import Hierarchy

EXAMPLES = format_examples(
    "sfumato hierarchy make patients.csv --column zip --out zip.csv",
    "sfumato hierarchy check zip.csv patients.csv --column zip",
    "sfumato hierarchy draw zip.csv",
)

Column = Annotated[str, typer.Option(metavar="NAME", help="A column of the table.", show_default=False)]
Kind = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="intervals:5,10,20, intervals:month,year, prefixes or prefixes:3,1; by default chosen from the values.",
    ),
]

app = command_group("Draw, check and make hierarchies of values.")


@app.command(
    "draw",
    epilog=format_examples(
        "sfumato hierarchy draw job.csv",
        "sfumato hierarchy draw patients.csv --column age --kind intervals:5,10,20",
    ),
)
@expand_option_groups
def draw_hierarchy(
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A hierarchy file, or a table with --column.", show_default=False)
    ],
    reading: ReadingOptions,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="A column of the table.")] = None,
    kind: Kind = None,
    most: Annotated[int, typer.Option(metavar="N", help="How many children of a node to show.")] = 6,
) -> None:
    """Draw a hierarchy as a tree.

    The number after every node counts the leaves below it.
    """
    from sfumato.hierarchies.drawing import draw_hierarchy as drawn
    from sfumato.hierarchies.taxonomy import Taxonomy

    if column is None and kind is not None:
        raise InvalidParameterError("--kind also needs --column.")
    tree = Taxonomy.read_csv(file).hierarchy if column is None else _build_hierarchy(reading, file, column, kind)
    typer.echo(drawn(tree, max_children=most))


@app.command(
    "check",
    epilog=format_examples(
        "sfumato hierarchy check job.csv patients.csv --column job",
        "sfumato hierarchy check job.csv patients.csv --column job --list > missing.txt",
    ),
)
@expand_option_groups
def check_hierarchy(
    *,
    hierarchy: Annotated[
        Path, typer.Argument(metavar="HIERARCHY", help="A CSV file: leaf;level1;...;*", show_default=False)
    ],
    file: Source,
    column: Column,
    reading: ReadingOptions,
    uncovered: Annotated[
        bool, typer.Option("--list", help="Print the values that it misses, one per line, and nothing else.")
    ] = False,
) -> None:
    """Check that a hierarchy file covers all values of a column.

    Exit codes: 0 it covers every value, 1 it is not a hierarchy or misses values, 2 bad request.
    """
    from sfumato.hierarchies.taxonomy import Taxonomy

    values, _ = _distinct_values(reading, file, column)
    try:
        taxonomy = Taxonomy.read_csv(hierarchy)
        if uncovered:
            missed = taxonomy.find_uncovered(values).to_pylist()
            typer.echo("".join(f"{printable(value)}\n" for value in missed), nl=False)
            raise typer.Exit(DOES_NOT_HOLD if missed else 0)
        tree = taxonomy.build(values)
    except HierarchyError as error:
        raise exit_with_error(str(error), DOES_NOT_HOLD) from None
    spare = len(tree.leaves) - len(values)
    typer.echo(f"{hierarchy} covers all {len(values):,} values of column {column!r}.")
    typer.echo(f"Height {tree.height}; leaves that do not occur in the column: {spare:,}.")


@app.command(
    "make",
    epilog=format_examples(
        "sfumato hierarchy make patients.csv --column zip --out zip.csv",
        "sfumato hierarchy make patients.csv --column admission --kind intervals:month,year",
    ),
)
@expand_option_groups
def make_hierarchy(
    *,
    file: Source,
    column: Column,
    reading: ReadingOptions,
    kind: Kind = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the hierarchy to this file; by default it is printed.")
    ] = None,
    force: Force = False,
) -> None:
    """Make a hierarchy for a column, as a CSV file that you can edit.

    The file has one line per value: leaf;level1;...;*
    """
    check_overwrite(out, force=force)
    text = _build_hierarchy(reading, file, column, kind).to_csv()
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text_atomically(out, text)
        typer.echo(out)


def _distinct_values(reading: ReadingOptions, file: str, column: str) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return the distinct values of a column, without missing ones, and how many records have each."""
    from sfumato._validation import suggest_closest
    from sfumato.hierarchies.preview import count_values

    table = reading.read(file)
    if column not in table.column_names:
        hint = suggest_closest(column, table.column_names) or "."
        raise SchemaError(f"The table has no column {column!r}{hint}")
    return count_values(table[column])


def _build_hierarchy(reading: ReadingOptions, file: str, column: str, kind: str | None) -> Hierarchy:
    from sfumato.hierarchies._settings import parse_builder
    from sfumato.hierarchies.proposal import propose_hierarchy

    values, counts = _distinct_values(reading, file, column)
    chosen = propose_hierarchy(values, counts) if kind is None else parse_builder(kind)
    return chosen.build(values)
