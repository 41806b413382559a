"""`sfumato attack --search`: attack the search of a recipe by running it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import ReadingOptions
from sfumato.cli._output import color_verdict, print_json, printable, show_progress_bar
from sfumato.errors import InvalidParameterError


@dataclass(frozen=True, kw_only=True)
class MinimalityOutput:
    """Whether the search is attacked, and how often it is run."""

    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Attack the search of --recipe, not a published table: FILE is the original. The adversary knows how "
            "the search works and everybody's quasi-identifiers, and asks which sensitive values lead to these groups.",
        ),
    ] = False
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="With --search: how often to run it again; 1,000 by default.")
    ] = None
    unknown: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="With --search: the share of groups whose sensitive values the adversary does not know.",
        ),
    ] = 1.0


def show_minimality_attack(
    file: str,
    recipe: Path | None,
    reading: ReadingOptions,
    asked: MinimalityOutput,
    *,
    seed: int | None,
    threshold: float | None,
    json: bool,
) -> None:
    """Attack the search of a recipe, and print what was found; fail if more individuals than the threshold exceed."""
    from sfumato.core.recipe import Recipe
    from sfumato.tables._pipeline.minimality_attack import N_RUNS, minimality_attack

    if recipe is None:
        raise InvalidParameterError("Give --recipe, the recipe of the release, with --search.")
    known = Recipe.read(recipe)
    table = reading.read(file, known.conventions)
    with show_progress_bar("Searching again") as tell:
        found = minimality_attack(
            table, known, runs=asked.runs or N_RUNS, unknown=asked.unknown, seed=seed, progress=tell
        )
    fails = threshold is not None and any(each.exceeding > threshold * each.targets for each in found)
    if json:
        print_json({"holds": not fails, "attributes": [each.to_dict() for each in found]})
    else:
        typer.echo("\n".join(printable(repr(each).strip("<>")) for each in found))
        if threshold is not None:
            typer.echo(
                f"\nThreshold {threshold:g}: {color_verdict('DOES NOT HOLD' if fails else 'holds', good=not fails)}"
            )
    if fails:
        raise typer.Exit(DOES_NOT_HOLD)
