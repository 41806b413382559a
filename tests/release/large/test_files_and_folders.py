"""Which files an engine reads, and which columns their folders name: the same as memory does."""

from __future__ import annotations

import errno
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import ReadError, SchemaError, WriteError
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines._duckdb_source import DuckDBSource

SCHEMA = sf.Schema(quasi_identifiers=["age"], insensitive=["job"])
OTHERS = pa.table({"age": [80] * 30, "job": ["none"] * 30})
PEOPLE = pa.table({"age": [20, 30, 40] * 10, "job": ["clerk", "cook"] * 15})


def both(data, out, schema=SCHEMA):
    """Return the rows that DuckDB and memory publish."""
    models = [sf.models.KAnonymity(k=2)]
    large = sf.anonymize(data, schema, models, engine="duckdb", memory="100MB", out=out)
    assert isinstance(large, sf.StoredRelease)
    return large.scan().to_table(), strip_metadata(sf.anonymize(data, schema, models, engine="memory").published)


def hive(folder, **tables):
    for place, table in tables.items():
        (folder / place).mkdir(parents=True)
        pq.write_table(table, folder / place / "0.parquet")
    return folder


@pytest.mark.parametrize("name", ["year[1]", "year?", "ye*r", "it's"])
def test_a_name_is_never_taken_for_a_pattern(tmp_path, name):
    for other in ("year1", "yearx", "year"):
        hive(tmp_path, **{other: OTHERS})
    data = hive(tmp_path, **{name: PEOPLE}) / name / "0.parquet"
    for place in (tmp_path / "year1" / "release", tmp_path / name / "release"):  # the release is read back, too
        shown, expected = both(data, place)
        assert shown.equals(expected)
        assert shown["age"].to_pylist() == sorted(PEOPLE["age"].to_pylist())


def test_a_name_that_cannot_be_told_from_a_pattern_is_refused(tmp_path):
    data = hive(tmp_path, **{"a\\b[1]": PEOPLE}) / "a\\b[1]"
    with pytest.raises(ReadError, match="rename it without backslashes"):
        both(data, tmp_path / "release")


@pytest.mark.parametrize(
    ("names", "expected"),
    {
        "texts": (("zip=01234", "zip=a%2Fb=c"), ["01234", "a/b=c"]),
        "missing": (("zip=x", "zip=__HIVE_DEFAULT_PARTITION__"), ["x", None]),
        "numbers": (("zip=-5", "zip=70"), [-5, 70]),
        "mixed": (("zip=5", "zip=05"), ["5", "05"]),
        "days": (("zip=2024-02-29", "zip=2025-03-01"), [date(2024, 2, 29), date(2025, 3, 1)]),
        "no days": (("zip=2024-02-30", "zip=2025-03-01"), ["2024-02-30", "2025-03-01"]),
    }.values(),
)
def test_folders_name_the_same_columns_in_every_engine(tmp_path, names, expected):
    above = tmp_path / "age=99"  # what stands above the folder that users name means nothing
    data = hive(above / "people", **dict.fromkeys(names, PEOPLE))
    shown, memory = both(data, tmp_path / "release", sf.Schema(quasi_identifiers=["age", "zip"], insensitive=["job"]))
    assert shown.equals(memory)
    assert set(shown["zip"].to_pylist()) == set(expected)
    assert set(shown["age"].to_pylist()) == {20, 30, 40}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_folders_that_leave_columns_in_doubt_are_refused(tmp_path, engine):
    where = {"engine": engine, "memory": "100MB", "out": tmp_path / "release"}
    twice = hive(tmp_path / "twice", **{"age=20": PEOPLE})
    with pytest.raises(ReadError, match="'age' is in the files and in the names of their folders"):
        sf.anonymize(twice, SCHEMA, [sf.models.KAnonymity(k=2)], **where)
    unlike = hive(tmp_path / "unlike", **{"zip=1": PEOPLE, "year=1": PEOPLE})
    with pytest.raises(ReadError, match="do not all name the same columns"):
        sf.anonymize(unlike, SCHEMA, [sf.models.KAnonymity(k=2)], **where)


@pytest.mark.parametrize(
    ("place", "column", "sentence"),
    [("Age=1", "job", "'age' and 'Age' differ only in case"), ("zip=1", "File_Index", "'file_index' has a name")],
)
def test_folders_that_duckdb_would_mix_up_with_columns_are_refused(tmp_path, place, column, sentence):
    data = hive(tmp_path / "people", **{place: PEOPLE.rename_columns(["age", column])})
    with pytest.raises(SchemaError, match=sentence):
        sf.anonymize(
            data, SCHEMA, [sf.models.KAnonymity(k=2)], engine="duckdb", memory="100MB", out=tmp_path / "release"
        )


def test_texts_may_be_coded_in_some_files_and_not_in_others(tmp_path):
    plain = PEOPLE["job"]
    for at, cells in enumerate((plain, plain.dictionary_encode(), plain.cast(pa.large_string()))):
        (tmp_path / "people").mkdir(exist_ok=True)
        pq.write_table(PEOPLE.set_column(1, "job", cells), tmp_path / "people" / f"{at}.parquet")
    shown, expected = both(tmp_path / "people", tmp_path / "release")
    assert shown.equals(expected)
    assert shown.num_rows == 3 * PEOPLE.num_rows


@pytest.mark.parametrize(("out", "sentence"), [("taken", "already contains files"), ("no/release", "does not exist")])
def test_a_place_that_is_not_free_is_refused_before_any_row_is_read(tmp_path, monkeypatch, out, sentence):
    monkeypatch.setattr(DuckDBSource, "__init__", lambda *_, **__: pytest.fail("the table was opened"))
    hive(tmp_path / "taken", x=PEOPLE)
    with pytest.raises(WriteError, match=sentence):
        sf.anonymize(
            PEOPLE, SCHEMA, [sf.models.KAnonymity(k=2)], engine="duckdb", out=tmp_path / out, temporary=tmp_path
        )


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_that_nothing_can_be_written_into_is_told(tmp_path, monkeypatch, resume):
    def refused(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(WriteError, match=r"Nothing can be written into the folder .*: Read-only file system\."):
        sf.anonymize(
            PEOPLE, SCHEMA, [sf.models.KAnonymity(k=2)], engine="duckdb", out=tmp_path / "release", resume=resume
        )
