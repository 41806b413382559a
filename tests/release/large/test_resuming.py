"""A release in segments that was killed goes on where it stopped, with the same bytes in the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato._progress import Progress, ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, WriteError
from sfumato.io._dataframes import to_arrow
from sfumato.tables.engines.options import EngineSelector
from sfumato.tables.out_of_core._coded_rows import CodedRows
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits
from sfumato.tables.out_of_core._segment_results import SegmentProcessing
from sfumato.tables.out_of_core._staging import PLAN, resumable_folder, resumable_folder_for

SCHEMA = sf.Schema(quasi_identifiers=["age", "education", "sex"], sensitive=["occupation"], insensitive=["salary"])
RECIPE = Recipe(schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.Mondrian(), seed=1)
LIMITS = MemoryLimits(combinations=0, groups=10_000, segment_rows=120)
KEPT = ".sfumato-resume-release"
STAGES = ["coding", "cutting", "parting", "segment 1 of", "segment 2 of", "segment 4 of", "judging", "reporting", ""]
KILLED = 7


def released(
    recipe: Recipe, data: object, folder: Path, progress: Progress = ignore_progress, *, resume: bool = True
) -> sf.StoredRelease:
    resources, out = EngineSelector(engine="duckdb", memory="100MB", resume=resume), folder / "release"
    with resumable_folder_for(resources, out) as kept, resources.open_source(data, recipe.reading, out) as source:
        return run_recipe_in_engine(
            recipe,
            source,
            out,
            memory=10**8,
            replace_older=False,
            report=True,
            progress=progress,
            limits=LIMITS,
            kept=kept,
        )


@cache
def census(rows: int = 600) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=3))[0]


def dying_at(stage: str) -> Progress:
    """End the process at the boundary before a stage: nothing is cleaned up then."""

    def progress(share: float, what: str = "") -> None:
        if what.startswith(stage) if stage else share == 1.0:
            os._exit(KILLED)

    return progress


class InterruptedRunError(Exception):
    """Stands for Ctrl-C."""


def interrupted_at(stage: str) -> Progress:
    def progress(_: float, what: str = "") -> None:
        if what.startswith(stage):
            raise InterruptedRunError

    return progress


KILLING = """
import os, sys
from pathlib import Path
from tests.release.large import test_resuming as t

