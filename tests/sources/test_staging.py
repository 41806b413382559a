"""Text files and tables of databases are released beyond memory as they are in memory."""

from __future__ import annotations

import errno
import gzip
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError, ReadError, WriteError
from sfumato.io import _csv_batches
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines import _opening
from sfumato.tables.engines.options import EngineSelector

SCHEMA = sf.Schema(quasi_identifiers=["age", "zip"], sensitive=["disease"])
MODELS = [sf.models.KAnonymity(k=5)]
duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def people(tmp_path):
    table = sf.datasets.generate_hospital(300, seed=3).select(["age", "zip", "disease"])
    sf.write(table, tmp_path / "people.csv")
    return table


def released(data: object, out: Path, **more: object) -> pa.Table:
    found = sf.anonymize(data, SCHEMA, MODELS, seed=1, engine="duckdb", memory="100MB", out=out, replace=True, **more)
    return pa.concat_tables([pq.read_table(path) for path in found.paths])


def test_every_source_gives_the_release_of_memory(people, tmp_path, monkeypatch):
    monkeypatch.setattr(_csv_batches, "BATCH", 500)
    expected = strip_metadata(sf.anonymize(sf.read(tmp_path / "people.csv"), SCHEMA, MODELS, seed=1).published)
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "people.csv").read_bytes()))
    url = f"duckdb:///{tmp_path}/people.duckdb"
    sf.write(people, url, table_name="people")
    out = tmp_path / "release"
    assert released(tmp_path / "people.csv", out).equals(expected)
    assert released(packed, out).equals(expected)
    assert released(url, out, reading={"table": "people"}).equals(expected)
    assert released(url, out, reading={"query": "SELECT * FROM people"}).equals(expected)
    assert released(people.to_reader(), out).equals(expected)
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        assert released(connection.table("people"), out).equals(expected)
        assert sf.anonymize(connection.table("people"), SCHEMA, MODELS, seed=1, engine="memory").published.equals(
            sf.anonymize(people, SCHEMA, MODELS, seed=1).published
        )
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "people.csv",
        "people.csv.gz",
        "people.duckdb",
        "release",
    ]


@pytest.mark.usefixtures("people")
def test_auto_goes_by_the_size_of_a_file(tmp_path):
    path, limits = tmp_path / "people.csv", EngineSelector(memory="50MB")
    assert limits.choose_engine(path) == "memory"
    with path.open("ab") as file:
        file.truncate(13 * 10**6)
    assert limits.choose_engine(path) == "duckdb"
    packed = tmp_path / "people.csv.gz"
    with packed.open("wb") as file:
        file.truncate(13 * 10**6 // 5 + 1)
    assert limits.choose_engine(packed) == "duckdb"
    (tmp_path / "a.duckdb").write_bytes(b"x" * (13 * 10**6))
    assert limits.choose_engine(f"duckdb:///{tmp_path}/a.duckdb") == "duckdb"
    assert limits.choose_engine("postgresql://nobody@nowhere/none") == "memory"
    assert limits.choose_engine(tmp_path / "missing.csv") == "memory"


@pytest.mark.usefixtures("people")
def test_what_is_staged_is_for_its_owner_alone_and_gone_afterwards(tmp_path):
    with EngineSelector(engine="duckdb", memory="100MB", temporary=tmp_path).open_source(tmp_path / "people.csv", {}):
        (place,) = [each for each in tmp_path.iterdir() if each.is_dir()]
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert [each.name for each in (place / "staged").iterdir()] == ["table.parquet"]
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.usefixtures("people")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_opening.CSVConverter, "write", full)
    with pytest.raises(WriteError, match="temporary folder is full"):
        released(tmp_path / "people.csv", tmp_path / "release")
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


def test_types_are_not_changed_where_that_is_not_served(people, tmp_path):
    reading = {"column_types": {"age": "text"}}
    sf.write(people, tmp_path / "people.parquet")
    sf.write(people, f"duckdb:///{tmp_path}/people.duckdb", table_name="people")
    for data, more in ((tmp_path / "people.parquet", {}), (f"duckdb:///{tmp_path}/people.duckdb", {"table": "people"})):
        with pytest.raises(InvalidParameterError, match="beyond memory"):
            sf.anonymize(data, SCHEMA, MODELS, engine="duckdb", out=tmp_path / "o", reading={**reading, **more})


def test_refusals_are_those_of_reading(tmp_path):
    with pytest.raises(ReadError, match="no file"):
        released(tmp_path / "nothing.csv", tmp_path / "release")
    (tmp_path / "a.csv").write_text("age\n1\n")
    with pytest.raises(InvalidParameterError, match="skip_rows"):
        released(tmp_path / "a.csv", tmp_path / "release", reading={"skip_rows": -1})
