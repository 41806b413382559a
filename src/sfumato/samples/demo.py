"""The demo: how the made-up hospital population is published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.exceptions import RecipeError, WriteError
from sfumato.hierarchies import Prefixes, Taxonomy
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.recipe import Recipe
from sfumato.release.anonymizing import run_recipe
from sfumato.release.release import Release
from sfumato.samples.population import COUNTRIES, DISEASES, EDUCATION_ORDER, JOBS, MARITAL, generate_hospital
from sfumato.schema.schema import Schema


def demo_schema() -> Schema:
    """Return the roles of the attributes of `sfumato.samples.generate_hospital`."""
    return Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "sex", "zip", "marital_status", "education", "job", "nationality", "admission"],
        sensitive=["disease", "cost"],
        hierarchies={
            "zip": Prefixes(),
            "marital_status": Taxonomy(MARITAL),
            "job": Taxonomy(JOBS),
            "nationality": Taxonomy(COUNTRIES),
            "disease": Taxonomy(DISEASES),
        },
        orders={"education": EDUCATION_ORDER},
    )


def demo_recipe(seed: int) -> Recipe:
    """Return the recipe of the demo: 5-anonymity with three distinct diseases and costs in every group."""
    return Recipe(
        schema=demo_schema(),
        models=(KAnonymity(k=5), *(DistinctLDiversity(l=3, sensitive=name) for name in ("disease", "cost"))),
        algorithm=Mondrian(),
        seed=seed,
    )


def run_demo(rows: int, seed: int) -> Release:
    """Make up a population and publish it."""
    release: Release = run_recipe(demo_recipe(seed), generate_hospital(rows, seed=seed))
    return release


def check_demo_folder(folder: Path) -> None:
    """Refuse a folder that contains anything but a release that the demo wrote."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not _is_demo_folder(folder):
        raise WriteError(f"{folder} contains something that the demo did not write; choose another folder.")


def _is_demo_folder(folder: Path) -> bool:
    if {path.name for path in folder.iterdir()} != {"public", "internal"}:
        return False
    try:
        found = Recipe.read(folder / "internal" / "recipe.toml")
    except RecipeError:
        return False
    asked = replace(found, input_rows=None, input_sha256=None)
    return found.seed is not None and asked == demo_recipe(found.seed)
