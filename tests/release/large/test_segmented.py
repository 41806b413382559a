"""Releases by DuckDB in segments: the same rows as in memory."""

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
from sfumato.release.large.engines import Resources
from sfumato.release.large.large_run import Limits
from sfumato.release.large.running import carry_out_large
from sfumato.table.columns import undecorated

MEMORY = 100_000_000
PROMISES = [
    (sf.KAnonymity(k=2),),
    (sf.KAnonymity(k=3), sf.DistinctLDiversity(l=2, sensitive="disease")),
    (sf.TCloseness(t=0.4, sensitive="disease"),),
]
ALGORITHMS = [sf.Mondrian(), sf.Mondrian(publish="sets", bounds="exact")]


def in_segments(recipe: Recipe, data: object, folder: Path, rows: int = 50, groups: int = 10_000) -> sf.LargeRelease:
    limits = Limits(combinations=0, groups=groups, segment_rows=rows)
    with Resources(engine="duckdb", memory="100MB").opened(data, recipe, folder / "release") as source:
        return carry_out_large(
            recipe,
            source,
            folder / "release",
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=silent,
            limits=limits,
        )


def rows_of(release: sf.LargeRelease) -> pa.Table:
    return ordered(pa.concat_tables([pq.read_table(path) for path in release.paths]))


def ordered(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["nodes", "sets"])
@given(drawn=described_tables(most_rows=60), models=st.sampled_from(PROMISES), rows=st.sampled_from([1, 5, 20, 1000]))
@examples(8)
def test_rows_are_those_of_memory(algorithm, drawn, models, rows):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, seed=1)
    try:
        expected = sf.carry_out(recipe, table)
    except SfumatoError as error:
        refused = error
    else:
        check_equal(recipe, table, rows, expected)
        return
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(type(refused)) as told:
            in_segments(recipe, table, Path(folder), rows)
        assert str(told.value) == str(refused)
        assert not any(Path(folder).iterdir())


def check_equal(recipe, table, rows, expected):
    with tempfile.TemporaryDirectory() as folder:
        found = in_segments(recipe, table, Path(folder), rows)
        assert rows_of(found).equals(ordered(undecorated(expected.published)))
    assert found.passage.way == "segmented"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.measures == pytest.approx({name: expected.measures[name] for name in found.measures})
