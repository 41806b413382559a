"""Releases by DuckDB on counted combinations: the same rows in the same order as in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.errors import SfumatoError
from sfumato.io._columns import strip_metadata

SERVED = [
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(publish="sets", bounds="exact"),
    sf.algorithms.Datafly(),
    sf.algorithms.Samarati(),
    sf.algorithms.Incognito(),
    sf.algorithms.MinGen(),
    sf.algorithms.Optimal(),
    sf.algorithms.Optimal(refine=True),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.BottomUpGeneralization(),
]
PROMISES = [
    (sf.models.KAnonymity(k=2),),
    (sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease")),
    (sf.models.TCloseness(t=0.4, sensitive="disease"),),
]


def by_duckdb(recipe: Recipe, data: object, folder: Path) -> sf.StoredRelease:
    release = sf.run_recipe(recipe, data, engine="duckdb", memory="100MB", out=folder / "release")
    assert isinstance(release, sf.StoredRelease)
    return release


def rows_of(release: sf.StoredRelease) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in release.paths])


@pytest.mark.parametrize("algorithm", SERVED, ids=lambda each: type(each).__name__)
@given(drawn=described_tables(most_rows=40), models=st.sampled_from(PROMISES), share=st.sampled_from([0.0, 0.2, 1.0]))
@examples(12)
def test_rows_and_their_order_are_those_of_memory(algorithm, drawn, models, share):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, max_suppressed=share, seed=1)
    try:
        expected = sf.run_recipe(recipe, table)
    except SfumatoError as error:
        refused = error
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = by_duckdb(recipe, table, Path(folder))
            assert rows_of(found).equals(strip_metadata(expected.published))
        assert found.audit.holds
        assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
        assert found.proof == expected.proof
        assert found.suppressed == expected.suppressed
        assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
        assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
        return
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(type(refused)) as told:
            by_duckdb(recipe, table, Path(folder))
        assert str(told.value) == str(refused)
        assert not any(Path(folder).iterdir())
