"""The suffix or scheme decides how a table is written, completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.core import _atomic_writes
from sfumato.errors import InvalidParameterError, WriteError
from sfumato.io._writing import write

TABLE = pa.table({"zip": ["=02139", None], "age": [39, 52]})
FILES = ["x.csv", "x.csv.gz", "x.tsv", "x.parquet", "x.xlsx"]
FULL = Path("/dev/full")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_is_disarmed_when_asked(tmp_path):
    write(TABLE, tmp_path / "x.tsv", excel_safe=True)
    assert (tmp_path / "x.tsv").read_text() == "zip\tage\n'=02139\t39\n\t52\n"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "full")])
def test_a_failure_half_way_leaves_the_old_file(tmp_path, monkeypatch, name, failure):
    target = tmp_path / name
    target.write_text("old")

    def half(_table, path, **_options):
        path.write_bytes(b"half")
        raise failure

    for writer in ("_csv.write_csv", "_parquet.write_parquet", "_excel.write_excel"):
        monkeypatch.setattr(f"sfumato.io.{writer}", half)
    with pytest.raises(WriteError if isinstance(failure, OSError) else KeyboardInterrupt):
        write(TABLE, target)
    assert target.read_text() == "old"
    assert names(tmp_path) == [name]


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("name", FILES)
def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(tmp_path, monkeypatch, name):
    target = tmp_path / name
    target.write_text("old")
    workplace = _atomic_writes.open_workspace

    @contextmanager
    def full(parent: Path) -> Iterator[Path]:
        with workplace(parent) as place:
            (place / f"new{''.join(target.suffixes)}").symlink_to(FULL)
            yield place

    monkeypatch.setattr(_atomic_writes, "open_workspace", full)
    with pytest.raises(WriteError, match=rf"{name} cannot be written: No space left on device\."):
        write(TABLE, target)
    assert target.read_text() == "old"
    assert names(tmp_path) == [name]


def test_bad_targets_are_refused(tmp_path):
    with pytest.raises(WriteError, match="has no known suffix; known are"):
        write(TABLE, tmp_path / "x.doc")
    with pytest.raises(WriteError, match="does not exist; create it first"):
        write(TABLE, tmp_path / "none" / "x.csv")
    with pytest.raises(InvalidParameterError, match=r"write\.table_name must be left out unless"):
        write(TABLE, tmp_path / "x.csv", table_name="p")
    with pytest.raises(InvalidParameterError, match=r"write\.table_name must be given for a database"):
        write(TABLE, f"sqlite:///{tmp_path}/x.db")
    with pytest.raises(WriteError, match="is not a known kind of database; known are sqlite, duckdb, postgresql"):
        write(TABLE, "oracle://ann:pw@host/db", table_name="p")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("target", "options", "sentence"),
    [
        (
            "x.parquet",
            {"excel_safe": True},
            r"write\.excel_safe must be left out unless the target is a text file or a work",
        ),
        ("sqlite:///x.db", {"table_name": "p", "excel_safe": True}, r"write\.excel_safe must be left out unless"),
        ("x.csv", {"if_exists": "fail"}, r"write\.if_exists must be left out unless the target is a database"),
    ],
)
def test_what_a_format_does_not_do_is_refused_instead_of_forgotten(tmp_path, monkeypatch, target, options, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError, match=sentence):
        write(TABLE, target, **options)
    assert names(tmp_path) == []


def test_a_workbook_is_safe_and_says_so(tmp_path):
    write(TABLE, tmp_path / "x.xlsx", excel_safe=True)
    write(TABLE, tmp_path / "y.xlsx")
    assert (tmp_path / "x.xlsx").read_bytes() == (tmp_path / "y.xlsx").read_bytes()
