"""Releases in segments that workers finish: the same files as where nobody helps, whatever fails on the way."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.local_workers import DuckDBWithWorkers
from tests.release.large.test_segmented import (
    ALGORITHMS,
    MEMORY,
    PROMISES,
    RECIPE,
    census,
    in_segments,
    mostly_alike,
    ordered,
    rows_of,
    with_other_cell,
    without_last,
)
from tests.strategies import described_tables

import sfumato as sf
from sfumato._progress import Progress, ignore_progress
from sfumato.core._atomic_writes import open_workspace
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, ReadError, SfumatoError, WriteError
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines._spark_workers import PartitionTask
from sfumato.tables.engines.options import DATASET, EngineSelector
from sfumato.tables.out_of_core import _workers
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits
from sfumato.tables.out_of_core._segment_results import SegmentProcessing
from sfumato.tables.out_of_core._staging import PLAN, resumable_folder_for
from sfumato.tables.out_of_core._workers import FinishSegment

KEPT = ".sfumato-resume-release"


def in_workers(
    recipe: Recipe,
    table: pa.Table,
    folder: Path,
    rows: int = 50,
    *,
    resume: bool = False,
    progress: Progress = ignore_progress,
    source: type[DuckDBWithWorkers] = DuckDBWithWorkers,
) -> sf.StoredRelease:
    out, resources = folder / "release", EngineSelector(engine="duckdb", memory="100MB", resume=resume)
    with resumable_folder_for(resources, out) as kept, open_workspace(folder) as place:
        return run_recipe_in_engine(
            recipe,
            source(DATASET, memory=MEMORY, temporary=place, tables={DATASET: table}),
            out,
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=progress,
            limits=MemoryLimits(combinations=0, groups=10_000, segment_rows=rows),
            kept=kept,
        )


def tables(folder: Path) -> dict[str, bytes]:
    public = folder / "release" / "public"
    return {str(path.relative_to(public)): path.read_bytes() for path in sorted(public.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["nodes", "sets"])
@given(drawn=described_tables(most_rows=60), models=st.sampled_from(PROMISES), rows=st.sampled_from([1, 5, 20, 1000]))
@examples(6)
def test_files_are_those_of_one_process(algorithm, drawn, models, rows):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, seed=1)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        try:
            expected = in_segments(recipe, table, Path(first), rows)
        except SfumatoError as error:
            with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
                in_workers(recipe, table, Path(second), rows)
            assert not any(Path(second).iterdir())
            return
        found = in_workers(recipe, table, Path(second), rows)
        assert tables(Path(first)) == tables(Path(second))
        assert found.audit.to_dict() == expected.audit.to_dict()
        assert found.metrics == expected.metrics
        assert found.passage.segments == expected.passage.segments
        assert [path.name for path in Path(second).iterdir()] == ["release"]


@pytest.mark.parametrize("resume", [False, True])
def test_rows_alike_and_values_throughout_are_those_of_memory(tmp_path, resume):
    table = mostly_alike()
    found = in_workers(RECIPE, table, tmp_path, resume=resume)
    assert rows_of(found).equals(ordered(strip_metadata(sf.run_recipe(RECIPE, table).published)))
    assert len(found.paths) > found.passage.segments
    exact = pa.table({"age": np.repeat(np.arange(20), 10), "salary": np.arange(200)})
    recipe = replace(RECIPE, schema=sf.Schema(quasi_identifiers=["age"], insensitive=["salary"]))
    (tmp_path / "exact").mkdir()
    found = in_workers(recipe, exact, tmp_path / "exact", resume=resume)
    assert rows_of(found).equals(ordered(exact))
    assert found.passage.segments > 2
    assert {path.name for path in tmp_path.iterdir()} == {"release", "exact"}


def test_groups_that_can_only_be_judged_together_are(tmp_path):
    table = census()
    table = table.set_column(
        0,
        table.column_names[0],
        pa.array([None if at % 7 == 0 else each for at, each in enumerate(table[0].to_pylist())]),
    )
    recipe = replace(RECIPE, schema=replace(RECIPE.schema, missing="matches-all"))
    found = in_workers(recipe, table, tmp_path, rows=150)
    expected = sf.run_recipe(recipe, table)
    assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]


@pytest.mark.parametrize("damage", [without_last, with_other_cell])
def test_rows_that_are_lost_or_changed_on_the_way_withhold_the_release(tmp_path, monkeypatch, damage):
    packed = PartitionTask._partition

    def damaged(self, held):
        (codes, rest), *others = held
        return packed(self, [(damage_codes(codes), damage(rest)), *others])

    def damage_codes(codes):
        return without_last(codes) if damage is without_last else codes

    monkeypatch.setattr(PartitionTask, "_partition", damaged)
    with pytest.raises(GuaranteeViolatedError):
        in_workers(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["age", "occupation"])
def test_parts_that_are_written_wrong_withhold_the_release(tmp_path, swap_cells, column):
    swap_cells(column)
    with pytest.raises(GuaranteeViolatedError):
        in_workers(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


class Changed(DuckDBWithWorkers):
    """A table that changes between two passes."""

    changed = True


def test_a_table_that_changes_is_refused(tmp_path):
    with pytest.raises(ReadError, match="changed while it was read"):
        in_workers(RECIPE, census(), tmp_path, source=Changed)
    assert not any(tmp_path.iterdir())


def test_what_a_worker_refuses_is_told_as_it_says_it(tmp_path, monkeypatch):
    def refuse(*_):
        raise InfeasibleError("This cannot be done; do something else.")

    monkeypatch.setattr(SegmentProcessing, "finish", refuse)
    with pytest.raises(InfeasibleError, match=r"^This cannot be done; do something else\.$"):
        in_workers(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_parts_that_only_workers_see_are_refused(tmp_path, monkeypatch):
    real = FinishSegment.__call__

    def lose(self, number, batches):
        told = json.loads(real(self, number, batches))
        return json.dumps({**told, "attempt": "attempt-elsewhere"}).encode()

    monkeypatch.setattr(FinishSegment, "__call__", lose)
    with pytest.raises(WriteError, match="do not see the folder"):
        in_workers(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


class InterruptedRunError(Exception):
    """Stands for Ctrl-C, or for Spark giving up."""


def stop_at(stage: str, monkeypatch: pytest.MonkeyPatch) -> Progress:
    """Stop before a stage, or after so many segments."""
    done, finish = [], _workers.finish_segment

    def finish_some(finishing, segment, most):
        if stage.isdecimal() and len(done) == int(stage):
            raise InterruptedRunError
        done.append(segment)
        return finish(finishing, segment, most)

    def progress(_: float, what: str = "") -> None:
        if what.startswith(stage):
            raise InterruptedRunError

    monkeypatch.setattr(_workers, "finish_segment", finish_some)
    return progress


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    in_workers(RECIPE, census(), folder)
    return tables(folder)


def stopped(folder: Path, stage: str) -> Path:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(InterruptedRunError):
        in_workers(RECIPE, census(), folder, resume=True, progress=stop_at(stage, patch))
    return folder / KEPT


@pytest.mark.parametrize(
    ("stage", "left"), [("coding", 0), ("segments", 0), ("3", 3), ("judging", 11), ("reporting", 11)]
)
def test_a_run_that_stopped_is_resumed_with_the_same_bytes(tmp_path, whole, stage, left, monkeypatch):
    kept = stopped(tmp_path, stage)
    assert kept.stat().st_mode & 0o777 == 0o700
    finished, finish = [], _workers.finish_segment
    monkeypatch.setattr(_workers, "finish_segment", lambda *given: finished.append(given[1]) or finish(*given))
    assert in_workers(RECIPE, census(), tmp_path, resume=True).passage.segments == 11
    assert len(finished) == 11 - left
    assert tables(tmp_path) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize(
    "damage", ["part-00001.parquet", "attempt-*/part-00001.parquet", "attempt-*/report.json", PLAN]
)
@pytest.mark.parametrize("lost", [True, False])
def test_what_is_lost_or_damaged_is_done_again(tmp_path, whole, damage, lost):
    (file,) = list(stopped(tmp_path, "judging" if "attempt" not in damage else "3").glob(damage))[:1]
    file.unlink() if lost else file.write_bytes(file.read_bytes()[:-9] + b"elsewhere")
    in_workers(RECIPE, census(), tmp_path, resume=True)
    assert tables(tmp_path) == whole


def test_a_plan_for_other_codes_is_made_again(tmp_path, whole):
    plan = stopped(tmp_path, "3") / PLAN
    noted = json.loads(plan.read_text())
    noted["coded"]["hashed"] += 1
    plan.write_text(json.dumps(noted))
    in_workers(RECIPE, census(), tmp_path, resume=True)
    assert tables(tmp_path) == whole
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "release/public/table").iterdir()) == 400
