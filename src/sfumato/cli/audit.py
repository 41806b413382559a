"""`sfumato audit`: judge a published table, made by whatever tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Asked, Json, Reading, Source, examples, spread
from sfumato.cli.printing import print_json, progress
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.cli.summary import audit_lines, level_lines
from sfumato.exceptions import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.attributes.schema import Schema
    from sfumato.auditing.audit import Audit
    from sfumato.models.base import PrivacyModel

EXAMPLES = examples(
    "sfumato audit release/public/table.csv --recipe recipe.toml",
    "sfumato audit release/public/table.csv --recipe recipe.toml --original patients.csv \\",
    "    --correspondence release/internal/correspondence.parquet",
    "sfumato audit theirs.csv --quasi age,zip --sensitive disease",
    "sfumato audit theirs.csv --quasi age,zip --k 10 --ignore-suppressed --json",
)


@spread
def audit(
    *,
    file: Source,
    reading: Reading,
    asked: Asked,
    original: Annotated[
        str | None, typer.Option(metavar="FILE", help="The original table: is every published cell true?")
    ] = None,
    original_table: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which table, where the original is in a database.")
    ] = None,
    correspondence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Which original row each row was; else any will do.")
    ] = None,
    ignore_suppressed: Annotated[
        bool, typer.Option("--ignore-suppressed", help="Count rows that are * everywhere as left out.")
    ] = False,
    json: Json = False,
) -> None:
    """Judge a published table, made by whatever tool.

    It is judged from the table alone and, where the original is given, compared with that. Without
    models it tells what the table reaches, such as the largest k that it keeps. Exit codes: 0 every promise
    holds, 1 one does not hold or a cell is not true, 2 a bad request.
    """
    from sfumato.auditing.audit import audit_tables
    from sfumato.cli.asking import ask_promise

    schema, models = ask_promise(asked)
    if correspondence is not None and original is None:
        raise InvalidParameterError("--correspondence needs --original, too.")
    shown = reading.read(file)
    source = None if original is None else Reading(table=original_table).read(original)
    with progress("Judging"):
        found = audit_tables(
            shown,
            schema,
            models,
            original=source,
            correspondence=None if correspondence is None else _rows(correspondence),
            ignore_suppressed=ignore_suppressed,
        )
    if json:
        print_json(found.to_dict())
    else:
        lines = [*audit_lines(found), *([] if found.verdicts else level_lines(found))]
        typer.echo("\n".join(lines))
    if not found.holds:
        if not ignore_suppressed:
            _hint(found, shown, schema, models)
        raise typer.Exit(DOES_NOT_HOLD)


def _rows(path: Path) -> npt.NDArray[np.int64]:
    """Read the numbers of the original rows: the only column of whole numbers of a file."""
    import pyarrow as pa

    from sfumato.data.read import read

    table = read(path)
    numbers = [column for column in table.columns if pa.types.is_integer(column.type) and not column.null_count]
    if len(numbers) != 1:
        raise ReadError(f"{path} is no correspondence: it needs one column of whole numbers, without gaps.")
    rows: npt.NDArray[np.int64] = numbers[0].to_numpy()
    return rows


def _hint(found: Audit, shown: pa.Table, schema: Schema, models: tuple[PrivacyModel, ...]) -> None:
    """Say so when only records that are suppressed everywhere break the promise."""
    from sfumato.auditing.audit import audit_tables
    from sfumato.exceptions import SfumatoError

    try:
        apart = audit_tables(shown, schema, models, ignore_suppressed=True)
    except SfumatoError:
        return
    broken = sum(verdict.holds for verdict in found.verdicts) < sum(verdict.holds for verdict in apart.verdicts)
    if broken:
        typer.echo(
            f"sfumato: {apart.set_aside:,} rows are * in every quasi-identifier and break a promise as a group; "
            "if they are suppressed records, give --ignore-suppressed.",
            err=True,
        )
