"""`sfumato inspect`: propose a recipe for a raw table, with reasons, and measure how risky the table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sfumato import __version__
from sfumato.cli._options import (
    EngineArguments,
    Force,
    Json,
    ReadingOptions,
    Source,
    expand_option_groups,
    format_examples,
    reading_as_options,
)
from sfumato.cli._output import (
    align_columns,
    check_overwrite,
    print_json,
    print_remark,
    printable,
    rows_counted_lines,
    show_progress_bar,
    write_text_atomically,
)
from sfumato.cli._terms import to_shell_terms
from sfumato.errors import ReadError, SchemaError

if TYPE_CHECKING:
    from sfumato.io._reading import LoadedTable
    from sfumato.io.formats import Option
    from sfumato.tables._pipeline.presets import Preset
    from sfumato.tables.engines.options import EngineSelector
    from sfumato.tables.inspection.inspection import ColumnProposal, Inspection
    from sfumato.tables.models.base import GroupModel


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
    from sfumato.schema.roles import Role
    from sfumato.tables._pipeline.presets import get_preset, non_default_options, with_models

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
    from sfumato.io._reading import LoadedTable
    from sfumato.io.formats import FileFindings, resolve_format
    from sfumato.tables.inspection.inspection import inspect_columns, inspect_source

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
    from sfumato.io._database import mask_url
    from sfumato.io.formats import is_url

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


# A proposed recipe as TOML, with the reasons as comments above the lines they explain.

WIDTH = 100


def commented_recipe(source: str, found: Inspection, loaded: LoadedTable, preset: str | None = None) -> str:
    """Write a recipe that can be run on the inspected table as it stands, or edited first."""
    import tomli_w

    from sfumato.tables._pipeline.presets import PRESETS, USUAL, propose_recipe

    recipe = propose_recipe(found, loaded.table, reading=loaded.reading, preset=preset)
    content = recipe.to_dict()
    attributes, models = content.pop("attributes"), content.pop("models")
    algorithm = {"algorithm": content.pop("algorithm")}
    source_table = {"input": content.pop("input", {})}
    reasons = {each.name: each.reasons for each in found.proposals}
    parts = [
        _comment_wrapper(
            f"Proposed by sfumato {__version__} for {source}: {found.rows:,} rows, {len(found.proposals):,} columns.",
            "Check every role, then run: sfumato anonymize FILE --recipe THIS --out DIR",
            "Roles: identifier (never published), quasi (others may know it; generalized),",
            "sensitive (nobody should learn it), insensitive (published unchanged).",
        ),
        tomli_w.dumps(content) + _counted(found),
        _comment_wrapper("The table, and how it is read.", *loaded.remarks) + tomli_w.dumps(source_table),
    ]
    parts += [
        _comment_wrapper(*reasons[name]) + tomli_w.dumps({"attributes": {name: entry}})
        for name, entry in attributes.items()
    ]
    chosen = PRESETS[preset or USUAL]
    parts += [_comment_wrapper(*_left_out(each, chosen)) for each in found.proposals if each.name not in attributes]
    parts += [_comment_wrapper(*wrap(f"{chosen.title}: {chosen.reason}", WIDTH)).rstrip()]
    parts += [
        _comment_wrapper(*_model_comment(model, found, preset)) + "[[models]]\n" + tomli_w.dumps(entry)
        for model, entry in zip(recipe.models, models, strict=True)
    ]
    return "\n".join([*parts, tomli_w.dumps(algorithm)])


def _left_out(column: ColumnProposal, chosen: Preset) -> list[str]:
    sentence = (
        f"Column {column.name!r} is left out: it is sensitive, and {column.commonest:.0%} of its values are the same "
        f"or missing, so nothing keeps {chosen.title!r}, where none may be more than one in {chosen.l} of a group."
    )
    return wrap(sentence, WIDTH)


def _counted(found: Inspection) -> str:
    """Say below the section of the release that individuals have several rows, if they do."""
    if found.rows_counted is None:
        return ""
    wrapped = wrap(found.rows_counted.sentence, WIDTH)
    return _comment_wrapper(*wrapped, "To go on all the same:") + "# count_rows = true\n"


def _model_comment(model: GroupModel, found: Inspection, preset: str | None) -> list[str]:
    sentences = [] if model.description is None else wrap(model.description.sentence(model.parameters()), WIDTH)
    from sfumato.tables._pipeline.presets import USUAL_K
    from sfumato.tables.models.k_anonymity import KAnonymity

    lowered = preset is None and isinstance(model, KAnonymity) and found.rows < USUAL_K
    return [*sentences, *([f"The table has only {found.rows} rows."] if lowered else [])]


def _comment_wrapper(*lines: str) -> str:
    return "".join(f"# {printable(line)}\n" for line in lines)


# `sfumato script`: a recipe as a Python script.

SCRIPT_EXAMPLES = format_examples(
    "sfumato script patients.csv --recipe recipe.toml",
    "sfumato script patients.csv --recipe release/internal/recipe.toml --out release.py",
)


def recipe_as_script(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The table that the script reads.", show_default=False)],
    recipe: Annotated[Path, typer.Option(metavar="FILE", help="The recipe (TOML).", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the script to this file; by default it is printed.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a recipe as a Python script that makes the same release.

    A recipe in internal/ has the seed and, where people are hidden at random, the secret: keep its script private, too.
    """
    from sfumato.core.recipe import Recipe

    check_overwrite(out, force=force)
    written = Recipe.read(recipe).to_python(file)
    if out is None:
        typer.echo(written, nl=False)
    else:
        write_text_atomically(out, written)
        typer.echo(out)
