"""Refuse masking steps that do not fit the rest of a recipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.masking.base import MaskingStep
from sfumato.masking.masked_table import refuse_crossed
from sfumato.masking.masking import earlier_steps, later_steps
from sfumato.masking.suppress_cells import SuppressCells
from sfumato.recipe import Recipe


def refuse_unfit_masking(recipe: Recipe) -> None:
    """Refuse in one sentence what cannot be carried out, or would promise what it does not keep."""
    steps = recipe.masking
    refuse_crossed(steps)
    for step in steps:
        for sentence in _column_refusals(step, recipe):
            raise SchemaError(sentence)
        for sentence in _refusals(step, recipe):
            raise InvalidParameterError(sentence)
    if steps != (*earlier_steps(steps), *later_steps(steps)):
        raise InvalidParameterError("SuppressCells hides what all other steps leave; put it last.")
    if len(later_steps(steps)) > 1:
        raise InvalidParameterError("SuppressCells is carried out once; put all its columns into one step.")


def searched_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe as a search must see it: a column of intervals is text, unknown to hierarchies of numbers."""
    covered = {name for step in earlier_steps(recipe.masking) if step.covers for name in step.attributes}
    if not covered:
        return recipe
    schema = recipe.schema
    return replace(
        recipe,
        schema=replace(
            schema,
            hierarchies={name: each for name, each in schema.hierarchies.items() if name not in covered},
            scales={name: each for name, each in schema.scales.items() if name not in covered},
            orders={name: each for name, each in schema.orders.items() if name not in covered},
        ),
    )


def _column_refusals(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    schema, name = recipe.schema, type(step).__name__
    published = (*schema.quasi, *schema.sensitive, *schema.insensitive)
    for column in step.attributes:
        if column not in published:
            yield f"{name} masks {column!r}, which is not published; give it the role quasi, sensitive or insensitive."
        if column in schema.flags or column in schema.flags.values():
            yield f"{name} masks {column!r}, whose single cells are flagged as sensitive; drop Schema.flags."
        if step.hides and column not in schema.quasi:
            yield f"{name} hides cells of quasi-identifiers, and {column!r} is none; leave it out."


def _refusals(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    name, algorithm = type(step).__name__, type(recipe.algorithm).__name__
    if step.hides and recipe.algorithm.recodes == "searched":
        yield (
            f"{name} follows a recoding that is given, not a search such as {algorithm}, which reaches the promise by "
            "itself; use AsIs or FixedLevels."
        )
    if isinstance(step, SuppressCells) and step.protect == "rows" and recipe.models:
        yield (
            "SuppressCells with protect='rows' keeps no model, for a person may fit fewer than k rows; drop the "
            "models, or protect groups."
        )
    intervals = not step.hides and step.covers and set(step.attributes) & set(recipe.schema.quasi)
    if intervals and recipe.algorithm.recodes != "nothing":
        yield (
            f"{name} would publish intervals of a quasi-identifier, which {algorithm} cannot read; use "
            "publish='bound', or AsIs."
        )
