"""`sfumato compare`: releases side by side."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import (
    CountRows,
    Force,
    Json,
    PublishText,
    ReadingOptions,
    RecipeOptions,
    RoleOptions,
    Source,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import check_overwrite, print_json, printable, show_progress_bar
from sfumato.cli.anonymize import read_for, with_title
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.report.comparison import ReleaseComparison
    from sfumato.schema.schema import Schema
    from sfumato.tables.algorithms.base import TableAlgorithm
    from sfumato.tables.metrics.classification import ClassifierComparison


COMPARE_EXAMPLES = format_examples(
    "sfumato compare mondrian optimal anatomy",
    "sfumato compare candidates/*/ --out comparison.html",
    "sfumato compare mondrian optimal --json",
)


def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of releases, with their internal/.", show_default=False),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with a picture of risk and loss.")
    ] = None,
    language: Annotated[str, typer.Option(metavar="NAME", help="The language of the page, en or zh.")] = "en",
    force: Force = False,
    json: Json = False,
) -> None:
    """Compare releases of one table: promises, exposure, attacks, losses, and what analysts still find.

    The figures come from internal/report.json of every folder, so nothing is computed again. Keep them private, like
    everything in internal/.
    """
    from sfumato._locale.messages import check_language
    from sfumato.report.comparison import compare as put_together

    check_language(language)
    check_overwrite(out, force=force)
    found = put_together(folders)
    if out is not None:
        found.page(language).save(out)
    print_comparison(found, json=json, page=out)


def print_comparison(found: ReleaseComparison, *, json: bool, page: Path | None) -> None:
    """Print a comparison and where its page is."""
    if json:
        print_json({**found.to_dict(), "page": None if page is None else str(page)})
        return
    told = "\n".join(printable(line) for line in repr(found).splitlines())
    typer.echo(told if page is None else f"{told}\n\nPage: {page}")


# `sfumato try`: the same promise by several algorithms, compared.

ALGORITHM_EXAMPLES = format_examples(
    "sfumato try patients.csv --recipe recipe.toml",
    "sfumato try patients.csv --recipe recipe.toml --algorithms mondrian,optimal,anatomy --out candidates",
    "sfumato try patients.csv --recipe recipe.toml --algorithms mondrian --algorithms optimal:loss=precision --json",
)


@expand_option_groups
def compare_algorithms(
    *,
    file: Source,
    reading: ReadingOptions,
    asked: RecipeOptions,
    algorithms: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,...",
            help="Names of algorithms, one with its parameters, or all. Repeatable.",
            show_default="all",
        ),
    ] = ["all"],  # noqa: B006 - Typer reads it and copies it
    max_suppressed: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of records that may be suppressed.")
    ] = None,
    count_rows: CountRows = False,
    publish_text: PublishText = [],  # noqa: B006 - Typer copies it
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the searches.")] = None,
    most_seconds: Annotated[
        float, typer.Option(metavar="N", help="Stop a search that takes longer; it is listed as refused.")
    ] = 120.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write every candidate as a release, and comparison.html, into this folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Release a table by several algorithms under the same promise, and compare the candidates.

    Algorithms that do not support the promise, or cannot keep it, are listed with the reason. Without --out nothing is
    written. Keep the figures private: they also describe the original.
    """
    from sfumato.cli._recipe_options import build_recipe
    from sfumato.core._atomic_writes import check_target_free
    from sfumato.tables._pipeline.comparison import compare_algorithms

    if out is not None:
        check_target_free(out, replace=False)
    recipe = build_recipe(
        asked,
        algorithm=None,
        max_suppressed=max_suppressed,
        count_rows=count_rows,
        publish_text=publish_text,
        seed=seed,
    )
    chosen = _chosen_algorithms(algorithms)
    recipe, table = read_for(recipe, file, reading)
    recipe = with_title(recipe, file, None, recorded=False)
    with show_progress_bar("Trying") as tell:
        found = compare_algorithms(table, recipe, chosen, most_seconds=most_seconds, folder=out, progress=tell)
    page = None if out is None else out / "comparison.html"
    if page is not None:
        found.page(recipe.language).save(page)
    print_comparison(found, json=json, page=page)


