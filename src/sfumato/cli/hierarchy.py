"""`sfumato hierarchy`: draw, check and make hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Reading, Source, examples, family, spread
from sfumato.cli.printing import printable
from sfumato.cli.refusals import DOES_NOT_HOLD, refuse
from sfumato.cli.writing import refuse_existing, write_text
from sfumato.exceptions import HierarchyError, InvalidParameterError, SchemaError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.hierarchies import Hierarchy

EXAMPLES = examples(
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

app = family("Draw, check and make hierarchies of values.")


@app.command(
    epilog=examples(
        "sfumato hierarchy draw job.csv",
        "sfumato hierarchy draw patients.csv --column age --kind intervals:5,10,20",
    )
)
@spread
def draw(
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A hierarchy file, or a table with --column.", show_default=False)
    ],
    reading: Reading,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="A column of the table.")] = None,
    kind: Kind = None,
    most: Annotated[int, typer.Option(metavar="N", help="How many children of a node to show.")] = 6,
) -> None:
    """Draw a hierarchy as a tree.

    The number after every node counts the leaves below it.
    """
    from sfumato.hierarchies import Taxonomy
    from sfumato.hierarchies.drawing import draw as drawn

    if column is None and kind is not None:
        raise InvalidParameterError("--kind also needs --column.")
    tree = Taxonomy.read_csv(file).hierarchy if column is None else _built(reading, file, column, kind)
    typer.echo(drawn(tree, max_children=most))


@app.command(
    epilog=examples(
        "sfumato hierarchy check job.csv patients.csv --column job",
        "sfumato hierarchy check job.csv patients.csv --column job --list > missing.txt",
    )
)
@spread
def check(
    *,
    hierarchy: Annotated[
        Path, typer.Argument(metavar="HIERARCHY", help="A CSV file: leaf;level1;...;*", show_default=False)
    ],
    file: Source,
    column: Column,
    reading: Reading,
    uncovered: Annotated[
        bool, typer.Option("--list", help="Print the values that it misses, one per line, and nothing else.")
    ] = False,
) -> None:
    """Check that a hierarchy file covers all values of a column.

    Exit codes: 0 it covers every value, 1 it is not a hierarchy or misses values, 2 bad request.
    """
    from sfumato.hierarchies import Taxonomy

    values, _ = _values(reading, file, column)
    try:
        taxonomy = Taxonomy.read_csv(hierarchy)
        if uncovered:
            missed = taxonomy.uncovered(values).to_pylist()
            typer.echo("".join(f"{printable(value)}\n" for value in missed), nl=False)
            raise typer.Exit(DOES_NOT_HOLD if missed else 0)
        tree = taxonomy.build(values)
    except HierarchyError as error:
        raise refuse(str(error), DOES_NOT_HOLD) from None
    spare = len(tree.leaves) - len(values)
    typer.echo(f"{hierarchy} covers all {len(values):,} values of column {column!r}.")
    typer.echo(f"Height {tree.height}; leaves that do not occur in the column: {spare:,}.")


@app.command(
    epilog=examples(
        "sfumato hierarchy make patients.csv --column zip --out zip.csv",
        "sfumato hierarchy make patients.csv --column admission --kind intervals:month,year",
    )
)
@spread
def make(
    *,
    file: Source,
    column: Column,
    reading: Reading,
    kind: Kind = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the hierarchy to this file; by default it is printed.")
    ] = None,
    force: Force = False,
) -> None:
    """Make a hierarchy for a column, as a CSV file that you can edit.

    The file has one line per value: leaf;level1;...;*
    """
    refuse_existing(out, force=force)
    text = _built(reading, file, column, kind).to_csv()
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        typer.echo(out)


def _values(reading: Reading, file: str, column: str) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return the distinct values of a column, without missing ones, and how many records have each."""
    from sfumato.hierarchies.outlines import counted
    from sfumato.validation import did_you_mean

    table = reading.read(file)
    if column not in table.column_names:
        hint = did_you_mean(column, table.column_names) or "."
        raise SchemaError(f"The table has no column {column!r}{hint}")
    return counted(table[column])


def _built(reading: Reading, file: str, column: str, kind: str | None) -> Hierarchy:
    from sfumato.hierarchies.proposing import automatic
    from sfumato.hierarchies.settings import read_builder

    values, counts = _values(reading, file, column)
    chosen = automatic(values, counts) if kind is None else read_builder(kind)
    return chosen.build(values)
