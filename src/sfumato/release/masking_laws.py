"""Refuse masking steps that do not fit the rest of a recipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.masking.base import MaskingStep
from sfumato.masking.masked_table import check_coding_bounds
from sfumato.masking.masking import steps_after_search, steps_before_search
from sfumato.masking.suppress_cells import SuppressCells
from sfumato.recipe import Recipe


def check_masking(recipe: Recipe) -> None:
    """Refuse in one sentence what cannot be carried out, or would promise what it does not keep."""
    steps = recipe.masking
    check_coding_bounds(steps)
    for step in steps:
        for sentence in _column_problems(step, recipe):
            raise SchemaError(sentence)
        for sentence in _step_problems(step, recipe):
            raise InvalidParameterError(sentence)
    if steps != (*steps_before_search(steps), *steps_after_search(steps)):
        raise InvalidParameterError("SuppressCells hides what all other steps leave; put it last.")
    if len(steps_after_search(steps)) > 1:
        raise InvalidParameterError("SuppressCells is carried out once; put all its columns into one step.")


def recipe_after_masking(recipe: Recipe) -> Recipe:
    """Return the recipe as a search must see it: a column of intervals is text, unknown to hierarchies of numbers."""
    covered = {name for step in steps_before_search(recipe.masking) if step.covers for name in step.attributes}
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


def _column_problems(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    schema, name = recipe.schema, type(step).__name__
    published = (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive)
    for column in step.attributes:
        if column not in published:
            yield f"{name} masks {column!r}, which is not published; give it the role quasi, sensitive or insensitive."
        if column in schema.flags or column in schema.flags.values():
            yield f"{name} masks {column!r}, whose single cells are flagged as sensitive; drop Schema.flags."
        if step.hides and column not in schema.quasi_identifiers:
            yield f"{name} hides cells of quasi-identifiers, and {column!r} is none; leave it out."


def _step_problems(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    name, algorithm = type(step).__name__, type(recipe.algorithm).__name__
    if step.hides and recipe.algorithm.recodes == "searched":
        yield (
            f"{name} follows a recoding that is given, not a search such as {algorithm}, which reaches the promise by "
            "itself; use Identity or FixedLevels."
        )
    if isinstance(step, SuppressCells) and step.protect == "rows" and recipe.models:
        yield (
            "SuppressCells with protect='rows' keeps no model, for a person may fit fewer than k rows; drop the "
            "models, or protect groups."
        )
    intervals = not step.hides and step.covers and set(step.attributes) & set(recipe.schema.quasi_identifiers)
    if intervals and recipe.algorithm.recodes != "nothing":
        yield (
            f"{name} would publish intervals of a quasi-identifier, which {algorithm} cannot read; use "
            "publish='bound', or Identity."
        )
