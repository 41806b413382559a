"""Releases by DuckDB in blocks: the same rows as in memory with the same blocks."""

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
from sfumato.core.progress import silent
from sfumato.exceptions import SfumatoError
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import Limits
from sfumato.release.large.running import carry_out_large
from sfumato.sources.engines import Resources
from sfumato.table.columns import undecorated
from sfumato.table.frames import to_arrow

MEMORY = 100_000_000
K = (sf.KAnonymity(k=2),)
L = (sf.KAnonymity(k=2), sf.DistinctLDiversity(l=2, sensitive="disease"))
T = (sf.TCloseness(t=0.5, sensitive="disease"),)
REQUESTS = [
    (sf.NCPTopDown(), L),
    (sf.Sabre(), T),
    (sf.LocalRecoding(), K),
    (sf.Mdav(), T),
    (sf.Mdav(publish="ranges"), L),
    (sf.VMdav(), K),
    (sf.KMember(), L),
    (sf.GreedyPKClustering(), K),
    (sf.MaaSlie(), L),
    (sf.Mondrian(strict=False), L),
]


def in_blocks(recipe: Recipe, data: object, folder: Path) -> sf.LargeRelease:
    with Resources(engine="duckdb", memory="100MB").opened(data, recipe.reading, folder / "release") as source:
        return carry_out_large(
            recipe,
            source,
            folder / "release",
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=silent,
            limits=Limits(combinations=0, groups=10_000, segment_rows=50),
        )


def rows_of(release: sf.LargeRelease) -> pa.Table:
    return ordered(pa.concat_tables([pq.read_table(path) for path in release.paths]))


def ordered(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


@pytest.mark.parametrize(("algorithm", "models"), REQUESTS, ids=repr)
@given(drawn=described_tables(most_rows=60), rows=st.sampled_from([1, 5, 20, 1000]))
@examples(60)
def test_rows_are_those_of_memory(algorithm, models, drawn, rows):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, seed=1, block_rows=rows)
    try:
        expected = sf.carry_out(recipe, table)
    except SfumatoError as error:
        refused = error
    else:
        check_equal(recipe, table, expected)
        return
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(type(refused)) as told:
            in_blocks(recipe, table, Path(folder))
        assert str(told.value) == str(refused)
        assert not any(Path(folder).iterdir())


def check_equal(recipe, table, expected):
    with tempfile.TemporaryDirectory() as folder:
        found = in_blocks(recipe, table, Path(folder))
        assert rows_of(found).equals(ordered(undecorated(expected.published)))
    assert found.passage.way == "blocked"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.truth.of_centers == expected.audit.truth.of_centers
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.measures == pytest.approx({name: expected.measures[name] for name in found.measures})
    assert found.proof == expected.proof


def census(rows: int = 400) -> pa.Table:
    return to_arrow(sf.samples.generate_census(rows, seed=3))[0]


SCHEMA = sf.Schema(quasi=["age", "education", "sex"], sensitive=["occupation"], insensitive=["salary"])
RECIPE = Recipe(schema=SCHEMA, models=(sf.KAnonymity(k=5),), algorithm=sf.Mdav(), seed=1, block_rows=60)
