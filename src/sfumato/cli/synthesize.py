"""`sfumato condense`: publish synthetic records with the means and covariances of groups of at least k records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import (
    Force,
    Identifiers,
    Json,
    Known,
    ReadingOptions,
    RecipeFile,
    RecipeOptions,
    Secret,
    Source,
    command_group,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import (
    check_overwrite,
    folder_lines,
    print_json,
    printable,
    rows_counted_lines,
    show_progress_bar,
)
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.schema.schema import Schema
    from sfumato.synthesis.release import SyntheticRecords
    from sfumato.tables.models.base import GroupModel


CONDENSE_EXAMPLES = format_examples(
    "sfumato condense patients.csv --quasi age,sex,height_cm --sensitive cost,disease --k 20 --out synthetic.csv",
    "sfumato condense patients.csv --recipe recipe.toml --out synthetic",
    "sfumato condense patients.csv --recipe recipe.toml --by disease --rows 100000 --out synthetic.parquet",
)


@dataclass(frozen=True, kw_only=True)
class CondensationOptions:
    """The roles of the columns, and how large groups must be."""

    recipe: RecipeFile = None
    identifier: Identifiers = field(default_factory=list)
    quasi: Known = field(default_factory=list)
    sensitive: Secret = field(default_factory=list)
    insensitive: Annotated[list[str], typer.Option(metavar="A,B,...", help="Other columns to condense.")] = field(
        default_factory=list
    )
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", help="The smallest group size; by default the k of the recipe's k-anonymity."),
    ] = None

    def schema_and_k(self) -> tuple[Schema, int]:
        """Return the schema and the smallest group size given by the recipe and the options."""
        from sfumato.cli._recipe_options import build_audit_request

        promise = build_audit_request(RecipeOptions.from_options(self))
        return promise.schema, _largest_k(promise.models)


@expand_option_groups
def condense(
    *,
    file: Source,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE|DIR",
            help="Where to write the synthetic table; a name without a suffix is a folder for public/ and internal/.",
            show_default=False,
        ),
    ],
    reading: ReadingOptions,
    condensable: CondensationOptions,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of classes; no group mixes two classes.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="How many records to draw; by default as many as the table has.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Publish synthetic records with the means and covariances of groups of at least k records.

    All columns with a role except identifiers are condensed. Numbers and dates keep their covariances; other columns
    are drawn from the values of a group, independently of each other. No record belongs to a real person, but no
    privacy model is promised or audited beyond the size of the groups.

    A file name gives the table alone; a folder name gives it in public/, with its promise and a page about it, and
    recipe and report in internal/.
    """
    from sfumato.synthesis.condensation import Condensation

    _check_target(out, force=force)
    schema, k = condensable.schema_and_k()
    condensation = Condensation(k=k, by=by)
    data = reading.read(file)
    with show_progress_bar("Condensing"):
        made = condensation.release(data, schema, rows)
    with show_progress_bar("Writing"):
        _write_records(made, out, force=force)
    if json:
        print_json(_release_facts(made, out))
    elif not reading.quiet:
        typer.echo("\n".join(_release_lines(made, out)))


def _check_target(out: Path, *, force: bool) -> None:
    """Refuse before the work what would be refused after it."""
    from sfumato.core._atomic_writes import check_target_free

    if out.suffix:
        check_overwrite(out, force=force)
    else:
        check_target_free(out, replace=force)


def _write_records(made: SyntheticRecords, out: Path, *, force: bool) -> None:
    """Write the table alone into a file, or both folders of a release."""
    from sfumato.io._writing import write

    if out.suffix:
        write(made.frame, out)
    else:
        made.write(out, replace=force)


def _largest_k(models: Sequence[GroupModel]) -> int:
    """Return the largest k that is promised for all quasi-identifiers together."""
    from sfumato.tables.models.k_anonymity import KAnonymity

    promised = [model.k for model in models if isinstance(model, KAnonymity) and not model.quasi]
    if not promised:
        raise InvalidParameterError("The smallest group size is missing; give --k or a recipe with k-anonymity.")
    return max(promised)


def _release_lines(made: SyntheticRecords, out: Path) -> Iterator[str]:
    found = made.audit
    yield f"{found.records:,} records in {found.groups:,} groups of {found.smallest:,} to {found.largest:,}"
    yield from rows_counted_lines([found.rows_counted] if found.rows_counted is not None else [])
    yield ""
    yield from repr(made.moments).splitlines()
    yield ""
    yield from repr(made.nearest).splitlines()
    yield ""
    yield printable(f"{found.drawn:,} synthetic records are in {out}")
    if not out.suffix:
        yield from folder_lines(out)


def _release_facts(made: SyntheticRecords, out: Path) -> dict[str, object]:
    found = made.audit
    folders = {"public": str(out / "public"), "internal": str(out / "internal")}
    return {
        "rows_in": found.records,
        "rows_out": found.drawn,
        "groups": found.groups,
        "smallest_group": found.smallest,
        "largest_group": found.largest,
        "moments": made.moments.to_dict(),
        "nearest_originals": made.nearest.to_dict(),
        "out": str(out),
        **({} if found.rows_counted is None else {"rows_counted": found.rows_counted.to_dict()}),
        **({} if out.suffix else folders),
    }


# `sfumato stream`: condense records that arrive in batches, and draw new ones from the statistics.

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
    from sfumato.cli._recipe_options import split_names
    from sfumato.synthesis.stream import CondensationStream

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
    from sfumato.io._writing import write
    from sfumato.synthesis.stream import CondensationStream

    check_overwrite(out, force=force)
    stream = CondensationStream.load(state)
    with show_progress_bar("Drawing"):
        write(stream.sample(rows), out)
        stream.save(state)
    typer.echo(out)
