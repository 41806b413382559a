"""`sfumato explore`: examine all full-domain recodings of a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Json, Reading, RecipeOptions, Source, examples, spread
from sfumato.cli.printing import aligned, print_json, printable, progress
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.cli.writing import refuse_existing
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.recipe import Recipe
    from sfumato.release.solutions import LatticeNode, Solutions

EXAMPLES = examples(
    "sfumato explore patients.csv --recipe recipe.toml --picture lattice.svg",
    "sfumato explore patients.csv --quasi age,zip --hierarchy age=intervals:5,10,20 --hierarchy zip=prefixes \\",
    "    --k 5 --max-suppressed 0.02 --out nodes.csv",
    "sfumato explore patients.csv --recipe recipe.toml --algorithm optimal:loss=entropy --json",
)
MOST_MINIMAL = 10
NOT_IN_LEVELS = set(',+="\n\r')


@spread
def explore(
    *,
    file: Source,
    reading: Reading,
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
    from sfumato.cli.asking import ask_recipe
    from sfumato.release.exploring import explore as find

    refuse_existing(out, force=force)
    refuse_existing(picture, force=force)
    recipe = _unmasked(ask_recipe(asked, algorithm=algorithm, max_suppressed=max_suppressed, seed=None))
    recipe = recipe if algorithm is not None else _with_search(recipe)
    data = reading.read(file, recipe.reading)
    with progress("Exploring") as tell:
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
        print_json({**found.to_dict(), "algorithm": None if found.best is None else _applied(found.best)})
    else:
        typer.echo("\n".join(_lines(found, out, picture)))
    if found.best is None:
        raise typer.Exit(DOES_NOT_HOLD)


def _unmasked(recipe: Recipe) -> Recipe:
    """Refuse to look at a table as it is where it will be masked."""
    if recipe.masking:
        raise InvalidParameterError("The recipe masks, but explore looks at tables as they are; drop [[masking]].")
    return recipe


def _with_search(recipe: Recipe) -> Recipe:
    """Search for the optimum, unless the recipe names a search over full-domain recodings."""
    from sfumato.algorithms.full_domain.optimal import Optimal
    from sfumato.algorithms.full_domain.search import FullDomainSearch

    return recipe if isinstance(recipe.algorithm, FullDomainSearch) else replace(recipe, algorithm=Optimal())


def _write(found: Solutions, out: Path | None, picture: Path | None) -> None:
    from sfumato.table.write import write

    if out is not None:
        write(found.table(), out)
    if picture is not None:
        found.draw(picture)


def _lines(found: Solutions, out: Path | None, picture: Path | None) -> Iterator[str]:
    proof, counts, best = found.explored.proof, found.counts(), found.best
    yield aligned(
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


def _solution_lines(found: Solutions, best: LatticeNode) -> Iterator[str]:
    yield aligned(
        [
            ("best", _levels(best)),
            (found.explored.proof.objective, f"{best.loss:.6g}"),
            ("suppressed", f"{best.suppressed:,} of {found.rows:,} records"),
        ]
    )
    yield str(found.explored.proof)
    minimal = found.minimal
    yield f"Minimal solutions: {len(minimal):,}"
    yield aligned([(_levels(node), _loss(node)) for node in minimal[:MOST_MINIMAL]], indent=2)
    if len(minimal) > MOST_MINIMAL:
        yield f"  and {len(minimal) - MOST_MINIMAL:,} more"
    applied = _applied(best)
    if applied is not None:
        yield f"To release the best one: sfumato anonymize ... --algorithm {applied}"


def _levels(node: LatticeNode) -> str:
    return printable(", ".join(f"{name}={level}" for name, level in node.levels.items()))


def _loss(node: LatticeNode) -> str:
    return f"loses at least {node.bound:.6g}" if node.loss is None else f"loses {node.loss:.6g}"


def _applied(node: LatticeNode) -> str | None:
    """Return the algorithm that publishes a node, unless a name contains a separator."""
    if any(set(name) & NOT_IN_LEVELS for name in node.levels):
        return None
    return shlex.quote("fixed-levels:levels=" + "+".join(f"{name}={level}" for name, level in node.levels.items()))
