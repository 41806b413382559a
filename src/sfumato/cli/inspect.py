"""`sfumato inspect`: propose a recipe for a raw table, with reasons, and measure how risky the table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sfumato.cli.options import EngineOptions, Force, Json, Reading, Source, examples, spread
from sfumato.cli.printing import aligned, print_json, printable, progress, remark
from sfumato.cli.remembering import as_options
from sfumato.cli.summary import rows_counted_lines
from sfumato.cli.words import in_shell
from sfumato.cli.writing import refuse_existing, write_text
from sfumato.exceptions import ReadError, SchemaError
from sfumato.schema.roles import Role
from sfumato.table.formats.known import format_of

if TYPE_CHECKING:
    from sfumato.inspection.detect import Inspection
    from sfumato.sources.engines import Resources
    from sfumato.table.formats.base import Option
    from sfumato.table.read import Loaded

EXAMPLES = examples(
    "sfumato inspect patients.csv --out recipe.toml",
    "sfumato inspect patients.csv --preset open-data > recipe.toml",
    "sfumato inspect 'census/*.parquet' --memory 4GB --out recipe.toml",
    "sfumato inspect sqlite:///clinic.db --table patients --json",
)
MOST_HELPFUL = 3


@spread
def inspect(
    *,
    file: Source,
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recipe to this file; by default it is printed.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Promise what fits who receives the table, or a rule: open-data, research-partner, colleagues, ema, "
            "ema-usual, wp216 or gbt-42460; by default as for research partners.",
        ),
    ] = None,
    engines: EngineOptions,
    force: Force = False,
    json: Json = False,
) -> None:
    """Propose a recipe for a table, and measure how risky the table is.

    Every column gets a role and a scale, with reasons, in a recipe that you can edit. How the file is read is found
    out, told, and remembered in the recipe. The recipe goes to the --out file or to standard output; in the latter case
    the findings go to standard error.
    """
    from sfumato.release.presets import preset_named
    from sfumato.release.proposing import to_remember, with_models

    refuse_existing(out, force=force)
    if preset is not None:
        preset_named(preset)
    found, loaded = _found(file, reading, engines.resources())
    found = with_models(found, preset)
    if not any(each.role is not Role.IDENTIFIER for each in found.proposals):
        _refuse_nothing(found, reading)
    more = [each for each in map(in_shell, found.remarks) if each not in loaded.remarks]
    for sentence in more:
        remark(sentence)
    if out is not None:
        write_text(out, _recipe(file, found, loaded, preset))
    if json:
        print_json({**found.to_dict(), "reading": to_remember(loaded.reading), "remarks": [*loaded.remarks, *more]})
        return
    if out is None:
        typer.echo(_recipe(file, found, loaded, preset), nl=False)
    if not reading.quiet:
        typer.echo("\n".join(_summary(found, to_remember(loaded.reading))), err=out is None)
    if out is not None and not reading.quiet:
        typer.echo(f"\nRecipe: {out}")


def _refuse_nothing(found: Inspection, reading: Reading) -> NoReturn:
    """Refuse to propose a recipe that publishes nothing, which could not be run, and say what was found."""
    if not reading.quiet:
        typer.echo("\n".join(_summary(found, {})), err=True)
    raise SchemaError(
        "Every column seems to identify individuals, so there is nothing that a recipe could publish; name columns "
        "that do not, with the options --quasi and --sensitive of sfumato anonymize."
    )


def _found(file: str, reading: Reading, resources: Resources) -> tuple[Inspection, Loaded]:
    """Inspect a table wherever it is; one that stays in an engine is not among what was read."""
    from sfumato.inspection.detect import inspect_columns, inspect_files
    from sfumato.table.formats.findings import FileFindings
    from sfumato.table.read import Loaded

    if resources.chosen(file) == "memory":
        loaded = reading.load(file, propose=True)
        with progress("Inspecting"):
            found = inspect_columns(loaded.table, labels=loaded.labels)
        told = () if "decimal" in format_of(file, ReadError).read_options else found.remarks
        return replace(found, remarks=told), loaded
    told_of, options = FileFindings(proposing=True), reading.options()
    with progress("Inspecting"):
        found = inspect_files(resources, file, {}, options, told_of)
    for sentence in told_of.remarks:
        remark(sentence)
    settled: Any = {**options, **told_of.options}
    return found, Loaded(table=None, reading=settled, remarks=tuple(map(in_shell, told_of.remarks)))


def _recipe(file: str, found: Inspection, loaded: Loaded, preset: str | None) -> str:
    from sfumato.cli.proposing import commented_recipe
    from sfumato.table.formats.database import masked
    from sfumato.table.formats.known import is_url

    return commented_recipe(masked(file) if is_url(file) else Path(file).name, found, loaded, preset)


def _summary(found: Inspection, reading: Mapping[str, Option]) -> Iterator[str]:
    columns = "1 column" if len(found.proposals) == 1 else f"{len(found.proposals):,} columns"
    yield f"{found.rows:,} rows, {columns}"
    if reading:
        yield f"Read with {printable(as_options(reading))}"
    yield ""
    rows = [("column", "role", "scale", "because")]
    for each in found.proposals:
        rows += zip((each.name,), (each.role,), (each.scale,), each.reasons[:1] or ("",), strict=True)
        rows += [("", "", "", reason) for reason in each.reasons[1:]]
    yield aligned(rows)
    yield ""
    yield "Proposed privacy models:"
    yield from (f"  {printable(in_shell(repr(model)))}" for model in found.models)
    yield ""
    yield from _risk(found)
    if found.rows_counted is not None:
        yield from rows_counted_lines([found.rows_counted])
        yield "To anonymize it all the same, give --count-rows, or write count_rows = true below [release]."


def _risk(found: Inspection) -> Iterator[str]:
    risk = found.risk
    if not risk.quasi:
        yield "No column seems to be a quasi-identifier."
        return
    yield f"Risk of the raw table, given its quasi-identifiers ({printable(', '.join(risk.quasi))}):"
    yield aligned(
        [
            *(
                (f"records in groups of fewer than {limit}", _share(count, risk.records))
                for limit, count in risk.records_below.items()
            ),
            ("smallest group", f"{risk.smallest_group:,}"),
            ("average chance of finding a record", f"{risk.prosecutor_average:.1%}"),
        ],
        indent=2,
    )
    helpful = sorted(((count, name) for name, count in risk.unique_without.items() if count < risk.unique_records))
    for count, name in helpful[:MOST_HELPFUL]:
        yield f"  without {printable(name)!r}, {count:,} records would be in groups of fewer than 2"


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})"
