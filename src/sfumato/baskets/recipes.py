"""Recipes of releases of sets, read from their files."""

from __future__ import annotations

from os import PathLike

from sfumato.baskets.catalogue import ALGORITHMS, MODELS
from sfumato.kinds.recipe import KindRecipe


def read_recipe(path: str | PathLike[str]) -> KindRecipe:
    """Read the recipe of a release of sets, such as `internal/recipe.toml`, to make it again by `carry_out`."""
    return KindRecipe.read(path, "baskets", MODELS, ALGORITHMS)
