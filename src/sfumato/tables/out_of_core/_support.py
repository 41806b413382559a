"""What is served beyond memory; everything else is refused in one sentence before any row is read."""

from __future__ import annotations

from sfumato.core.recipe import Recipe
from sfumato.errors import UnsupportedModelError
from sfumato.schema.schema import Schema, restrict_schema
from sfumato.tables.algorithms.local.mondrian import Mondrian


def check_engine_support(recipe: Recipe) -> None:
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
    if not algorithm.supports_weights and recipe.block_rows is None:
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
    return tuple(
        dict.fromkeys((*recipe.schema.quasi_identifiers, *model_attributes(recipe), *recipe.algorithm.target_columns))
    )


def model_attributes(recipe: Recipe) -> tuple[str, ...]:
    """Return the sensitive columns that models read."""
    named = {name for model in recipe.models for name in model.sensitive_attributes}
    return tuple(name for name in recipe.schema.sensitive if name in named)


def counted_schema(recipe: Recipe) -> Schema:
    """Describe the columns whose combinations are counted; all others are for the engine alone."""
    schema, guides = recipe.schema, recipe.algorithm.target_columns
    sensitive = [name for name in schema.sensitive if name in {*model_attributes(recipe), *guides}]
    insensitive = [name for name in schema.insensitive if name in guides]
    return restrict_schema(schema, sensitive=sensitive, insensitive=insensitive)


def published_names(schema: Schema, names: list[str]) -> tuple[str, ...]:
    """Return the columns that are published, in the order of the table."""
    published = {*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive}
    return tuple(name for name in names if name in published)


def audited_columns(recipe: Recipe) -> list[str]:
    """Return the columns whose combinations are judged: quasi-identifiers, and what models read."""
    return [*recipe.schema.quasi_identifiers, *model_attributes(recipe)]


def audited_schema(recipe: Recipe) -> Schema:
    """Describe the columns whose combinations are judged."""
    return restrict_schema(recipe.schema, sensitive=model_attributes(recipe))


def published_schema(schema: Schema) -> Schema:
    """Describe the columns of a published table that are judged."""
    return restrict_schema(schema, sensitive=schema.sensitive)