def _chosen_algorithms(given: list[str]) -> list[str | TableAlgorithm]:
    """Return the names, and those algorithms that are given with parameters."""
    from sfumato.cli._recipe_options import parse_algorithm, split_names
    from sfumato.tables._catalogue import ALGORITHMS

    chosen: list[str | TableAlgorithm] = []
    for text in given:
        if ":" in text:
            chosen.append(parse_algorithm(text))
        else:
            chosen += [name for each in split_names(text) for name in (ALGORITHMS if each == "all" else [each])]
    return chosen


# `sfumato utility`: what analysts still find in a published table.

LINE = 100
UTILITY_EXAMPLES = format_examples(
    "sfumato utility release/public/table.csv --original patients.csv --recipe release/internal/recipe.toml",
    "sfumato utility theirs.csv --original patients.csv --quasi age,zip --sensitive cost --target cost",
    "sfumato utility release/public/table.csv --original kept.csv --recipe release/internal/recipe.toml \\",
    "    --classify disease --held-out held.csv --json",
)


@expand_option_groups
def compare_findings(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The published table.", show_default=False)],
    original: Annotated[
        str, typer.Option(metavar="FILE", help="The original that it was made from.", show_default=False)
    ],
    reading: ReadingOptions,
    roles: RoleOptions,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of numbers that a regression explains; by default the first one that is sensitive, or "
            "else insensitive, or else a quasi-identifier.",
        ),
    ] = None,
    classify: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Also train classifiers of this column; needs --held-out.")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Records that the release was not made from, to test them on.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what analysts still find in a published table, next to what the original shows.

    Means and deviations, correlations, cross-tabulations, coefficients of a regression on columns of numbers with their
    confidence intervals, and, on demand, how well a classifier works that was trained on the release. The report of a
    release shows the same. The columns that the regression does without are named.
    Keep the figures private: they also describe the original.
    """
    from sfumato.tables.metrics.utility import compare_utility

    if (classify is None) != (held_out is None):
        raise InvalidParameterError("Give --classify and --held-out together.")
    promise = roles.audit_request()
    schema = promise.schema
    published, source = reading.read(file, promise.conventions), reading.read(original, promise.reading)
    found = compare_utility(source, published, schema, target=target)
    trained = None
    if classify is not None and held_out is not None:
        trained = _classification_accuracy(source, published, reading.read(held_out, promise.reading), classify, schema)
    if json:
        print_json({**found.to_dict(), "classifier": None if trained is None else trained.to_dict()})
    else:
        lines = [
            line
            for each in (_findings_as_text(found.to_dict()), [] if trained is None else [repr(trained)])
            for line in each
        ]
        typer.echo("\n\n".join(lines) or repr(found))


def _classification_accuracy(
    original: pa.Table, published: pa.Table, held_out: pa.Table, target: str, schema: Schema
) -> ClassifierComparison:
    from sfumato.tables.metrics.classification import compare_classifiers

    columns = [name for name in (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive) if name != target]
    return compare_classifiers(
        original,
        published,
        held_out,
        target=target,
        schema=schema,
        columns=[name for name in columns if name in published.column_names],
    )


def _findings_as_text(figures: dict[str, Any]) -> list[str]:
    """Return the same tables as the report, as text."""
    from sfumato.core._formatting import text_table
    from sfumato.report.sections.utility import present_findings
    from sfumato.report.texts import ENGLISH

    tables = [
        f"{printable(each.title)}\n{fill(printable(each.says), LINE)}\n"
        + text_table([[printable(cell) for cell in row] for row in (each.head, *each.rows, *each.folded)])
        for each in present_findings(figures)
    ]
    for name in ("unused", "lost"):
        columns = ", ".join(map(printable, figures[name]))
        tables += [ENGLISH(f"report.analysts.{name}", columns=columns)] if columns else []
    return tables
