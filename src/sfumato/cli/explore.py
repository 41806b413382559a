"""`sfumato explore`: examine all full-domain recodings of a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import (
    Force,
    Json,
    ReadingOptions,
    RecipeOptions,
    Source,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import align_columns, check_overwrite, print_json, printable, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.recipe import Recipe
    from sfumato.tables._pipeline.exploration import LatticeExploration, LatticeNode

EXAMPLES = format_examples(
    "sfumato explore patients.csv --recipe recipe.toml --picture lattice.svg",
    "sfumato explore patients.csv --quasi age,zip --hierarchy age=intervals:5,10,20 --hierarchy zip=prefixes \\",
    "    --k 5 --max-suppressed 0.02 --out nodes.csv",
    "sfumato explore patients.csv --recipe recipe.toml --algorithm optimal:loss=entropy --json",
)
MAX_MINIMAL = 10
NOT_IN_LEVELS = set(',+="\n\r')


@expand_option_groups
def explore(
    *,
    file: Source,
    reading: ReadingOptions,
    asked: RecipeOptions,
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="NAME[:KEY=VALUE,...]", help="A search over full-domain recodings; by default optimal."),
    ] = None,
    max_suppressed: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of records that may be suppressed.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all nodes as a table: CSV, Parquet or Excel.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the lattice as SVG.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find the full-domain recodings that keep the promise, and what they lose.

    A full-domain recoding generalizes every quasi-identifier to one level of its hierarchy: level 0 publishes the
    values, the highest level publishes *. Nothing is released here; the last line shows how to release the best
    recoding. Keep tables and pictures of nodes private. Exit codes: 0 there is a solution, 1 there is none, 2 bad
    request.
    """
    from sfumato.cli._recipe_options import build_recipe
    from sfumato.tables._pipeline.exploration import explore as find

    check_overwrite(out, force=force)
    check_overwrite(picture, force=force)
    recipe = _check_not_masked(build_recipe(asked, algorithm=algorithm, max_suppressed=max_suppressed, seed=None))
    recipe = recipe if algorithm is not None else _with_search(recipe)
    data = reading.read(file, recipe.reading)
    with show_progress_bar("Exploring") as tell:
        found = find(
            data,
            recipe.schema,
            recipe.models,
            recipe.algorithm,  # type: ignore[arg-type]  # refused there if it is another kind of search
            max_suppressed=recipe.max_suppressed,
            progress=tell,
        )
    _write(found, out, picture)
    if json:
        print_json({**found.to_dict(), "algorithm": None if found.best is None else _algorithm_of_node(found.best)})
    else:
        typer.echo("\n".join(_summary_lines(found, out, picture)))
    if found.best is None:
        raise typer.Exit(DOES_NOT_HOLD)


def _check_not_masked(recipe: Recipe) -> Recipe:
    """Refuse to look at a table as it is where it will be masked."""
    if recipe.masking:
        raise InvalidParameterError("The recipe masks, but explore looks at tables as they are; drop [[masking]].")
    return recipe


def _with_search(recipe: Recipe) -> Recipe:
    """Search for the optimum, unless the recipe names a search over full-domain recodings."""
    from sfumato.tables.algorithms.full_domain._lattice_search import FullDomainSearch
    from sfumato.tables.algorithms.full_domain.optimal import Optimal

    return recipe if isinstance(recipe.algorithm, FullDomainSearch) else replace(recipe, algorithm=Optimal())


def _write(found: LatticeExploration, out: Path | None, picture: Path | None) -> None:
    from sfumato.io._writing import write

    if out is not None:
        write(found.table(), out)
    if picture is not None:
        found.draw(picture)


def _summary_lines(found: LatticeExploration, out: Path | None, picture: Path | None) -> Iterator[str]:
    proof, counts, best = found.explored.proof, found.counts(), found.best
    yield align_columns(
        [
            ("nodes", f"{proof.candidates:,}"),
            ("checked", f"{proof.checked:,}"),
            ("solutions", f"{counts['anonymous']:,}"),
            *([("not checked", f"{counts['bounded']:,}")] if counts["bounded"] else []),
        ]
    )
    if best is None:
        yield "No full-domain recoding keeps the promise; promise less or allow more suppression."
    else:
        yield from _solution_lines(found, best)
    if out is not None:
        yield f"Nodes: {out}"
    if picture is not None:
        yield f"Picture: {picture}"


def _solution_lines(found: LatticeExploration, best: LatticeNode) -> Iterator[str]:
    yield align_columns(
        [
            ("best", _levels(best)),
            (found.explored.proof.objective, f"{best.loss:.6g}"),
            ("suppressed", f"{best.suppressed:,} of {found.rows:,} records"),
        ]
    )
    yield str(found.explored.proof)
    minimal = found.minimal
    yield f"Minimal solutions: {len(minimal):,}"
    yield align_columns([(_levels(node), _loss(node)) for node in minimal[:MAX_MINIMAL]], indent=2)
    if len(minimal) > MAX_MINIMAL:
        yield f"  and {len(minimal) - MAX_MINIMAL:,} more"
    applied = _algorithm_of_node(best)
    if applied is not None:
        yield f"To release the best one: sfumato anonymize ... --algorithm {applied}"


def _levels(node: LatticeNode) -> str:
    return printable(", ".join(f"{name}={level}" for name, level in node.levels.items()))


def _loss(node: LatticeNode) -> str:
    return f"loses at least {node.bound:.6g}" if node.loss is None else f"loses {node.loss:.6g}"


def _algorithm_of_node(node: LatticeNode) -> str | None:
    """Return the algorithm that publishes a node, unless a name contains a separator."""
    if any(set(name) & NOT_IN_LEVELS for name in node.levels):
        return None
    return shlex.quote("fixed-levels:levels=" + "+".join(f"{name}={level}" for name, level in node.levels.items()))
