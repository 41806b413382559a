"""Text files of any encoding."""

from __future__ import annotations

import gzip

import pytest

from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io._text_encoding import read_as_utf8

CHINESE = "姓名,年龄,疾病\n张三,39,高血压\n李四,40,糖尿病\n"
WESTERN = "name,ville\nRené,Orléans\nZoë,Besançon\nMuñoz,São Paulo\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (CHINESE, "utf-32"),
        (CHINESE, "gb18030"),
        ("姓名,年龄\n张三,39\n", "gb18030"),
        (CHINESE * 2000, "gb18030"),
        (WESTERN, "cp1252"),
        ("name,price\nA,5€\nB,7€\n", "cp1252"),
        ("t\n25 °C\n30 °C\n", "cp1252"),
        ("city\nMalmö\n", "cp1252"),
        ("имя,город\nИван,Москва\nПётр,Казань\n", "cp1251"),  # noqa: RUF001 - Russian
        ("名前,年齢\n田中,39\n鈴木,20\n" * 3, "cp932"),
        ("name\nSÃ", "cp1252"),
        ("plain,ascii\n1,2\n", "ascii"),
    ],
)
def test_encodings_are_detected(tmp_path, text, encoding):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(encoding))
    assert read_as_utf8(path).decode() == text


def test_one_foreign_letter_far_behind_is_seen(tmp_path):
    text = "name,age\n" + "Ann,30\n" * 100_000 + "José,31\n"
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("cp1252"))
    assert read_as_utf8(path).decode() == text


def test_a_zero_character_does_not_make_utf_16(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,x\0y\n2,z\n")
    assert read_as_utf8(path) == b"a,b\n1,x\0y\n2,z\n"


@pytest.mark.parametrize("encoding", ["cp1250", "utf-16-le", "big5"])
def test_a_given_encoding_is_used(tmp_path, encoding):
    text = "a,b\n1,2\n" if encoding == "big5" else "miasto\nŁódź\n"
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(encoding))
    assert read_as_utf8(path, encoding).decode() == text


def test_a_mark_is_dropped_with_a_given_encoding_too(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("a\n1\n".encode("utf-8-sig"))
    assert read_as_utf8(path, "utf-8") == b"a\n1\n"


def test_wrong_encodings_are_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\n\xff\xfe\xfd\n")
    with pytest.raises(ReadError, match="is not encoded as utf-8; leave out encoding="):
        read_as_utf8(path, "utf-8")
    for name in ("no-such-encoding", "base64"):
        with pytest.raises(InvalidParameterError, match=r"read.encoding must be the name of a text encoding"):
            read_as_utf8(path, name)


def test_what_no_encoding_fits_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\n\x81 \x98 \xff \xff\n")
    with pytest.raises(ReadError, match=r"encoding of .* cannot be detected; pass encoding"):
        read_as_utf8(path)


@pytest.mark.parametrize("cut", [-10, 5])
def test_broken_gzip_files_are_refused(tmp_path, cut):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:cut])
    with pytest.raises(ReadError, match="not a complete gzip file"):
        read_as_utf8(path)


def test_what_the_system_refuses_is_said(tmp_path):
    with pytest.raises(ReadError, match="cannot be read: No such file or directory"):
        read_as_utf8(tmp_path / "none.csv")
