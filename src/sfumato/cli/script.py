"""`sfumato script`: a recipe as a Python script."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Force, format_examples
from sfumato.cli.writing import check_overwrite, write_text_atomically

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
    from sfumato.recipe import Recipe

    check_overwrite(out, force=force)
    written = Recipe.read(recipe).to_python(file)
    if out is None:
        typer.echo(written, nl=False)
    else:
        write_text_atomically(out, written)
        typer.echo(out)
