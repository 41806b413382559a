"""Releases by DuckDB in segments: the same rows as in memory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, SfumatoError, WriteError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_arrow
from sfumato.io._parquet_parts import PartsWriter
from sfumato.tables.engines.options import EngineSelector
from sfumato.tables.out_of_core import _oversized_segments, _segment_results, _segments
from sfumato.tables.out_of_core._coded_rows import BatchWriter, CodedRows, hash_rows
from sfumato.tables.out_of_core._oversized_segments import WeightedRows
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits
from sfumato.tables.out_of_core._segment_audit import part_findings

MEMORY = 100_000_000
PROMISES = [
    (sf.models.KAnonymity(k=2),),
    (sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease")),
    (sf.models.TCloseness(t=0.4, sensitive="disease"),),
]
ALGORITHMS = [sf.algorithms.Mondrian(), sf.algorithms.Mondrian(publish="sets", bounds="exact")]


def in_segments(recipe: Recipe, data: object, folder: Path, rows: int = 50, groups: int = 10_000) -> sf.StoredRelease:
    limits = MemoryLimits(combinations=0, groups=groups, segment_rows=rows)
    with EngineSelector(engine="duckdb", memory="100MB").open_source(
        data, recipe.reading, folder / "release"
    ) as source:
        return run_recipe_in_engine(
            recipe,
            source,
            folder / "release",
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=ignore_progress,
            limits=limits,
        )


def rows_of(release: sf.StoredRelease) -> pa.Table:
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
        expected = sf.run_recipe(recipe, table)
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
        assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.passage.way == "segmented"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})


def census(rows: int = 400) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=3))[0]


SCHEMA = sf.Schema(quasi_identifiers=["age", "education", "sex"], sensitive=["occupation"], insensitive=["salary"])
RECIPE = Recipe(schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.Mondrian(), seed=1)


@pytest.mark.parametrize("groups", [30, 10_000])
def test_groups_are_judged_in_pieces_as_all_at_once(tmp_path, groups):
    table = census()
    expected = sf.run_recipe(RECIPE, table)
    found = in_segments(RECIPE, table, tmp_path, groups=groups)
    assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.passage.segments == len(found.paths) > 1
    assert (tmp_path / "release" / "internal" / "report.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_groups_that_are_in_two_parts_are_judged_as_one(tmp_path):
    schema = replace(
        SCHEMA,
        quasi_identifiers=["age"],
        hierarchies={"age": sf.hierarchies.Taxonomy({"any": [str(age) for age in range(120)]})},
    )
    table = census()
    table = table.set_column(table.schema.get_field_index("age"), "age", table["age"].cast(pa.string()))
    recipe = replace(RECIPE, schema=schema)
    expected = sf.run_recipe(recipe, table)
    found = in_segments(recipe, table, tmp_path)
    shown = [set(pq.read_table(path)["age"].to_pylist()) for path in found.paths]
    assert sum(map(len, shown)) > len(set.union(*shown)), "no part shows what another one shows"
    assert sorted(found.audit.sizes) == sorted(expected.audit.sizes)
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})


def compared_with_others(run):
    """Gather findings of parts that are compared with a table in which values occur as often as others do."""
    parts = part_findings(run)
    rolled = {name: np.roll(counts, 1) for name, counts in parts._whole.counts.items()}
    parts._whole = replace(parts._whole, counts=rolled)
    parts._totals = [parts._whole.select(tuple(each.counts)) for each in parts._totals]
    return parts


def test_parts_that_were_compared_with_other_totals_are_judged_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_segments, "part_findings", compared_with_others)
    table = census()
    found = in_segments(RECIPE, table, tmp_path)
    assert found.audit.to_dict()["levels"] == sf.run_recipe(RECIPE, table).audit.to_dict()["levels"]


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
    with pytest.raises(GuaranteeViolatedError):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["age", "occupation"])
def test_parts_that_are_written_wrong_withhold_the_release(tmp_path, swap_cells, column):
    swap_cells(column)
    with pytest.raises(GuaranteeViolatedError):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def mostly_alike(rows: int = 1000) -> pa.Table:
    """Return a table of which four in five rows have the same quasi-identifiers, and half of these are all alike."""
    table = census(rows)
    alike = pa.array([at % 5 != 0 for at in range(rows)])
    same = pa.array([at % 10 < 5 and at % 5 != 0 for at in range(rows)])
    for at, name in enumerate(table.column_names):
        where = alike if name in SCHEMA.quasi_identifiers else same
        cells = pc.if_else(where, table[name][0], table[name])
        table = table.set_column(at, name, cells)
    return table


NO_KEPT = sf.Schema(quasi_identifiers=["age", "education", "sex"])
READ = (sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="occupation"))


@pytest.mark.parametrize("schema", [SCHEMA, NO_KEPT], ids=["kept", "nothing else"])
@pytest.mark.parametrize("models", [(sf.models.KAnonymity(k=3),), READ], ids=["k", "l"])
def test_rows_alike_that_nothing_cuts_are_never_in_memory_together(tmp_path, monkeypatch, schema, models):
    if schema is NO_KEPT and models is READ:
        return
    table, recipe = mostly_alike(), Recipe(schema=schema, models=models, algorithm=sf.algorithms.Mondrian(), seed=1)
    expected = sf.run_recipe(recipe, table)
    read, loaded = CodedRows.segment, []
    monkeypatch.setattr(CodedRows, "segment", lambda self, at: loaded.append(read(self, at)) or loaded[-1])
    found = in_segments(recipe, table, tmp_path)
    assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
    assert max(batch.num_rows for batch in loaded) <= 100
    assert len(found.paths) > found.passage.segments or schema is NO_KEPT
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def with_other_case(cases: WeightedRows, batch: pa.RecordBatch) -> np.ndarray:
    return (FIND(cases, batch) + 1) % len(cases.many)


def without_one(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (batch.slice(1) for batch in batches)


FIND, READ_BATCHES = WeightedRows.find, _oversized_segments.read_batches


@pytest.mark.parametrize(
    ("where", "what", "wrong"),
    [
        (WeightedRows, "find", with_other_case),
        (_oversized_segments, "read_batches", lambda path: without_one(READ_BATCHES(path))),
        (_oversized_segments, "_rows_to_write", lambda _, start, stop: np.zeros(stop - start, dtype=np.int64)),
    ],
)
def test_rows_alike_that_are_lost_or_mixed_up_withhold_the_release(tmp_path, monkeypatch, where, what, wrong):
    monkeypatch.setattr(where, what, wrong)
    with pytest.raises(GuaranteeViolatedError):
        in_segments(RECIPE, mostly_alike(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_full_disk_is_refused_before_anything_is_coded(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(WriteError, match="GB are free"):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


STAGES = [
    (BatchWriter, "write"),
    (CodedRows, "part"),
    (PartsWriter, "write"),
    (_segment_results.shutil, "move"),
    (_segment_results.pq, "read_table"),
]


@pytest.mark.parametrize(("where", "what"), STAGES, ids=["codes", "segments", "parts", "release", "reading"])
def test_a_disk_that_is_full_midway_is_told_with_what_was_needed_and_left_clean(tmp_path, monkeypatch, where, what):
    monkeypatch.setattr(where, what, full)
    with pytest.raises(WriteError, match=r"^The disk is full: .* GB for temporary data in .* make room, or name .*\.$"):
        in_segments(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit the size of files")
@pytest.mark.parametrize("most", [4_000, 12_000])
def test_a_file_that_cannot_grow_any_more_is_told_and_left_clean(tmp_path, most):
    code = (
        "import resource, signal, sys; from pathlib import Path; import tests.release.large.test_segmented as t; "
        "table = t.census(4000); signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2]))); "
        "t.in_segments(t.RECIPE, table, Path(sys.argv[1]), rows=1000)"
    )
    root = Path(__file__).parents[3]
    known = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-B", "-c", code, str(tmp_path), str(most)],
        env=known,
        check=False,
        capture_output=True,
        text=True,
    )
    assert "WriteError: The disk is full" in done.stderr
    assert not any(tmp_path.iterdir())


def test_other_algorithms_are_refused_if_combinations_do_not_fit(tmp_path):
    recipe = Recipe(schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.Datafly(), seed=1)
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
