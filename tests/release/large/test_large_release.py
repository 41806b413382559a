"""A large release as users meet it: what is refused, what is written, and what is left behind when something fails."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import (
    GuaranteeViolatedError,
    InfeasibleError,
    InvalidParameterError,
    ReadError,
    SfumatoError,
    WriteError,
)
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.out_of_core import _audit, _combinations, _pipeline, _run

SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["disease"],
    insensitive=["job"],
    hierarchies={"zip": sf.hierarchies.Prefixes()},
)
MODELS = [sf.models.KAnonymity(k=5)]
STAGES = {
    "reading": (DuckDBSource, "profile"),
    "counting": (DuckDBSource, "count"),
    "searching": (_combinations, "find_solution"),
    "writing": (DuckDBSource, "write"),
    "judging": (_audit, "truth_by_rule"),
    "comparing": (DuckDBSource, "digest_written"),
    "telling": (_pipeline, "write_folders"),
}
KILLED = """
import os, signal, sys
import sfumato as sf
from tests.release.large.test_large_release import MODELS, SCHEMA, STAGES

home, name = STAGES[sys.argv[1]]
setattr(home, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
sf.anonymize("patients", SCHEMA, MODELS, engine="duckdb", memory="100MB", out="release")
"""


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return sf.datasets.generate_hospital(2_000, seed=3)


@pytest.fixture
def folder(patients: pa.Table, tmp_path: Path) -> Path:
    (tmp_path / "patients").mkdir()
    for at in range(4):
        pq.write_table(patients.slice(500 * at, 500), tmp_path / "patients" / f"{at}.parquet")
    return tmp_path


def released(folder: Path, **more: object) -> sf.StoredRelease:
    where = {"engine": "duckdb", "memory": "100MB", "out": folder / "release", **more}
    release = sf.anonymize(folder / "patients", SCHEMA, MODELS, **where)  # type: ignore[call-overload]  # as users call it
    assert isinstance(release, sf.StoredRelease)
    return release


def rows(release: sf.StoredRelease) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in release.paths])


def test_folders_hold_what_they_hold_in_memory(folder, patients):
    release = released(folder, progress=False)
    expected = sf.anonymize(patients, SCHEMA, MODELS)
    expected.write(folder / "expected", table_format="parquet")
    assert rows(release).equals(strip_metadata(expected.published))
    for name in ("promise.json", "dictionary.json"):
        told, usual = (json.loads((folder / at / "public" / name).read_text()) for at in ("release", "expected"))
        assert told == usual
    internal = {path.name for path in (folder / "release" / "internal").iterdir()}
    assert internal == {"recipe.toml", "report.json", "report.html"}
    report = json.loads((folder / "release" / "internal" / "report.json").read_text())
    assert report["engine"]["way"] == "counted"
    assert report["audit"]["holds"]
    assert "The rows stayed in duckdb" in (folder / "release" / "internal" / "report.html").read_text()
    assert "duckdb" in repr(release)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_an_audit_notices_parts_that_are_lost_with_all_their_groups(folder, engine):
    release = released(folder)
    public = folder / "release" / "public"
    told = json.loads((public / "parts.json").read_text())
    assert sum(part["rows"] for part in told["parts"].values()) == release.audit.records
    written = pq.read_table(release.paths[0])
    assert sf.audit(public / "table", SCHEMA, MODELS, engine=engine).holds
    first = written.filter(pc.not_equal(written["sex"], written["sex"][0]))
    pq.write_table(first, release.paths[0])
    assert sf.audit(release.paths[0], SCHEMA, MODELS, engine=engine).holds
    with pytest.raises(ReadError, match="1 were changed"):
        sf.audit(public / "table", SCHEMA, MODELS, engine=engine)


def test_other_tables_that_an_engine_reads(folder, patients):
    expected = strip_metadata(sf.anonymize(patients, SCHEMA, MODELS).published)
    files = [folder / "patients", str(folder / "patients" / "*.parquet"), folder / "patients" / "0.parquet"]
    for at, data in enumerate([*files[:2], ds.dataset(patients), patients.to_reader(), patients]):
        release = sf.anonymize(data, SCHEMA, MODELS, engine="duckdb", memory="100MB", out=folder / f"release-{at}")
        assert rows(release).equals(expected)


def test_a_small_table_is_released_in_memory_and_written_if_asked(folder):
    release = sf.anonymize(folder / "patients", SCHEMA, MODELS, out=folder / "release")
    assert isinstance(release, sf.Release)
    assert (folder / "release" / "public" / "table.parquet").exists()


def test_partitions_are_columns(folder, patients):
    ds.write_dataset(
        patients,
        folder / "parts",
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("sex", pa.string())]), flavor="hive"),
    )
    release = sf.anonymize(folder / "parts", SCHEMA, MODELS, engine="duckdb", memory="100MB", out=folder / "release")
    assert set(rows(release).column_names) == {"age", "sex", "zip", "disease", "job"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    {
        "masking": ({"masking": [sf.masking.TopCode(column="age", at=80)]}, "Masking steps are not carried out"),
        "algorithm": ({"algorithm": sf.algorithms.MDAV()}, r"Mdav works on single rows.* give block_rows=,"),
        "buckets": (
            {"algorithm": sf.algorithms.Anatomy()},
            "Anatomy works on single rows, beyond memory only in blocks",
        ),
        "needless blocks": ({"block_rows": 20}, "Mondrian counts equal records and needs no blocks"),
        "large blocks": (
            {"algorithm": sf.algorithms.MDAV(), "block_rows": 500_000},
            r"Blocks of 500,000 rows may not fit into the 0.1 GB .* to 16,666 or less",
        ),
        "relaxed": ({"algorithm": sf.algorithms.Mondrian(strict=False)}, "use strict=True"),
        "nowhere": ({"out": None}, "give a folder with out="),
        "size": ({"memory": "much"}, "at least 50MB"),
        "engine": ({"engine": "abacus"}, "one of auto, memory, duckdb, spark"),
        "spark": ({"engine": "spark"}, "needs a Spark DataFrame"),
    }.values(),
)
def test_what_is_not_served_is_refused_before_anything_is_read(folder, monkeypatch, more, sentence):
    monkeypatch.setattr(DuckDBSource, "profile", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(SfumatoError, match=sentence):
        released(folder, **more)
    assert [path.name for path in folder.iterdir()] == ["patients"]


def test_too_many_combinations_are_refused(folder, monkeypatch):
    monkeypatch.setattr(_run, "BYTES_PER_COMBINATION", 10**7)
    with pytest.raises(InfeasibleError, match="more than 5, too many for memory"):
        released(folder, algorithm=sf.algorithms.TopDownSpecialization())


def test_temporary_data_stay_out_of_the_release_and_of_sight(folder, monkeypatch):
    (folder / "release").mkdir()
    with pytest.raises(WriteError, match="inside the release"):
        released(folder, temporary=folder / "release", replace=True)
    with pytest.raises(WriteError, match="does not exist"):
        released(folder, temporary=folder / "nowhere")
    (folder / "fast").mkdir()
    seen = []
    profile = DuckDBSource.profile

    def spied(source: DuckDBSource, *given: object) -> object:
        seen.extend((path, stat.S_IMODE(path.stat().st_mode)) for path in (folder / "fast").iterdir())
        return profile(source, *given)

    monkeypatch.setattr(DuckDBSource, "profile", spied)
    released(folder, temporary=folder / "fast")
    assert {mode for _, mode in seen} == {0o700}
    assert not list((folder / "fast").iterdir())


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_is_left_behind_when_a_stage_fails(folder, monkeypatch, stage):
    def failing(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*STAGES[stage], failing)
    with pytest.raises((SfumatoError, OSError)):
        released(folder)
    assert [path.name for path in folder.iterdir()] == ["patients"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["writing", "telling"])
def test_nothing_is_at_the_target_after_a_kill_and_the_next_run_cleans_up(folder, stage):
    root = Path(__file__).resolve().parents[3]
    given = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-c", KILLED, stage]
    run = subprocess.run(command, cwd=folder, env=given, check=False)  # noqa: S603 - our own
    assert run.returncode == -signal.SIGKILL
    assert not (folder / "release").exists()
    released(folder)
    assert {path.name for path in folder.iterdir()} == {"patients", "release"}


def test_a_release_that_is_not_true_is_withheld(folder, monkeypatch):
    monkeypatch.setattr(DuckDBSource, "digest_written", lambda *_: "another")
    with pytest.raises(GuaranteeViolatedError, match="withheld"):
        released(folder)
    assert [path.name for path in folder.iterdir()] == ["patients"]


def test_an_older_release_is_replaced_only_if_asked(folder):
    released(folder)
    with pytest.raises(WriteError, match="already contains files"):
        released(folder)
    released(folder, replace=True)


def test_unknown_options_are_refused(patients):
    with pytest.raises(TypeError, match="engin"):
        sf.anonymize(patients, SCHEMA, MODELS, engin="duckdb")  # type: ignore[call-overload]  # that is the point
    with pytest.raises(InvalidParameterError, match="one of auto"):
        sf.anonymize(patients, SCHEMA, MODELS, engine="duck")  # type: ignore[call-overload]  # likewise


@pytest.mark.parametrize(
    ("columns", "sentence"),
    {
        "types": ([{"age": [30, 31]}, {"age": [30.5, 31.5]}], "other types of them"),
        "columns": ([{"age": [30, 31]}, {"years": [30, 31]}], "other columns"),
        "case": ([{"age": [30, 31], "Age": [1, 2]}], "differ only"),
        "reserved": ([{"age": [30, 31], "_records": [1, 1]}], "rename it"),
    }.values(),
)
def test_files_that_an_engine_would_read_otherwise_are_refused(tmp_path, columns, sentence):
    (tmp_path / "files").mkdir()
    for at, each in enumerate(columns):
        pq.write_table(pa.table(each), tmp_path / "files" / f"{at}.parquet")
    schema = sf.Schema(quasi_identifiers=list(columns[0]))
    with pytest.raises(SfumatoError, match=sentence):
        sf.anonymize(tmp_path / "files", schema, MODELS, engine="duckdb", memory="100MB", out=tmp_path / "release")
    assert not (tmp_path / "release").exists()
