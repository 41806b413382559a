"""`sfumato anonymize`: publish a table under a privacy promise."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import (
    CountRows,
    Json,
    Language,
    PublishText,
    ReadingOptions,
    RecipeOptions,
    ReleaseEngineArguments,
    SeriesOptions,
    Source,
    Steps,
    WritingOptions,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import (
    audit_lines,
    color_warning,
    folder_lines,
    masking_lines,
    metric_lines,
    print_json,
    print_remark,
    printable,
    report_path,
    series_lines,
    series_summary,
    show_progress_bar,
)
from sfumato.errors import InvalidParameterError, WriteError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.recipe import Recipe
    from sfumato.tables._pipeline.release import Release
    from sfumato.tables.engines.options import EngineSelector
    from sfumato.tables.out_of_core.stored_release import StoredRelease
    from sfumato.tables.series.series import Series


SEARCH_HELP = "The algorithm, as in optimal:loss=precision or fixed-levels:levels=age=1+zip=2; by default Mondrian."
SHARE_HELP = "The share of records that may be suppressed."
SEED_HELP = "Seed of the search; buckets are repeated only by a recipe's secret."
BLOCK_HELP = "Cut a table with more rows into blocks of at most this many, and search each of them alone."
ANONYMIZE_EXAMPLES = format_examples(
    "sfumato anonymize patients.csv --recipe recipe.toml --out release",
    "sfumato anonymize patients.csv --recipe recipe.toml --k 10 --out release --replace",
    "sfumato anonymize patients.csv --identifier name --quasi age,zip,job --sensitive disease \\",
    "    --hierarchy age=intervals:5,10,20 --hierarchy zip=prefixes --hierarchy job=job.csv \\",
    "    --k 5 --model distinct-l-diversity:l=3,sensitive=disease --out release",
    'sfumato anonymize "census/*.parquet" --recipe recipe.toml --memory 4GB --out release',
    'sfumato anonymize "census/*.parquet" --recipe recipe.toml --algorithm local-recoding \\',
    "    --block-rows 500000 --memory 4GB --out release",
    "sfumato anonymize q2.csv --recipe recipe.toml --ledger hospital.ledger --out 2026-q2",
    "sfumato anonymize postgresql://ann@host/clinic --table patients --recipe recipe.toml \\",
    "    --out release --to postgresql://ann@host/research --to-table patients_k5",
)


@expand_option_groups
def anonymize(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: ReadingOptions,
    asked: RecipeOptions,
    algorithm: Annotated[str | None, typer.Option(metavar="NAME[:KEY=VALUE,...]", help=SEARCH_HELP)] = None,
    step: Steps = [],  # noqa: B006 - Typer copies it
    max_suppressed: Annotated[float | None, typer.Option(metavar="SHARE", help=SHARE_HELP)] = None,
    block_rows: Annotated[int | None, typer.Option(metavar="N", help=BLOCK_HELP)] = None,
    count_rows: CountRows = False,
    publish_text: PublishText = [],  # noqa: B006 - Typer copies it
    seed: Annotated[int | None, typer.Option(metavar="N", help=SEED_HELP)] = None,
    date: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="The date in the report's title; by default that of the recipe's run on this very table, or today.",
        ),
    ] = None,
    language: Language = None,
    writing: WritingOptions,
    engines: ReleaseEngineArguments,
    series: SeriesOptions,
    to: Annotated[str | None, typer.Option(metavar="URL", help="Also write the table into this database.")] = None,
    to_table: Annotated[str | None, typer.Option(metavar="NAME", help="Its name in the database.")] = None,
    json: Json = False,
) -> None:
    """Publish a table under a privacy promise, together with its audit and recipe.

    The promise and the role of every column come from a recipe (see sfumato inspect), from options, or from both:
    options override the recipe, column by column and model by model. A release that fails its own audit is withheld.
    """
    from sfumato.cli._recipe_options import build_recipe

    _check_database_options(to, to_table)
    writing.check_target(out)
    resources, ledger = engines.resources(), series.opened()
    recipe = build_recipe(
        asked,
        algorithm=algorithm,
        max_suppressed=max_suppressed,
        block_rows=block_rows,
        count_rows=count_rows,
        publish_text=publish_text,
        seed=seed,
        steps=step,
    )
    recipe = replace(recipe, language=language or recipe.language)
    release: Release | StoredRelease
    if resources.choose_engine(file, recipe.schema.attributes) == "memory":
        recipe, table = read_for(recipe, file, reading)
        recipe = with_title(recipe, file, date, recorded=seed is None and recipe.seed is not None)
        release = _make_in_memory(recipe, table, out, writing, (to, to_table), ledger=ledger)
    else:
        recipe = with_title(
            replace(recipe, reading={**recipe.reading, **reading.options()}), file, date, recorded=False
        )
        release = _make_out_of_core(resources, recipe, file, out, writing=writing, to=to, ledger=ledger)
    print_release_summary(release, out, to, to_table, json=json, quiet=reading.quiet)


def _make_in_memory(
    recipe: Recipe,
    table: pa.Table,
    out: Path,
    writing: WritingOptions,
    to: tuple[str | None, str | None],
    *,
    ledger: Series | None,
) -> Release:
    """Make a release in memory, and write it; `to` is a database and the name of a table there, if given."""
    from sfumato.tables._pipeline.anonymize import run_recipe

    with show_progress_bar("Searching") as tell:
        release: Release = run_recipe(recipe, table, progress=tell, ledger=ledger)
    with show_progress_bar("Writing") as tell:
        writing.write(release, out, tell)
        if to[0] is not None and to[1] is not None:
            _write_database(release, out, to[0], to[1], replace=writing.replace)
    return release


def _make_out_of_core(
    resources: EngineSelector,
    recipe: Recipe,
    file: str,
    out: Path,
    *,
    writing: WritingOptions,
    to: str | None,
    ledger: Series | None,
) -> Release | StoredRelease:
    """Make a release of a table that does not fit into memory; it is written as Parquet parts."""
    from sfumato.tables._pipeline.anonymize import run_recipe_in

    if to is not None:
        raise InvalidParameterError("--to needs a table that fits into memory; load the Parquet parts yourself.")
    writing.check_parts_format()
    with show_progress_bar("Releasing") as tell:
        return run_recipe_in(
            resources,
            recipe,
            file,
            out,
            replace=writing.replace,
            report=not writing.no_report,
            progress=tell,
            ledger=ledger,
        )


def read_for(recipe: Recipe, file: str, reading: ReadingOptions) -> tuple[Recipe, pa.Table]:
    """Read a table as its recipe says, say if it is another one, and remember how it was read."""
    from sfumato.tables._pipeline.presets import non_default_options

    loaded = reading.load(file, recipe.reading)
    unlike = recipe.explain_input_mismatch(loaded.table)
    if unlike is not None:
        if recipe.ledger is None:  # the next release of a series is of another table
            print_remark(unlike)
        recipe = replace(recipe, input_rows=None, input_sha256=None, input_file=None, input_date=None)
    return replace(recipe, reading=non_default_options(loaded.reading)), loaded.table


def print_release_summary(
    release: Release | StoredRelease,
    out: Path,
    to: str | None = None,
    to_table: str | None = None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was made, and where it is."""
    if json:
        print_json(_release_facts(release, out))
    elif not quiet:
        typer.echo("\n".join(_release_lines(release, out, to, to_table)))


