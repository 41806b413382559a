"""`sfumato relate`: publish several tables about the same people together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Json, examples
from sfumato.cli.printing import print_json, progress
from sfumato.cli.refusals import DOES_NOT_HOLD

EXAMPLES = examples(
    "sfumato relate hospital.toml --out release",
    "sfumato relate hospital.toml --audit",
)


def relate(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of relations (TOML).", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to write.")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Judge the tables as they are, and write nothing.")] = False,
    table_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="The format of the tables.")] = "csv",
    replace: Annotated[bool, typer.Option("--replace", help="Replace an older release in the folder.")] = False,
    json: Json = False,
) -> None:
    """Publish several tables joined by a person, so that what their join tells is shared by many.

    The file names the tables with their keys and columns, the table that has one row per person, and the models. With
    --audit, the exit code is 1 if the promise does not hold.
    """
    from sfumato.exceptions import InvalidParameterError
    from sfumato.relating.anonymizing import anonymize_relations
    from sfumato.relating.auditing import audit_relations
    from sfumato.relating.relations_file import read_relations
    from sfumato.table.atomic import refuse_occupied
    from sfumato.table.formats.known import release_format

    if (out is None) != audit:
        raise InvalidParameterError("Give --out to publish the tables, or --audit to judge them.")
    if out is not None:
        refuse_occupied(out, replace=replace)
        release_format(table_format)
    with progress("Reading"):
        asked = read_relations(file)
    if out is None:
        found = audit_relations(asked.tables, asked.models, persons=asked.persons)
        print_json(found.to_dict()) if json else typer.echo(repr(found))
        raise typer.Exit(0 if found.holds else DOES_NOT_HOLD)
    with progress("Searching"):
        release = anonymize_relations(
            asked.tables,
            asked.models,
            persons=asked.persons,
            max_suppressed=asked.max_suppressed,
            secret=asked.secret,
        )
        release.write(out, table_format=table_format, replace=replace)
    if json:
        levels = {name: dict(each) for name, each in release.levels.items()}
        print_json({"audit": release.audit.to_dict(), "levels": levels, "loss": release.loss})
        return
    typer.echo(repr(release))
    typer.echo(f"\nSafe to share:  {out / 'public'}\nKeep private:   {out / 'internal'}")
