"""Parts that were lost, changed or added are noticed, though what is left may keep every promise."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import ReadError
from sfumato.io._parquet_parts import check_parts_manifest, write_parts_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = tmp_path / "public" / "table"
    table.mkdir(parents=True)
    for at in range(3):
        pq.write_table(pa.table({"n": list(range(at + 1))}), table / f"part-{at}.parquet")
    write_parts_manifest(table)
    return table


def test_a_list_tells_the_rows_of_every_part_and_parts_as_they_were_written_are_accepted(folder):
    told = json.loads((folder.parent / "parts.json").read_text())
    assert [part["rows"] for part in told["parts"].values()] == [1, 2, 3]
    for given in (folder, folder.parent, str(folder / "*.parquet"), folder / "part-0.parquet"):
        check_parts_manifest(given)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "part-1.parquet").unlink(), "1 are missing and 0 were changed, and 0 other"),
        (
            lambda folder: pq.write_table(pa.table({"n": [7]}), folder / "part-0.parquet"),
            "0 are missing and 1 were changed, and 0 other",
        ),
        (
            lambda folder: pq.write_table(pa.table({"n": [7]}), folder / "part-3.parquet"),
            "0 are missing and 0 were changed, and 1 other",
        ),
    ],
)
def test_other_parts_are_refused(folder, change, told):
    change(folder)
    for given in (folder, str(folder / "*.parquet")):
        with pytest.raises(ReadError, match=told):
            check_parts_manifest(given)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "sfumato-parts-1", "folder": "table", "parts": [1]}'])
def test_a_damaged_list_is_refused(folder, text):
    (folder.parent / "parts.json").write_text(text)
    with pytest.raises(ReadError, match="damaged"):
        check_parts_manifest(folder)


def test_what_has_no_list_of_its_own_may_be_anything(folder):
    (folder / "part-1.parquet").unlink()
    folder.rename(folder.with_name("others"))
    check_parts_manifest(folder.with_name("others"))
    (folder.parent / "parts.json").unlink()
    check_parts_manifest(folder.with_name("others"))
    check_parts_manifest(pa.table({"n": [1]}))
