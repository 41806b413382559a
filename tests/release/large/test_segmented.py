"""Releases by DuckDB in segments: the same rows as in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato.core.progress import silent
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, SfumatoError, WriteError
from sfumato.recipe import Recipe
from sfumato.release.large import finishing
from sfumato.release.large.coded_rows import CodedRows
from sfumato.release.large.large_run import Limits
from sfumato.release.large.row_hashes import hash_rows
from sfumato.release.large.running import carry_out_large
from sfumato.sources.engines import Resources
from sfumato.table.columns import undecorated
from sfumato.table.frames import to_arrow

MEMORY = 100_000_000
PROMISES = [
    (sf.KAnonymity(k=2),),
    (sf.KAnonymity(k=3), sf.DistinctLDiversity(l=2, sensitive="disease")),
    (sf.TCloseness(t=0.4, sensitive="disease"),),
]
ALGORITHMS = [sf.Mondrian(), sf.Mondrian(publish="sets", bounds="exact")]


def in_segments(recipe: Recipe, data: object, folder: Path, rows: int = 50, groups: int = 10_000) -> sf.LargeRelease:
    limits = Limits(combinations=0, groups=groups, segment_rows=rows)
    with Resources(engine="duckdb", memory="100MB").opened(data, recipe.reading, folder / "release") as source:
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


def census(rows: int = 400) -> pa.Table:
    return to_arrow(sf.samples.generate_census(rows, seed=3))[0]


SCHEMA = sf.Schema(quasi=["age", "education", "sex"], sensitive=["occupation"], insensitive=["salary"])
RECIPE = Recipe(schema=SCHEMA, models=(sf.KAnonymity(k=5),), algorithm=sf.Mondrian(), seed=1)


@pytest.mark.parametrize("groups", [30, 10_000])
def test_groups_are_judged_in_pieces_as_all_at_once(tmp_path, groups):
    table = census()
    expected = sf.carry_out(RECIPE, table)
    found = in_segments(RECIPE, table, tmp_path, groups=groups)
    assert rows_of(found).equals(ordered(undecorated(expected.published)))
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.passage.segments == len(found.paths) > 1
    assert (tmp_path / "release" / "internal" / "report.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def without_last(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.slice(0, batch.num_rows - 1)


def with_other_cell(batch: pa.RecordBatch) -> pa.RecordBatch:
    cells = batch.column("kept 0").to_pylist()
    cells[0] = next(cell for cell in cells if cell != cells[0])
    return batch.set_column(
        batch.schema.get_field_index("kept 0"), "kept 0", pa.array(cells, batch.column("kept 0").type)
    )


@pytest.mark.parametrize("damage", [without_last, with_other_cell])
def test_rows_that_are_lost_or_changed_on_the_way_withhold_the_release(tmp_path, monkeypatch, damage):
    read = CodedRows.segment
    monkeypatch.setattr(CodedRows, "segment", lambda self, at: damage(read(self, at)) if at == 1 else read(self, at))
    with pytest.raises(BrokenPromiseError):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["age", "occupation"])
def test_parts_that_are_written_wrong_withhold_the_release(tmp_path, monkeypatch, column):
    write = finishing.write_part

    def wrong(part, shown):
        at = shown.schema.get_field_index(column)
        cells = shown[column].cast(pa.string()).to_pylist()
        write(part, shown.set_column(at, column, pa.array([*cells[1:], cells[0]])))

    monkeypatch.setattr(finishing, "write_part", wrong)
    with pytest.raises(BrokenPromiseError):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_full_disk_is_refused_before_anything_is_coded(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(WriteError, match="GB are free"):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_other_algorithms_are_refused_if_combinations_do_not_fit(tmp_path):
    recipe = Recipe(schema=SCHEMA, models=(sf.KAnonymity(k=5),), algorithm=sf.algorithms.Datafly(), seed=1)
    with pytest.raises(InfeasibleError, match="too many for memory"):
        in_segments(recipe, census(), tmp_path)
    assert not any(tmp_path.iterdir())


CELLS = st.lists(st.tuples(st.none() | st.text(max_size=4), st.none() | st.integers(-5, 5)), min_size=1, max_size=8)


@given(rows=CELLS, other=CELLS)
@examples(100)
def test_hashes_of_rows_are_equal_if_the_rows_are(rows, other):
    alike = sorted(rows, key=repr) == sorted(other, key=repr)
    assert (hashed(rows) == hashed(other)) is alike
    assert hashed(rows) == (hashed(rows[:3]) + (hashed(rows[3:]) if rows[3:] else 0)) % 2**64
    assert hashed(rows) == hashed(rows[::-1])


def hashed(rows: list[tuple[str | None, int | None]]) -> int:
    texts, numbers = zip(*rows, strict=True)
    return hash_rows([pa.array(texts, pa.string()), pa.array(numbers, pa.int64())])