def with_title(recipe: Recipe, file: str, date: str | None, *, recorded: bool) -> Recipe:
    """Record what the title of the report tells: the name of the file, and the date, by default today's."""
    from sfumato.io._database import mask_url
    from sfumato.io.formats import is_url
    from sfumato.tables._pipeline.recipe_edits import with_title as recorded_title

    return recorded_title(recipe, mask_url(file) if is_url(file) else Path(file).name, date, recorded=recorded)


def _check_database_options(to: str | None, to_table: str | None) -> None:
    """Refuse before the search what names no table of a database."""
    from sfumato.io.formats import is_url

    if (to is None) != (to_table is None):
        raise InvalidParameterError("Give --to and --to-table together.")
    if to is not None and not is_url(to):
        raise InvalidParameterError("--to must be a database URL, as in sqlite:///release.db.")


def _write_database(release: Release, out: Path, url: str, name: str, *, replace: bool) -> None:
    from sfumato.io._columns import strip_metadata
    from sfumato.io._dataframes import get_time_zones, restore_time_zones
    from sfumato.io._writing import write

    try:
        published = restore_time_zones(strip_metadata(release.published), get_time_zones(release.original))
        write(published, url, table_name=name, if_exists="replace" if replace else "fail")
    except WriteError as error:
        raise WriteError(f"{str(error).rstrip('.')}; the release in {out} is complete.") from None


