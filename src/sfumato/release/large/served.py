"""What is served beyond memory; everything else is refused in one sentence before any row is read."""

from __future__ import annotations

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.exceptions import UnsupportedModelError
from sfumato.recipe import Recipe
from sfumato.schema.restricting import restricted
from sfumato.schema.schema import Schema


def refuse_unserved(recipe: Recipe) -> None:
    """Refuse what needs single rows in memory."""
    name, algorithm = type(recipe.algorithm).__name__, recipe.algorithm
    if recipe.masking:
        raise UnsupportedModelError(
            'Masking steps are not carried out beyond memory; drop them, or use engine="memory" with a smaller table.'
        )
    if recipe.schema.flags:
        raise UnsupportedModelError(
            'Single sensitive cells are not protected beyond memory; drop Schema.flags, or use engine="memory".'
        )
    if not algorithm.serves_cases and recipe.block_rows is None:
        hint = "strict=True" if isinstance(algorithm, Mondrian) else "Mondrian or Optimal"
        raise UnsupportedModelError(
            f"{name} works on single rows, beyond memory only in blocks of them; give block_rows=, such "
            f"as 100000, or use {hint}."
        )
    for model in recipe.models:
        if model.needs_population:
            raise UnsupportedModelError(
                f'{type(model).__name__} needs a population, which is not served beyond memory; use engine="memory".'
            )
        if model.needs_original:
            raise UnsupportedModelError(
                f"{type(model).__name__} compares with the original table, which is not served beyond memory; let it "
                'compare with the published one, or use engine="memory".'
            )


def counted_columns(recipe: Recipe) -> tuple[str, ...]:
    """Return the columns whose combinations a search sees: what is recoded, what models read, and what guides it."""
    return tuple(dict.fromkeys((*recipe.schema.quasi, *watched(recipe), *recipe.algorithm.guides)))


def watched(recipe: Recipe) -> tuple[str, ...]:
    """Return the sensitive columns that models read."""
    named = {name for model in recipe.models for name in model.attributes}
    return tuple(name for name in recipe.schema.sensitive if name in named)


def counted_schema(recipe: Recipe) -> Schema:
    """Describe the columns whose combinations are counted; all others are for the engine alone."""
    schema, guides = recipe.schema, recipe.algorithm.guides
    sensitive = [name for name in schema.sensitive if name in {*watched(recipe), *guides}]
    insensitive = [name for name in schema.insensitive if name in guides]
    return restricted(schema, sensitive=sensitive, insensitive=insensitive)


def published_names(schema: Schema, names: list[str]) -> tuple[str, ...]:
    """Return the columns that are published, in the order of the table."""
    published = {*schema.quasi, *schema.sensitive, *schema.insensitive}
    return tuple(name for name in names if name in published)


def audited_columns(recipe: Recipe) -> list[str]:
    """Return the columns whose combinations are judged: quasi-identifiers, and what models read."""
    return [*recipe.schema.quasi, *watched(recipe)]


def audited_schema(recipe: Recipe) -> Schema:
    """Describe the columns whose combinations are judged."""
    return restricted(recipe.schema, sensitive=watched(recipe))


def published_schema(schema: Schema) -> Schema:
    """Describe the columns of a published table that are judged."""
    return restricted(schema, sensitive=schema.sensitive)
