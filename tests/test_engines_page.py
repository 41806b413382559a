"""The page about engines says of every algorithm and model what the code does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.tables._catalogue import ALGORITHMS, MODELS
from sfumato.tables.algorithms._blocks import check_blocks
from sfumato.tables.out_of_core._levels import is_full_domain
from sfumato.tables.out_of_core._segments import is_segmented
from sfumato.tables.out_of_core._support import check_engine_support

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "engines.md").read_text("utf-8")
MODELS_ASKED = (sf.models.KAnonymity(k=2),)
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
NEEDED = {"fixed-levels": {"levels": {"age": 1}}}


def table_after(mark: str) -> dict[str, list[str]]:
    """Read the table that follows a comment, by its first column."""
    lines = PAGE.split(f"<!-- {mark}:", 1)[1].split("\n\n")[1].splitlines()[2:]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name.strip("`"): cells for name, *cells in rows}


def is_served(recipe: Recipe) -> bool:
    try:
        check_engine_support(recipe)
    except sf.errors.UnsupportedModelError:
        return False
    return True


def ways(name: str) -> list[str]:
    algorithm = ALGORITHMS.built_in[name](**NEEDED.get(name, {}))
    plain = Recipe(schema=SCHEMA, models=MODELS_ASKED, algorithm=algorithm)
    fits = check_blocks(algorithm, MODELS_ASKED, ()) is None
    blocked = fits and is_served(Recipe(schema=SCHEMA, models=MODELS_ASKED, algorithm=algorithm, block_rows=1000))
    return ["yes" if each else "no" for each in (is_served(plain), is_segmented(plain), is_full_domain(plain), blocked)]


def test_every_algorithm_is_served_as_the_page_says():
    assert table_after("algorithms") == {name: ways(name) for name in sorted(ALGORITHMS.built_in)}


def test_models_that_need_a_population_are_on_the_page_and_no_others():
    told = table_after("models")
    asked = [sf.models.KMap(k=2), sf.models.DeltaPresence(delta_min=0.1, delta_max=0.9)]
    assert {model.name for model in asked} == set(told)
    needing = {
        name
        for name, kind in MODELS.built_in.items()
        for part in vars(sys.modules[kind.__module__]).values()
        if isinstance(part, type) and part.__module__ == kind.__module__ and "needs_population" in vars(part)
    }
    assert needing == set(told)
    for model in asked:
        assert not is_served(Recipe(schema=SCHEMA, models=[model], algorithm=sf.algorithms.Mondrian()))
    assert is_served(
        Recipe(schema=SCHEMA, models=[sf.models.KMap(k=2, fraction=0.5)], algorithm=sf.algorithms.Mondrian())
    )


@pytest.mark.parametrize("option", ["engine", "memory", "temporary", "out", "replace", "resume"])
def test_options_are_told(option):
    assert re.search(rf"^\| `{option}` \|", PAGE, re.MULTILINE)
    assert option in get_type_hints(sf.tables.EngineOptions)
