"""Files that are made to fill a memory are refused with what to do."""

from __future__ import annotations

import gzip
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.io import _csv_syntax, _limits, _text_encoding
from sfumato.io._dataframes import to_canonical

WIDE = _limits.MAX_COLUMNS + 1


def test_too_many_columns_are_refused_before_they_are_read(tmp_path, monkeypatch):
    names = [f"c{place}" for place in range(WIDE)]
    (tmp_path / "x.csv").write_text(",".join(names) + "\n" + ",".join("1" * WIDE) + "\n")
    wide = pa.table([pa.array([1])] * WIDE, names=names)
    pq.write_table(wide, tmp_path / "x.parquet")
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    monkeypatch.setattr("sfumato.io._text_file.arrow_csv.read_csv", None)
    for name in ("x.csv", "x.parquet"):
        with pytest.raises(
            sf.errors.ReadError, match=rf"{name} has 16,385 columns and at most 16,384 can be read; choose"
        ):
            sf.read(tmp_path / name)
    with pytest.raises(sf.errors.SchemaError, match="The table has 16,385 columns and at most 16,384"):
        to_canonical(wide)


def test_a_packed_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "FREE_UNPACKED_BYTES", 2**20)
    path = tmp_path / "x.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a\n" + b"1\n" * 2**22)
    with pytest.raises(
        sf.errors.ReadError, match=r"is more than 100 times larger when unpacked, .*; if you trust it, unpack it"
    ):
        sf.read(path)


def test_a_bomb_is_not_unpacked_further_than_its_limit(tmp_path):
    path = tmp_path / "x.csv.gz"
    block = gzip.compress(b"0" * 2**24)
    with path.open("wb") as file:
        for _ in range(40):
            file.write(block)
    with pytest.raises(sf.errors.ReadError, match="times larger when unpacked"):
        sf.read(path)


def test_a_workbook_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "FREE_UNPACKED_BYTES", 2**20)
    sf.write(pa.table({"a": ["x"]}), tmp_path / "small.xlsx")
    with zipfile.ZipFile(tmp_path / "small.xlsx") as source, zipfile.ZipFile(tmp_path / "x.xlsx", "w") as bomb:
        for name in source.namelist():
            more = b" " * 2**24 if name.startswith("xl/worksheets") else b""
            bomb.writestr(name, source.read(name) + more, zipfile.ZIP_DEFLATED)
    assert sf.read(tmp_path / "small.xlsx").to_pydict() == {"a": ["x"]}
    with pytest.raises(sf.errors.ReadError, match=r"x\.xlsx is more than 100 times larger when unpacked"):
        sf.read(tmp_path / "x.xlsx")


def test_what_a_sheet_says_of_its_size_is_not_believed(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("a", "b"))
    book.active.append((1, None))
    book.save(tmp_path / "small.xlsx")
    with zipfile.ZipFile(tmp_path / "small.xlsx") as source, zipfile.ZipFile(tmp_path / "x.xlsx", "w") as lying:
        for name in source.namelist():
            lying.writestr(name, source.read(name).replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"'))
    assert b"XFD" in zipfile.ZipFile(tmp_path / "x.xlsx").read("xl/worksheets/sheet1.xml")
    assert sf.read(tmp_path / "x.xlsx").to_pydict() == {"a": [1], "b": [None]}


def test_a_packed_list_of_edges_has_the_same_limit(tmp_path):
    with gzip.open(tmp_path / "friends.txt.gz", "wb") as file:
        file.write(b"1 2\n" * 2**23)
    with pytest.raises(sf.errors.ReadError, match=r"friends\.txt\.gz is more than 100 times larger when unpacked"):
        sf.graphs.read(tmp_path / "friends.txt.gz")
    (tmp_path / "broken.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(sf.errors.ReadError, match="is not a complete gzip file"):
        sf.graphs.read(tmp_path / "broken.txt.gz")


@pytest.mark.parametrize("letter", ["x", "\u00e9xxx", " ", '""'])
def test_a_line_of_five_megabytes_is_looked_at_once(tmp_path, letter):
    line = (letter * 5_000_000)[:5_000_000].encode("latin-1")
    (tmp_path / "x.csv").write_bytes(b'a,b\n1,"' + line + b'"\n2,y\n')
    looked = []
    bytes_of = _text_encoding.FOREIGN

    class Counted:
        def search(self, data, start=0):
            looked.append(start)
            return bytes_of.search(data, start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text_encoding, "FOREIGN", Counted())
        assert sf.read(tmp_path / "x.csv").num_rows == 2
    assert len(looked) <= 3
    assert looked == sorted(looked)


def test_a_header_of_five_megabytes_is_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"x" * 5_000_000 + b"\n2\n")
    with pytest.raises(sf.errors.ReadError, match=r"first line of .* has a cell of more than 131,072 characters"):
        sf.read(tmp_path / "x.csv")


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_line_without_end_is_refused(tmp_path, monkeypatch, end):
    path = tmp_path / "x.csv"
    path.write_bytes(f"a,b{end}".encode() + b"1,2," * 2**22)
    with pytest.raises(
        sf.errors.ReadError, match="has a line of more than 8,388,608 bytes; end every record with a line break"
    ):
        sf.read(path)
    monkeypatch.setattr(_csv_syntax, "MAX_LINE_BYTES", 3)
    for text, found in (
        (f"abc{end}abc", False),
        (f"abc{end}abcd", True),
        (f"abcd{end}abc", True),
        ("abc" + end, False),
    ):
        assert _csv_syntax.has_overlong_line(text.encode()) == found
