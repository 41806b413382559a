"""The encoding of old files is found by their letters; where two fit, that is said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from drawn_examples import examples
from sfumato.cli._application import app
from sfumato.errors import ReadWarning
from sfumato.io._encoding_detection import guess_encoding, prefer_language
from sfumato.io._text_encoding import convert_to_utf8_file, decode_file, sample_non_ascii_lines

BLOOD = (
    "id,性别,年龄,体检日期,*天门冬氨酸氨基转换酶,*丙氨酸氨基转换酶,*碱性磷酸酶,*r-谷氨酰基转换酶,*总蛋白,白蛋白,*球蛋白,白球比例,"
    "甘油三酯,总胆固醇,尿素,肌酐,尿酸,乙肝表面抗原,乙肝e抗原,白细胞计数,红细胞体积分布宽度,中性粒细胞%,血糖\n"
)
MEN = BLOOD + "".join(f"{i},男,{20 + i % 60},2017/12/10,{i / 7:.2f},{i / 3:.2f}\n" for i in range(6000))
TEXTS = {
    "blood values of men, GBK": (MEN, "gbk"),
    "numbered names, GBK": ("姓名,年龄,性别,疾病\n" + "".join(f"张{i},{20 + i},男,胃炎\n" for i in range(200)), "gbk"),
    "sex alone, GBK": ("id,sex,age\n1,男,30\n2,女,40\n3,男,50\n", "gbk"),
    "Big5": ("姓名,性別,年齡\n陳美玲,女,34\n林志明,男,35\n", "big5"),
    "Shift JIS": ("名前,年齢,病気\n田中さん,34,インフルエンザ\n鈴木,45,かぜ\n", "cp932"),
    "EUC-JP": ("名前,年齢,病気\n田中さん,34,インフルエンザ\n鈴木,45,かぜ\n", "euc_jp"),
    "Korean": ("이름,나이,질병\n김철수,34,독감\n이영희,45,감기\n", "cp949"),
    "German": ("Größe;Straße\n170;Müllerweg\n", "cp1252"),
    "French": ("prénom,ville,né\nHélène,Besançon,où\nFrançois,Nîmes,à\n", "cp1252"),
    "Polish": ("imię,miasto\nŁukasz,Łódź\nGrażyna,Gdańsk\n", "cp1250"),
    "Czech": ("jméno,město\nJiří,Plzeň\nŽofie,Děčín\nLukáš,Třebíč\n", "cp1250"),
    "Russian": ("имя,город\nИван,Москва\nПётр,Тула\n", "cp1251"),  # noqa: RUF001 - Russian
    "Greek": ("όνομα,πόλη\nΓιώργος,Αθήνα\nΜαρία,Πάτρα\n", "cp1253"),  # noqa: RUF001 - Greek
    "Turkish": ("isim,şehir\nAyşe,İstanbul\nÇağrı,Eskişehir\nGülşen,Muğla\nyaş,doğum\n", "cp1254"),  # noqa: RUF001 - Turkish
}


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")


def found_in(folder, text, encoding):
    (folder / "x.csv").write_bytes(text.encode(encoding))
    return decode_file(folder / "x.csv")


@pytest.mark.parametrize("name", TEXTS)
def test_old_files_are_read_by_their_letters(tmp_path, name):
    text, encoding = TEXTS[name]
    found = found_in(tmp_path, text, encoding)
    assert found.data.decode() == text
    (tmp_path / "place").mkdir()
    beyond = convert_to_utf8_file(tmp_path / "x.csv", None, tmp_path / "place")
    assert (beyond.encoding, beyond.remarks) == (found.encoding, found.remarks)
    assert beyond.path.read_text("utf-8") == text


@pytest.mark.parametrize("name", ["blood values of men, GBK", "German", "French", "Polish", "Russian", "Shift JIS"])
def test_nothing_is_said_where_one_encoding_is_much_likelier(tmp_path, name):
    assert found_in(tmp_path, *TEXTS[name]).remarks == ()


def test_where_two_encodings_fit_the_other_is_offered(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("id,x\n1,køn\n".encode("cp1252"))
    with pytest.warns(
        ReadWarning, match="is read as cp1252, and its letters fit cp1250, too; .*pass encoding='cp1250'"
    ):
        assert sf.read(path)["x"].to_pylist() == ["køn"]
    told = CliRunner().invoke(app, ["inspect", str(path)])
    assert "pass --encoding cp1250, and otherwise confirm it with --encoding cp1252" in told.stderr
    assert found_in(tmp_path, "id,x\n1,køn\n", "cp1252").remarks
    assert decode_file(path, "cp1252").remarks == ()


def test_the_language_of_the_page_or_the_system_decides_between_two(tmp_path, monkeypatch):
    text = "id,x\n1,어린이\n"
    assert found_in(tmp_path, text, "cp949").encoding == "gb18030"
    with prefer_language("ko"):
        assert found_in(tmp_path, text, "cp949").data.decode() == text
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert found_in(tmp_path, text, "cp949").encoding == "cp949"


def test_few_letters_that_are_valid_utf_8_and_chinese_are_told(tmp_path):
    found = found_in(tmp_path, "sex,n\n女,1\n女,2\n", "gbk")
    assert (found.encoding, "its letters fit gb18030, too" in found.remarks[0]) == ("utf-8", True)
    with prefer_language("zh"):
        found = found_in(tmp_path, "sex,n\n女,1\n女,2\n", "gbk")
    assert (found.encoding, found.data.decode()) == ("gb18030", "sex,n\n女,1\n女,2\n")
    assert found_in(tmp_path, "sex,n\n女,1\n", "utf-8").remarks == ()


def test_only_encodings_that_decode_the_whole_file_are_guessed():
    assert (
        guess_encoding(sample_non_ascii_lines("x\nMüller\n".encode("cp1252")), lambda name: name == "cp1251").encoding
        == "cp1251"
    )
    assert guess_encoding(b"\x81 \x98 \xff \xff", lambda _: True) is None


@examples(100)
@given(st.text("ab\r\né", max_size=40).map(lambda text: text.encode("cp1252")))
def test_lines_with_foreign_letters_are_those_that_hold_one(data):
    assert sample_non_ascii_lines(data) == b"\n".join(line for line in re.split(rb"[\r\n]", data) if not line.isascii())
