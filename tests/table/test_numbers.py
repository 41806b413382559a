"""Numbers that are too large to be averaged are refused with what to do."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.io._values import refuse_huge

ROWS = 60
HUGE = [1e155, 1e300, -1e307, 1.7976931348623157e308]
SCHEMAS = [
    sf.Schema(quasi_identifiers=["age", "income"], sensitive=["disease"]),
    sf.Schema(quasi_identifiers=["age"], sensitive=["income"], insensitive=["disease"]),
    sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], insensitive=["income"]),
]
SAID = "Column 'income' contains numbers beyond 1e100; measure it in a larger unit, or empty the cells where they stand"


def people(largest):
    cells = {"age": range(ROWS), "income": [1.5] * (ROWS - 1) + [largest], "disease": ["flu", "cold"] * (ROWS // 2)}
    return pd.DataFrame(cells)


@pytest.mark.parametrize("largest", HUGE)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_huge_numbers_are_refused_before_the_search(largest, schema):
    with pytest.raises(sf.errors.SchemaError, match=SAID):
        sf.anonymize(people(largest), schema, [sf.models.KAnonymity(k=3)])
    recipe = sf.Recipe(schema=schema, models=(sf.models.KAnonymity(k=3),), algorithm=sf.algorithms.Mondrian())
    assert [str(each.error)[: len(SAID)] for each in sf.check(recipe, people(largest))] == [SAID]
    with pytest.raises(sf.errors.SchemaError, match=SAID):
        sf.compare_algorithms(people(largest), recipe)


def test_large_numbers_are_published_and_every_figure_is_finite(tmp_path):
    release = sf.anonymize(people(9.9e99), SCHEMAS[2], [sf.models.KAnonymity(k=3)])
    release.write(tmp_path / "o")
    for path in (tmp_path / "o").rglob("*.json"):
        json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)


def test_columns_without_a_role_may_hold_anything():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    assert sf.anonymize(people(1e300), schema, [sf.models.KAnonymity(k=3)]).audit.holds
    refuse_huge(pa.table({"a": [None, 1.5], "b": pa.nulls(2), "c": [2**62, 1]}), ["a", "b", "c"])
