"""`sfumato buckets`: part a bucketized table in two, join the parts, or spell it out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Force, Reading, RoleOptions, Source, examples, family, spread
from sfumato.cli.printing import progress
from sfumato.cli.writing import refuse_existing
from sfumato.exceptions import ReadError

EXAMPLES = examples(
    "sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts",
    "sfumato buckets join parts --out table.csv",
    "sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet",
)
RECORDS, VALUES = "records.csv", "values "
NewFile = Annotated[Path, typer.Option(metavar="FILE", help="CSV, Parquet or XLSX, by its suffix.", show_default=False)]

app = family("Part a bucketized table in two, join the parts, or spell it out.")


@app.command(epilog=examples("sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts"))
@spread
def split(
    *,
    file: Source,
    reading: Reading,
    described: RoleOptions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder.", show_default=False)],
) -> None:
    """Part a bucketized table: records with bucket numbers, and values per bucket.

    Writes records.csv, and for every column in buckets a file "values NAME.csv" with bucket, value and count.
    """
    from sfumato.release.bucket_tables import split_tables
    from sfumato.table.atomic import atomic_folder, refuse_occupied
    from sfumato.table.write import write

    schema = described.schema()
    refuse_occupied(out, replace=False)
    with progress("Parting"):
        records, values = split_tables(reading.read(file), schema)
        with atomic_folder(out, replace=False) as made:
            write(records, made / RECORDS)
            for name, counted in values.items():
                write(counted, made / f"{VALUES}{name}.csv")
    typer.echo(out)


@app.command(epilog=examples("sfumato buckets join parts --out table.csv"))
@spread
def join(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What split wrote.", show_default=False)],
    out: NewFile,
    force: Force = False,
) -> None:
    """Put records and the values of their buckets together again, values in random order."""
    from sfumato.release.bucket_tables import join_tables
    from sfumato.table.read import read
    from sfumato.table.write import write

    refuse_existing(out, force=force)
    parts = {path.stem.removeprefix(VALUES): path for path in sorted(folder.glob(f"{VALUES}*.csv"))}
    if not parts or not (folder / RECORDS).is_file():
        raise ReadError(f"{folder} lacks {RECORDS} or a file of values; give the folder that split wrote.")
    with progress("Joining"):
        write(join_tables(read(folder / RECORDS), {name: read(path) for name, path in parts.items()}), out)
    typer.echo(out)


@app.command(
    "spell-out",
    epilog=examples("sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet"),
)
@spread
def spell_out(*, file: Source, reading: Reading, described: RoleOptions, out: NewFile, force: Force = False) -> None:
    """Write one row for every record and every value that it may have, with its probability."""
    from sfumato.queries.estimates.long_form import long_form
    from sfumato.table.write import write

    schema = described.schema()
    refuse_existing(out, force=force)
    with progress("Spelling out"):
        write(long_form(reading.read(file), schema), out)
    typer.echo(out)
