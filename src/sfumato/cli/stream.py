"""`sfumato stream`: condense records that arrive in batches, and draw new ones from the statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Force, ReadingOptions, Source, command_group, expand_option_groups, format_examples
from sfumato.cli.printing import show_progress_bar
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import InvalidParameterError

STREAM_EXAMPLES = format_examples(
    "sfumato stream update visits.state january.csv --k 20 --columns age,sex,cost",
    "sfumato stream update visits.state february.csv",
    "sfumato stream sample visits.state --rows 10000 --out synthetic.csv",
)
State = Annotated[
    Path, typer.Argument(metavar="STATE", help="The state file; as confidential as the records.", show_default=False)
]

app = command_group("Condense records that arrive in batches, and draw new ones.")


@app.command(
    "update",
    epilog=format_examples(
        "sfumato stream update visits.state january.csv --k 20 --columns age,sex,cost",
        "sfumato stream update visits.state february.csv",
    ),
)
@expand_option_groups
def update_stream(
    *,
    state: State,
    file: Source,
    reading: ReadingOptions,
    k: Annotated[int | None, typer.Option("--k", metavar="N", help="At the start: the smallest group size.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="At the start: the columns to condense.")
    ] = None,
    categorical: Annotated[
        str, typer.Option(metavar="A,B,...", help="At the start: columns whose numbers are only labels.")
    ] = "",
    most_groups: Annotated[int, typer.Option(metavar="N", help="At the start: the most groups to keep.")] = 1000,
) -> None:
    """Add a batch of records to the groups; only statistics of groups are kept.

    The first batch needs --k and --columns, and creates the state. A batch that does not fit changes nothing.
    """
    from sfumato.cli.asking import split_names
    from sfumato.condensing.stream import CondensationStream

    fresh = not state.exists()
    if fresh and (k is None or columns is None):
        raise InvalidParameterError(f"{state} does not exist; give --k and --columns to create it.")
    if not fresh and (k is not None or columns is not None):
        raise InvalidParameterError(f"{state} already has its settings; drop --k and --columns.")
    if k is not None and columns is not None:
        named, names = split_names(columns), split_names(categorical)
        stream = CondensationStream(k=k, columns=named, categorical=names, most_groups=most_groups)
    else:
        stream = CondensationStream.load(state)
    batch = reading.read(file)
    with show_progress_bar("Condensing"):
        stream.update(batch)
        stream.save(state)
    typer.echo(repr(stream))


@app.command("sample", epilog=format_examples("sfumato stream sample visits.state --rows 10000 --out synthetic.csv"))
@expand_option_groups
def sample_stream(
    *,
    state: State,
    rows: Annotated[int, typer.Option(metavar="N", help="How many records to draw.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV, Parquet or XLSX, by its suffix.", show_default=False)],
    force: Force = False,
) -> None:
    """Draw new records from the groups, from each in proportion to its size."""
    from sfumato.condensing.stream import CondensationStream
    from sfumato.table.write import write

    check_overwrite(out, force=force)
    stream = CondensationStream.load(state)
    with show_progress_bar("Drawing"):
        write(stream.sample(rows), out)
        stream.save(state)
    typer.echo(out)
