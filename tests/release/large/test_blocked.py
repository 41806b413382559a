"""Releases by DuckDB in blocks: the same rows as in memory with the same blocks."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.blocked_releases import check_as_in_memory, in_blocks, ordered, rows_of
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, ReadError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_arrow
from sfumato.tables.out_of_core import _block_parts, _blocks
from sfumato.tables.out_of_core._block_parts import shuffle_into_parts

K = (sf.models.KAnonymity(k=2),)
L = (sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="disease"))
T = (sf.models.TCloseness(t=0.5, sensitive="disease"),)
REQUESTS = [
    (sf.algorithms.TopDownNCP(), L),
    (sf.algorithms.SABRE(), T),
    (sf.algorithms.LocalRecoding(), K),
    (sf.algorithms.MDAV(), T),
    (sf.algorithms.MDAV(publish="ranges"), L),
    (sf.algorithms.VMDAV(), K),
    (sf.algorithms.KMember(), L),
    (sf.algorithms.GreedyPKClustering(), K),
    (sf.algorithms.MAASLIE(), L),
    (sf.algorithms.Mondrian(strict=False), L),
]


@pytest.mark.parametrize(("algorithm", "models"), REQUESTS, ids=repr)
@given(drawn=described_tables(most_rows=60), rows=st.sampled_from([1, 5, 20, 1000]))
@examples(8)
def test_rows_are_those_of_memory(algorithm, models, drawn, rows):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, seed=1, block_rows=rows)
    check_as_in_memory(recipe, table)


def census(rows: int = 400) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=3))[0]


SCHEMA = sf.Schema(quasi_identifiers=["age", "education", "sex"], sensitive=["occupation"], insensitive=["salary"])
RECIPE = Recipe(
    schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.MDAV(), seed=1, block_rows=60
)


def test_blocks_are_told_and_reported(tmp_path):
    table = census()
    expected = sf.run_recipe(RECIPE, table)
    found = in_blocks(RECIPE, table, tmp_path)
    assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
    assert found.passage.segments == len(found.paths) > 5
    assert f"cut into {len(found.paths)} blocks as the recipe asks for" in str(found.passage)
    ages = [pq.read_table(path)["age"].to_pylist() for path in found.paths]
    assert all(min(each) < 35 and max(each) > 55 for each in ages)  # no part is a block
    assert "block_rows = 60" in (tmp_path / "release" / "internal" / "recipe.toml").read_text()
    assert (tmp_path / "release" / "internal" / "report.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_permuted_rows_are_published_alike(tmp_path):
    table = census()
    (tmp_path / "again").mkdir()
    first = in_blocks(RECIPE, table, tmp_path)
    again = in_blocks(RECIPE, table.take(pa.array(range(399, -1, -1))), tmp_path / "again")
    assert [pq.read_table(path) for path in first.paths] == [pq.read_table(path) for path in again.paths]


def test_centers_are_of_one_kind_in_all_blocks(tmp_path):
    """Those of the first block are whole, those of the second one are not."""
    table = pa.table({"age": [1, 1, 1, 1, 50, 51, 60, 61], "disease": ["flu"] * 8})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    recipe = Recipe(schema=schema, models=K, algorithm=sf.algorithms.MDAV(), seed=1, block_rows=4)
    found = in_blocks(recipe, table, tmp_path)
    assert [pq.read_table(path)["age"].type for path in found.paths] == [pa.float64()] * 2
    assert rows_of(found)["age"].to_pylist() == [1, 1, 1, 1, 50.5, 50.5, 60.5, 60.5]


def test_moments_keep_their_time_zone(tmp_path):
    moments = pa.array(
        [i * 3_600_000_000 for i in (1, 2, 30, 31, 500, 502, 600, 601)], pa.timestamp("us", "Asia/Tokyo")
    )
    table = pa.table({"born": moments, "disease": ["flu"] * 8})
    schema = sf.Schema(quasi_identifiers=["born"], sensitive=["disease"])
    recipe = Recipe(schema=schema, models=K, algorithm=sf.algorithms.MDAV(), seed=1, block_rows=4)
    pq.write_table(table, tmp_path / "table.parquet")
    found = in_blocks(recipe, tmp_path / "table.parquet", tmp_path)
    sf.run_recipe(recipe, table).write(tmp_path / "memory", table_format="parquet")
    expected = pq.read_table(tmp_path / "memory" / "public" / "table.parquet")
    assert rows_of(found).equals(ordered(expected))
    assert len(found.paths) > 1


def test_a_block_that_cannot_be_cut_must_fit_into_memory(tmp_path, monkeypatch):
    table = pa.table({name: census()[name].take([0] * 90) for name in SCHEMA.attributes})
    recipe = replace(RECIPE, block_rows=10)
    assert len(in_blocks(recipe, table, tmp_path).paths) == 1
    monkeypatch.setattr(_blocks, "BYTES_PER_BLOCK_ROW", 1_000_000)
    (tmp_path / "more").mkdir()
    with pytest.raises(InfeasibleError, match="A block of 90 rows cannot be cut any further"):
        in_blocks(recipe, table, tmp_path / "more")


def test_blocks_that_suppress_too_much_are_refused(tmp_path, monkeypatch):
    search = sf.algorithms.MDAV.search

    def wasteful(self, task):
        found = search(self, task)
        return replace(found, group=np.where(np.arange(len(found.group)) < 6, -1, found.group))

    monkeypatch.setattr(sf.algorithms.MDAV, "search", wasteful)
    with pytest.raises(InfeasibleError, match=r"Mdav would suppress .* records, more than the 0 allowed"):
        in_blocks(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["age", "occupation"])
def test_parts_that_are_written_wrong_withhold_the_release(tmp_path, swap_cells, column):
    swap_cells(column)
    with pytest.raises(GuaranteeViolatedError):
        in_blocks(replace(RECIPE, models=(sf.models.KAnonymity(k=1),)), census(), tmp_path)
    assert not any(tmp_path.iterdir())


cells = st.tuples(st.sampled_from(["*", "a", None]), st.none() | st.integers(0, 3), st.sampled_from([0.5, 2.0]))


@given(blocks=st.lists(st.lists(cells, min_size=1, max_size=20), min_size=1, max_size=7), data=st.data())
@examples(30)
def test_parts_tell_nothing_of_blocks(blocks, data):
    """The same rows in other blocks give the same files."""
    rows = [row for block in blocks for row in block]
    shuffled, sizes = data.draw(st.permutations(rows)), map(len, blocks)
    again = [[shuffled.pop() for _ in range(size)] for size in sizes]
    found = [mixed(each) for each in (blocks, again)]
    assert found[0] == found[1]
    assert sorted(map(repr, (row for part in found[0] for row in part))) == sorted(map(repr, rows))
    assert all(found[0])
    assert len(found[0]) <= len(blocks)


def mixed(blocks):
    with tempfile.TemporaryDirectory() as folder:
        place, parts = Path(folder), Path(folder) / "parts"
        parts.mkdir()
        schema = pa.schema({"job": pa.string(), "age": pa.int64(), "score": pa.float64()})
        paths = []
        for at, block in enumerate(blocks):
            paths.append(place / f"block-{at}.parquet")
            columns = zip(*block, strict=True)
            pq.write_table(
                pa.table(
                    [pa.array(each, kind) for each, kind in zip(columns, schema.types, strict=True)], schema=schema
                ),
                paths[-1],
            )
        shuffle_into_parts(paths, place, parts)
        assert [path.name for path in place.iterdir()] == ["parts"]
        tables = [pq.read_table(path) for path in sorted(parts.iterdir())]
        assert all(table.equals(ordered(table)) for table in tables)
        return [list(zip(*table.to_pydict().values(), strict=True)) for table in tables]


def test_rows_that_are_lost_while_they_are_dealt_withhold_the_release(tmp_path, monkeypatch):
    read = _block_parts._read
    monkeypatch.setattr(_block_parts, "_read", lambda hand: read(hand).slice(1))
    with pytest.raises(ReadError):
        in_blocks(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_missing_cells_are_refused_as_in_memory(tmp_path):
    table = census()
    ages = pa.array([None if at < 7 else age for at, age in enumerate(table["age"].to_pylist())])
    table = table.set_column(table.schema.get_field_index("age"), "age", ages)
    for make in (lambda: sf.run_recipe(RECIPE, table), lambda: in_blocks(RECIPE, table, tmp_path)):
        with pytest.raises(sf.errors.UnsupportedModelError, match="'age' has 7 missing cells"):
            make()