def _release_facts(release: Release | StoredRelease, out: Path) -> dict[str, object]:
    from sfumato.tables.audit.audit import unprotected_attributes
    from sfumato.tables.out_of_core.stored_release import StoredRelease

    return {
        "holds": release.audit.holds,
        "rows_in": release.audit.records + release.suppressed,
        "rows_out": release.audit.records,
        "suppressed": release.suppressed,
        "left_out": list(release.left_out),
        "audit": release.audit.to_dict(),
        "unpromised": [each.to_dict() for each in unprotected_attributes(release.audit)],
        "measures": dict(release.metrics),
        **series_summary(release),
        "masking": [record.to_dict() for record in release.masking],
        "search": None if release.proof is None else {**asdict(release.proof), "optimal": release.proof.optimal},
        **({"engine": release.passage.to_dict()} if isinstance(release, StoredRelease) else {}),
        "public": str(out / "public"),
        "internal": str(out / "internal"),
        "report": report_path(out),
    }


def _release_lines(release: Release | StoredRelease, out: Path, to: str | None, to_table: str | None) -> list[str]:
    from sfumato.io._database import mask_url
    from sfumato.tables.out_of_core.stored_release import StoredRelease

    unpromised = f"{color_warning('No promise:')} no privacy model is promised; attack the table before you publish it."
    lines = [] if release.recipe.models else [unpromised]
    lines += [*audit_lines(release.audit), "", *metric_lines(release.metrics), "", *masking_lines(release)]
    if release.proof is not None:
        lines += [str(release.proof), ""]
    if release.left_out:
        names = printable(", ".join(release.left_out))
        lines += [f"Columns without a role, not published: {names}", ""]
    if isinstance(release, StoredRelease):
        lines += [str(release.passage), ""]
    lines += series_lines(release)
    if to is not None:
        lines.append(f"Also written to table {to_table!r} of {mask_url(to)}")
    return [*lines, *folder_lines(out)]


# `sfumato mask`: mask a table and publish it as it is.

NOTHING_MASKED = "Nothing is masked; give --step (see sfumato steps) or a recipe with [[masking]]."
MASK_EXAMPLES = format_examples(
    "sfumato mask patients.csv --identifier name --quasi age,zip --sensitive disease --insensitive cost \\",
    "    --step top-code:column=age,at=85 --step add-noise:columns=age+cost,share=0.1 --out masked",
    "sfumato mask patients.csv --quasi age,sex,job --k 3 \\",
    "    --step round-numbers:columns=age,base=10 --step suppress-cells:columns=age+sex+job,k=3 --out masked",
)


@expand_option_groups
def mask_table(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: ReadingOptions,
    asked: RecipeOptions,
    step: Steps = [],  # noqa: B006 - Typer copies it
    max_suppressed: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of records that may be suppressed.")
    ] = None,
    count_rows: CountRows = False,
    publish_text: PublishText = [],  # noqa: B006 - Typer copies it
    writing: WritingOptions,
    json: Json = False,
) -> None:
    """Mask a table and publish what the steps leave, without making anything coarser.

    A privacy model is promised only if you ask for one, and then audited. Without one, nothing is said about how many
    persons look alike: read the attacks in the report before you publish.
    """
    from sfumato.cli._recipe_options import build_recipe
    from sfumato.tables._pipeline.anonymize import run_recipe

    writing.check_target(out)
    if not step and asked.recipe is None:
        raise InvalidParameterError(NOTHING_MASKED)
    recipe = build_recipe(
        asked,
        algorithm="as-is",
        max_suppressed=max_suppressed,
        count_rows=count_rows,
        publish_text=publish_text,
        seed=None,
        steps=step,
    )
    if not recipe.masking:
        raise InvalidParameterError(NOTHING_MASKED)
    recipe, table = read_for(recipe, file, reading)
    with show_progress_bar("Masking") as tell:
        release = run_recipe(recipe, table, progress=tell)
    with show_progress_bar("Writing") as tell:
        writing.write(release, out, tell)
    print_release_summary(release, out, json=json, quiet=reading.quiet)


# `sfumato relate`: publish several tables about the same people together.

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
    from sfumato.core._atomic_writes import check_target_free
    from sfumato.errors import InvalidParameterError
    from sfumato.io.formats import resolve_release_format
    from sfumato.tables.relational.audit import audit_relations
    from sfumato.tables.relational.relation import read_relations
    from sfumato.tables.relational.release import anonymize_relations

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
