"""`sfumato inspect`: propose a recipe for a raw table, with reasons, and measure how risky the table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sfumato.cli.options import (
    EngineArguments,
    Force,
    Json,
    ReadingOptions,
    Source,
    expand_option_groups,
    format_examples,
)
from sfumato.cli.printing import align_columns, print_json, print_remark, printable, show_progress_bar
from sfumato.cli.remembering import reading_as_options
from sfumato.cli.summary import rows_counted_lines
from sfumato.cli.words import to_shell_terms
from sfumato.cli.writing import check_overwrite, write_text_atomically
from sfumato.exceptions import ReadError, SchemaError
from sfumato.schema.roles import Role
from sfumato.table.formats.known import resolve_format

if TYPE_CHECKING:
    from sfumato.inspection.detect import Inspection
    from sfumato.sources.engines import EngineSelector
    from sfumato.table.formats.base import Option
    from sfumato.table.read import LoadedTable

INSPECT_EXAMPLES = format_examples(
    "sfumato inspect patients.csv --out recipe.toml",
    "sfumato inspect patients.csv --preset open-data > recipe.toml",
    "sfumato inspect 'census/*.parquet' --memory 4GB --out recipe.toml",
    "sfumato inspect sqlite:///clinic.db --table patients --json",
)
MAX_HELPFUL = 3


@expand_option_groups
def inspect(
    *,
    file: Source,
    reading: ReadingOptions,
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
    engines: EngineArguments,
    force: Force = False,
    json: Json = False,
) -> None:
    """Propose a recipe for a table, and measure how risky the table is.

    Every column gets a role and a scale, with reasons, in a recipe that you can edit. How the file is read is found
    out, told, and remembered in the recipe. The recipe goes to the --out file or to standard output; in the latter case
    the findings go to standard error.
    """
    from sfumato.release.presets import get_preset
    from sfumato.release.proposing import non_default_options, with_models

    check_overwrite(out, force=force)
    if preset is not None:
        get_preset(preset)
    found, loaded = _inspect_source(file, reading, engines.resources())
    found = with_models(found, preset)
    if not any(each.role is not Role.IDENTIFIER for each in found.proposals):
        _refuse_nothing(found, reading)
    more = [each for each in map(to_shell_terms, found.remarks) if each not in loaded.remarks]
    for sentence in more:
        print_remark(sentence)
    if out is not None:
        write_text_atomically(out, _proposed_recipe(file, found, loaded, preset))
    if json:
        print_json(
            {**found.to_dict(), "reading": non_default_options(loaded.reading), "remarks": [*loaded.remarks, *more]}
        )
        return
    if out is None:
        typer.echo(_proposed_recipe(file, found, loaded, preset), nl=False)
    if not reading.quiet:
        typer.echo("\n".join(_summary(found, non_default_options(loaded.reading))), err=out is None)
    if out is not None and not reading.quiet:
        typer.echo(f"\nRecipe: {out}")


def _refuse_nothing(found: Inspection, reading: ReadingOptions) -> NoReturn:
    """Refuse to propose a recipe that publishes nothing, which could not be run, and say what was found."""
    if not reading.quiet:
        typer.echo("\n".join(_summary(found, {})), err=True)
    raise SchemaError(
        "Every column seems to identify individuals, so there is nothing that a recipe could publish; name columns "
        "that do not, with the options --quasi and --sensitive of sfumato anonymize."
    )


def _inspect_source(file: str, reading: ReadingOptions, resources: EngineSelector) -> tuple[Inspection, LoadedTable]:
    """Inspect a table wherever it is; one that stays in an engine is not among what was read."""
    from sfumato.inspection.detect import inspect_columns, inspect_source
    from sfumato.table.formats.findings import FileFindings
    from sfumato.table.read import LoadedTable

    if resources.choose_engine(file) == "memory":
        loaded = reading.load(file, propose=True)
        with show_progress_bar("Inspecting"):
            found = inspect_columns(loaded.table, labels=loaded.labels)
        told = () if "decimal" in resolve_format(file, ReadError).read_options else found.remarks
        return replace(found, remarks=told), loaded
    told_of, options = FileFindings(proposing=True), reading.options()
    with show_progress_bar("Inspecting"):
        found = inspect_source(resources, file, {}, options, told_of)
    for sentence in told_of.remarks:
        print_remark(sentence)
    settled: Any = {**options, **told_of.options}
    return found, LoadedTable(table=None, reading=settled, remarks=tuple(map(to_shell_terms, told_of.remarks)))


def _proposed_recipe(file: str, found: Inspection, loaded: LoadedTable, preset: str | None) -> str:
    from sfumato.cli.proposing import commented_recipe
    from sfumato.table.formats.database import mask_url
    from sfumato.table.formats.known import is_url

    return commented_recipe(mask_url(file) if is_url(file) else Path(file).name, found, loaded, preset)


def _summary(found: Inspection, reading: Mapping[str, Option]) -> Iterator[str]:
    columns = "1 column" if len(found.proposals) == 1 else f"{len(found.proposals):,} columns"
    yield f"{found.rows:,} rows, {columns}"
    if reading:
        yield f"Read with {printable(reading_as_options(reading))}"
    yield ""
    rows = [("column", "role", "scale", "because")]
    for each in found.proposals:
        rows += zip((each.name,), (each.role,), (each.scale,), each.reasons[:1] or ("",), strict=True)
        rows += [("", "", "", reason) for reason in each.reasons[1:]]
    yield align_columns(rows)
    yield ""
    yield "Proposed privacy models:"
    yield from (f"  {printable(to_shell_terms(repr(model)))}" for model in found.models)
    yield ""
    yield from _risk_lines(found)
    if found.rows_counted is not None:
        yield from rows_counted_lines([found.rows_counted])
        yield "To anonymize it all the same, give --count-rows, or write count_rows = true below [release]."


def _risk_lines(found: Inspection) -> Iterator[str]:
    risk = found.risk
    if not risk.quasi:
        yield "No column seems to be a quasi-identifier."
        return
    yield f"Risk of the raw table, given its quasi-identifiers ({printable(', '.join(risk.quasi))}):"
    yield align_columns(
        [
            *(
                (f"records in groups of fewer than {limit}", _format_share(count, risk.records))
                for limit, count in risk.records_below.items()
            ),
            ("smallest group", f"{risk.smallest_group:,}"),
            ("average chance of finding a record", f"{risk.prosecutor_average:.1%}"),
        ],
        indent=2,
    )
    helpful = sorted(((count, name) for name, count in risk.unique_without.items() if count < risk.unique_records))
    for count, name in helpful[:MAX_HELPFUL]:
        yield f"  without {printable(name)!r}, {count:,} records would be in groups of fewer than 2"


def _format_share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})"
