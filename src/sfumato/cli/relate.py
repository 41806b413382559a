"""`sfumato relate`: publish several tables about the same people together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Json, format_examples
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.refusals import DOES_NOT_HOLD

RELATE_EXAMPLES = format_examples(
    "sfumato relate hospital.toml --out release",
    "sfumato relate hospital.toml --audit",
)


def anonymize_related_tables(
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
    from sfumato.table.atomic import check_target_free
    from sfumato.table.formats.known import resolve_release_format

    if (out is None) != audit:
        raise InvalidParameterError("Give --out to publish the tables, or --audit to judge them.")
    if out is not None:
        check_target_free(out, replace=replace)
        resolve_release_format(table_format)
    with show_progress_bar("Reading"):
        asked = read_relations(file)
    if out is None:
        found = audit_relations(asked.tables, asked.models, persons=asked.individuals)
        print_json(found.to_dict()) if json else typer.echo(repr(found))
        raise typer.Exit(0 if found.holds else DOES_NOT_HOLD)
    with show_progress_bar("Searching"):
        release = anonymize_relations(
            asked.tables,
            asked.models,
            persons=asked.individuals,
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
