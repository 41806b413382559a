"""`sfumato buckets`: split, join or expand a bucketized table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import (
    Force,
    ReadingOptions,
    RoleOptions,
    Source,
    command_group,
    expand_option_groups,
    format_examples,
)
from sfumato.cli.printing import show_progress_bar
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import ReadError

BUCKET_EXAMPLES = format_examples(
    "sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts",
    "sfumato buckets join parts --out table.csv",
    "sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet",
)
RECORDS, VALUES = "records.csv", "values "
NewFile = Annotated[Path, typer.Option(metavar="FILE", help="CSV, Parquet or XLSX, by its suffix.", show_default=False)]

app = command_group("Split, join or expand a bucketized table.")


@app.command(
    "split", epilog=format_examples("sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts")
)
@expand_option_groups
def split_buckets(
    *,
    file: Source,
    reading: ReadingOptions,
    described: RoleOptions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to create.", show_default=False)],
) -> None:
    """Split a bucketized table into records with bucket numbers and the values of every bucket.

    Writes records.csv and, for every column in buckets, a file "values NAME.csv" with bucket, value and count.
    """
    from sfumato.release.bucket_tables import split_bucketized
    from sfumato.table.atomic import atomic_folder, check_target_free
    from sfumato.table.write import write

    schema = described.schema()
    check_target_free(out, replace=False)
    with show_progress_bar("Parting"):
        records, values = split_bucketized(reading.read(file), schema)
        with atomic_folder(out, replace=False) as made:
            write(records, made / RECORDS)
            for name, counted in values.items():
                write(counted, made / f"{VALUES}{name}.csv")
    typer.echo(out)


@app.command("join", epilog=format_examples("sfumato buckets join parts --out table.csv"))
@expand_option_groups
def join_buckets(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that split wrote.", show_default=False)],
    out: NewFile,
    force: Force = False,
) -> None:
    """Join the two parts into one table again, with the values of each bucket in random order."""
    from sfumato.release.bucket_tables import join_bucketized
    from sfumato.table.read import read
    from sfumato.table.write import write

    check_overwrite(out, force=force)
    parts = {path.stem.removeprefix(VALUES): path for path in sorted(folder.glob(f"{VALUES}*.csv"))}
    if not parts or not (folder / RECORDS).is_file():
        raise ReadError(f"{folder} has no {RECORDS} or no file of values; give the folder that split wrote.")
    with show_progress_bar("Joining"):
        write(join_bucketized(read(folder / RECORDS), {name: read(path) for name, path in parts.items()}), out)
    typer.echo(out)


@app.command(
    "spell-out",
    epilog=format_examples(
        "sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet"
    ),
)
@expand_option_groups
def expand_buckets(
    *, file: Source, reading: ReadingOptions, described: RoleOptions, out: NewFile, force: Force = False
) -> None:
    """Expand a bucketized table: one row for every record and every value it may have, with its probability."""
    from sfumato.queries.estimates.long_form import long_form
    from sfumato.table.write import write

    schema = described.schema()
    check_overwrite(out, force=force)
    with show_progress_bar("Expanding"):
        write(long_form(reading.read(file), schema), out)
    typer.echo(out)
