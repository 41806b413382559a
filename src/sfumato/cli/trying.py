"""`sfumato try`: the same promise by several algorithms, compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.anonymize import read_for, with_title
from sfumato.cli.compare import print_comparison
from sfumato.cli.options import (
    CountRows,
    Json,
    PublishText,
    ReadingOptions,
    RecipeOptions,
    Source,
    expand_option_groups,
    format_examples,
)
from sfumato.cli.printing import show_progress_bar

if TYPE_CHECKING:
    from sfumato.algorithms.base import TableAlgorithm

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
    from sfumato.cli.asking import build_recipe
    from sfumato.release.trying import compare_algorithms
    from sfumato.table.atomic import check_target_free

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
    from sfumato.catalogue import ALGORITHMS
    from sfumato.cli.asking import parse_algorithm, split_names

    chosen: list[str | TableAlgorithm] = []
    for text in given:
        if ":" in text:
            chosen.append(parse_algorithm(text))
        else:
            chosen += [name for each in split_names(text) for name in (ALGORITHMS if each == "all" else [each])]
    return chosen
