"""Separators, quotation marks and spaces of CSV files."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.io import _csv_syntax
from sfumato.io._csv_syntax import (
    count_title_lines,
    detect_separator,
    find_stray_quote,
    find_uneven_line,
    split_first_record,
    trim_cells,
)


@pytest.mark.parametrize(
    ("data", "separator"),
    [
        (b"a,b\n1,2\n", ","),
        (b"a;b\n1,5;2,5\n", ";"),
        (b"a\tb\n1, 2\t3\n", "\t"),
        (b"a|b|c\n1,5|2|3\n", "|"),
        (b'a,"b;c;d;e"\n1,"2;3;4;5"\n', ","),
        (b'name;note\nAnn;"x, y"\nBob;"z"\n', ";"),
        (b"a\n1\n2\n", ","),
        (b"income, yearly\n1\n2\n", ";"),
        (b"a;b\n1;2\n3\n4;5\n", ";"),
        (b"a;b", ";"),
        (b"", ","),
        (b"a;b\n" + b"1;2\n" * 50_000, ";"),
    ],
)
def test_the_separator_is_the_one_that_agrees_with_the_header(data, separator):
    assert detect_separator(data) == separator


@pytest.mark.parametrize(
    ("data", "header", "rest"),
    [
        (b"a,b\n1,2\n", b"a,b", b"1,2\n"),
        (b"\r\n\r\na,b\r\n1,2", b"a,b", b"1,2"),
        (b'"a\nb",c\n1,2\n', b'"a\nb",c', b"1,2\n"),
        (b'5" pipe,c\n1," \n', b'5" pipe,c', b'1," \n'),
        (b"a", b"a", b""),
    ],
)
def test_the_header_ends_outside_quotes(data, header, rest):
    found, start = split_first_record(data, ",")
    assert (found, data[start:]) == (header, rest)


@pytest.mark.parametrize(
    ("data", "clean", "sound"),
    [
        (b"a,b\n1,2\n", b"a,b\n1,2\n", True),
        (b" a , b\n 1,  2  \n", b"a,b\n1,2\n", True),
        (b'a, "x, y" ,c\n', b'a,"x, y",c\n', True),
        (b'" a ",b\n', b'" a ",b\n', True),
        (b'"say ""hi"" , ok", b\n', b'"say ""hi"" , ok",b\n', True),
        (b"new york,b c\n", b"new york,b c\n", True),
        (b'a,5" pipe , c\n', b'a,5" pipe,c\n', False),
        (b'5" , " x, 6 " \n', b'5"," x, 6 "\n', False),
        (b'a,"open \n', b'a,"open \n', False),
        (b'a,"x"y\n', b'a,"x"y\n', False),
        (b"a,b \r\n1 ,2 ", b"a,b\r\n1,2", True),
    ],
)
def test_spaces_go_outside_quotes_only(data, clean, sound):
    assert trim_cells(data, ",") == (clean, sound)


@given(
    st.lists(st.lists(st.text(' ab,"\n', max_size=6), min_size=3, max_size=3), min_size=1, max_size=8),
    st.integers(1, 20),
)
@examples(100)
def test_trimming_in_blocks_keeps_every_quoted_cell(rows, block):
    padded = "".join(" , ".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) + " \n" for row in rows)
    before, _csv_syntax.BLOCK = _csv_syntax.BLOCK, block
    try:
        clean, sound = trim_cells(padded.encode(), ",")
    finally:
        _csv_syntax.BLOCK = before
    assert sound
    assert list(csv.reader(io.StringIO(clean.decode(), newline=""), strict=True)) == rows


def test_uneven_lines_are_found_by_their_number():
    assert find_uneven_line(b'a,b\n"x\ny",2\n\n3,4,5\n', ",", 2) == (5, 3)
    assert find_uneven_line(b'a,b\n\n"x\ny"\n3,4\n', ",", 2) == (3, 1)
    assert find_uneven_line(b"a,b\n1,2\n", ",", 2) is None


def test_stray_quotes_are_found_by_their_line():
    assert find_stray_quote(b'a,b\n1,2\n3,"open\n4,5\n', ",") == 3
    assert find_stray_quote(b'a,b\n1,"x"y\n', ",") == 2
    assert find_stray_quote(b'a,b\n1,5" pipe\n', ",") is None


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        ("Patients\nname;age;city\nEve;39;Ulm\nBob;40;Ulm\nAnn;41;Ulm", 1),
        ("Patients;;\n;;\nname;age;city\nEve;39;Ulm\nBob;40;Ulm\nAnn;41;Ulm", 2),
        ("name;age;city\nEve;39;Ulm\nBob;40;Ulm\nAnn;41;Ulm", 0),
        ("name;age;city\nEve;39;Ulm;\nBob;40;Ulm;\nAnn;41;Ulm;", 0),
        ("name\nEve;39\nBob;40\nAnn;41", 0),
        ("", 0),
    ],
)
def test_titles_are_counted_and_a_record_is_never_taken_for_the_header(lines, titles):
    assert count_title_lines(lines.encode()) == titles