table = t.census()
for stage, folder in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    child = os.fork()
    if not child:
        t.released(t.RECIPE, table, Path(folder), t.dying_at(stage))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Kill a run at every stage; a process that has loaded all libraries, and runs nothing itself, forks them all."""
    folders = {stage: tmp_path_factory.mktemp("killed") for stage in STAGES}
    root = Path(__file__).parents[3]
    known = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    given = [str(part) for pair in folders.items() for part in pair]
    command = [sys.executable, "-c", KILLING, *given]
    done = subprocess.run(command, env=known, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
    assert done.stdout.split() == [str(KILLED)] * len(STAGES)
    return folders


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def published(folder: Path) -> dict[str, bytes]:
    """Return all files of a release but its report, which tells the peak of temporary space."""
    found = contents(folder / "release")
    return {name: each for name, each in found.items() if not name.startswith("internal/report")}


BLOCKS = replace(RECIPE, algorithm=sf.algorithms.MDAV(), block_rows=120)


@pytest.fixture(scope="module")
def in_blocks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("blocks")
    released(BLOCKS, census(), folder)
    return contents(folder)


@pytest.mark.parametrize("stage", ["cutting", "segment 3 of", "judging", "reporting"])
def test_a_release_in_blocks_is_resumed_with_the_same_bytes(tmp_path, in_blocks, stage, monkeypatch):
    with pytest.raises(InterruptedRunError):
        released(BLOCKS, census(), tmp_path, interrupted_at(stage))
    plan = json.loads((tmp_path / KEPT / PLAN).read_text())
    assert len(plan["finished"]) == (0 if stage == "cutting" else 2 if stage == "segment 3 of" else len(plan["losses"]))
    searched, search = [], sf.algorithms.MDAV.search
    monkeypatch.setattr(sf.algorithms.MDAV, "search", lambda self, task: searched.append(task) or search(self, task))
    found = released(BLOCKS, census(), tmp_path)
    assert len(searched) == found.passage.segments - len(plan["finished"])
    assert contents(tmp_path) == in_blocks


BUCKETS = replace(
    BLOCKS,
    algorithm=sf.algorithms.Slicing(),
    models=(sf.models.FrequencyLDiversity(l=2, sensitive="occupation"),),
    seed=None,
)


@pytest.mark.parametrize("algorithm", [sf.algorithms.Anatomy(), sf.algorithms.Slicing()], ids=repr)
@pytest.mark.parametrize("stage", ["cutting", "parting", "segment 1 of", "segment 3 of", "judging", "reporting"])
def test_a_release_in_buckets_is_resumed_with_what_was_drawn(tmp_path, stage, algorithm):
    """Neither seed nor secret is given, so both are drawn by the first run."""
    recipe = replace(BUCKETS, algorithm=algorithm)
    for name in ("once", "twice"):
        (tmp_path / name).mkdir()
    with pytest.raises(InterruptedRunError):
        released(recipe, census(), tmp_path / "twice", interrupted_at(stage))
    assert [path.name for path in (tmp_path / "twice").iterdir()] == [KEPT]
    drawn = json.loads((tmp_path / "twice" / KEPT / PLAN).read_text())["drawn"]
    released(recipe, census(), tmp_path / "twice")
    once = replace(recipe, seed=drawn["seed"], secret=drawn["secret"])
    released(once, census(), tmp_path / "once")
    assert published(tmp_path / "twice") == published(tmp_path / "once")


def test_lost_keys_of_buckets_are_drawn_again(tmp_path):
    with pytest.raises(InterruptedRunError):
        released(replace(BUCKETS, seed=1), census(), tmp_path, interrupted_at("judging"))
    (tmp_path / KEPT / "keys-00001-0.npy").write_bytes(b"lost")
    recipe = released(replace(BUCKETS, seed=1), census(), tmp_path).recipe
    (tmp_path / "once").mkdir()
    released(recipe, census(), tmp_path / "once")
    assert published(tmp_path) == published(tmp_path / "once")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    released(RECIPE, census(), folder)
    assert [path.name for path in folder.iterdir()] == ["release"]
    return contents(folder / "release")


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_was_killed_at_any_boundary_is_resumed_with_the_same_bytes(killed, whole, stage):
    folder = killed[stage]
    assert not (folder / "release").exists()
    kept = folder / KEPT
    assert kept.stat().st_mode & 0o777 == 0o700
    assert (kept / PLAN).exists()
    released(RECIPE, census(), folder)
    assert contents(folder / "release") == whole
    assert [path.name for path in folder.iterdir()] == ["release"]


def stopped(folder: Path, stage: str = "segment 3 of") -> Path:
    with pytest.raises(InterruptedRunError):
        released(RECIPE, census(), folder, interrupted_at(stage))
    return folder / KEPT


def test_what_is_finished_is_not_done_again(tmp_path, whole, monkeypatch):
    stopped(tmp_path)
    monkeypatch.setattr(CodedRows, "write", None)
    finished, finish = [], SegmentProcessing.finish
    monkeypatch.setattr(SegmentProcessing, "finish", lambda self, at: finished.append(at) or finish(self, at))
    release = released(RECIPE, census(), tmp_path)
    assert finished == list(range(2, release.passage.segments))
    assert contents(tmp_path / "release") == whole


@pytest.mark.parametrize("damage", ["part-00001.parquet", "segment-00003.arrow", "codes.arrow", "cells.arrow", PLAN])
@pytest.mark.parametrize("lost", [True, False])
def test_what_is_lost_or_damaged_is_done_again(tmp_path, whole, damage, lost):
    file = stopped(tmp_path) / damage
    file.unlink() if lost else file.write_bytes(file.read_bytes()[:-9] + b"elsewhere")
    released(RECIPE, census(), tmp_path)
    assert contents(tmp_path / "release") == whole


@pytest.mark.parametrize(
    ("recipe", "rows"),
    [(replace(RECIPE, models=(sf.models.KAnonymity(k=4),)), 600), (replace(RECIPE, seed=2), 600), (RECIPE, 599)],
)
def test_another_recipe_or_table_is_refused(tmp_path, whole, recipe, rows):
    kept = stopped(tmp_path)
    before = contents(kept)
    with pytest.raises(InvalidParameterError, match="another recipe or table"):
        released(recipe, census(rows), tmp_path)
    assert contents(kept) == before
    released(RECIPE, census(), tmp_path)
    assert contents(tmp_path / "release") == whole


def test_a_seed_that_was_drawn_is_drawn_once(tmp_path):
    anew = replace(RECIPE, seed=None)
    with pytest.raises(InterruptedRunError):
        released(anew, census(), tmp_path, interrupted_at("segment 3 of"))
    drawn = json.loads((tmp_path / KEPT / PLAN).read_text())["drawn"]["seed"]
    assert released(anew, census(), tmp_path).recipe.seed == drawn


def test_what_broke_its_promise_is_not_kept(tmp_path, monkeypatch):
    read = CodedRows.segment
    monkeypatch.setattr(CodedRows, "segment", lambda self, at: read(self, at).slice(1))
    with pytest.raises(GuaranteeViolatedError):
        released(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_folder_that_others_can_read_or_that_is_in_use_is_refused(tmp_path):
    (tmp_path / KEPT).mkdir(mode=0o755)
    with pytest.raises(WriteError, match="can be read by others"):
        released(RECIPE, census(), tmp_path)
    (tmp_path / KEPT).rmdir()
    with resumable_folder(tmp_path, "release"), pytest.raises(WriteError, match="Another process"):
        released(RECIPE, census(), tmp_path)


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_without_resume_nothing_remains(tmp_path, stage):
    with pytest.raises(InterruptedRunError):
        released(RECIPE, census(), tmp_path, interrupted_at(stage), resume=False)
    assert not any(tmp_path.iterdir())


def test_a_table_that_is_not_cut_leaves_nothing_to_resume(tmp_path):
    pq.write_table(census(), tmp_path / "census.parquet")
    place = {"engine": "duckdb", "memory": "100MB", "out": tmp_path / "release", "resume": True}
    with pytest.raises(InterruptedRunError):
        sf.run_recipe(RECIPE, tmp_path / "census.parquet", progress=interrupted_at("judging"), **place)
    assert [path.name for path in tmp_path.iterdir()] == ["census.parquet"]
    assert sf.run_recipe(RECIPE, tmp_path / "census.parquet", **place).passage.way == "counted"
    assert {path.name for path in tmp_path.iterdir()} == {"census.parquet", "release"}
