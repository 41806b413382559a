"""Recipes of releases of sets, read from their files."""

from __future__ import annotations

from os import PathLike

from sfumato.baskets.catalogue import ALGORITHMS, MODELS
from sfumato.kinds.recipe import TypedRecipe


def read_recipe(path: str | PathLike[str]) -> TypedRecipe:
    """Read the recipe of a release of sets, such as `internal/recipe.toml`, to make it again by `run_recipe`."""
    return TypedRecipe.load(path, "baskets", MODELS, ALGORITHMS)
