"""CSV files in and out."""

from __future__ import annotations

import datetime as dt
import gzip

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError, ReadError, SchemaError, WriteError
from sfumato.io import _text_file
from sfumato.io._csv import read_csv, write_csv
from sfumato.io._dataframes import get_time_zones, to_canonical
from sfumato.io.formats import FileFindings


@pytest.fixture
def csv_file(tmp_path):
    def make(data: bytes | str, name: str = "x.csv"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return make


def test_adult_as_uci_writes_it(csv_file):
    path = csv_file("age, workclass, zip\n39, State-gov, 02139\n50, ?, 10115 \n")
    table = read_csv(path)
    assert table.to_pydict() == {
        "age": [39, 50],
        "workclass": ["State-gov", None],
        "zip": ["02139", "10115"],
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a,b\n1,2\n", {"a": [1], "b": [2]}),
        ("a;b\r\n1;2\r\n", {"a": [1], "b": [2]}),
        ("a\tb\r1\t2\r", {"a": [1], "b": [2]}),
        ("a|b\n1|2", {"a": [1], "b": [2]}),
        ("a\n1\n2\n", {"a": [1, 2]}),
        ("\n\na,b\n\n1,2\n   \n", {"a": [1], "b": [2]}),
        ('"a\nb",c\n"x\ny",2\n', {"a\nb": ["x\ny"], "c": [2]}),
        ('a,b\n1,"say ""hi"", ok"\n', {"a": [1], "b": ['say "hi", ok']}),
        ('a,b\n1,5" pipe\n2 , 6" pipe\n', {"a": [1, 2], "b": ['5" pipe', '6" pipe']}),
        ('a,b\n"1"," x "\n"","NA"\n,NA\n', {"a": [1, None, None], "b": [" x ", "NA", None]}),
        ("a,b,\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),
        ("a,b\n", {"a": [], "b": []}),
        ("a,b", {"a": [], "b": []}),
        ("a,b\n1,x\n1e3,y\n", {"a": [1, 1000], "b": ["x", "y"]}),
    ],
)
def test_what_can_be_read_is_read(csv_file, data, expected):
    assert read_csv(csv_file(data)).to_pydict() == expected


def test_a_packed_file_is_unpacked(csv_file):
    assert read_csv(csv_file(gzip.compress(b"a,b\n1,2\n"), "x.csv.gz")).to_pydict() == {"a": [1], "b": [2]}


def test_an_encoding_and_a_separator_can_be_given(csv_file):
    path = csv_file("miasto:n\nŁódź:1\n".encode("cp1250"))
    table = read_csv(path, separator=":", encoding="cp1250", missing=("-",))
    assert table.to_pydict() == {"miasto": ["Łódź"], "n": [1]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is empty; it needs a header line"),
        (" \n\n", "is empty; it needs a header line"),
        ("a,b\n1,2\n3\n", r"The header of .*x\.csv has 2 cells but line 3 has 1; check that line"),
        ('a,b\n"x\ny",2\n3,4,5\n', "line 4 has 3"),
        ('a,b\n1,"open\n2,y\n', "Line 2 of .* has a quotation mark"),
        ('a,b\n1,"x"y\n', "Line 2 of .* has a quotation mark"),
        (",a,\n0,1,2\n", "Column 1 of .* has no name"),
        ("a,\n0,1\n", "Column 2 of .* has no name"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(csv_file, data, message):
    with pytest.raises(ReadError, match=message):
        read_csv(csv_file(data))


TITLED = "Patients of 2024\n\nname;zip;age\nEve;02139;39\nBob;02140;40\n"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_title_above_the_header_is_found(csv_file, separator):
    path = csv_file(TITLED.replace(";", separator))
    with pytest.raises(
        ReadError,
        match=r"would have one column, but its lines .*; pass skip_rows=2 if the first 2 lines",
    ):
        read_csv(path)
    expected = {"name": ["Eve", "Bob"], "zip": ["02139", "02140"], "age": [39, 40]}
    assert read_csv(path, skip_rows=1).to_pydict() == expected
    assert read_csv(path, skip_rows=2).to_pydict() == expected


def test_a_title_with_separators_is_found(csv_file):
    titled = csv_file("Patients, 2024\nname,zip,age\nEve,02139,39\nBob,02140,40\n")
    with pytest.raises(ReadError, match=r"has 2 cells but line 2 has 3; .*, or pass skip_rows=1 if the first"):
        read_csv(titled)


def test_lines_are_counted_from_the_top_of_the_file(csv_file):
    with pytest.raises(ReadError, match="line 4 has 1"):
        read_csv(csv_file("title\na,b\n1,2\n3\n"), skip_rows=1)
    with pytest.raises(ReadError, match=r"Line 3 of .* has a quotation mark"):
        read_csv(csv_file('title\na,b\n1,"x"y\n'), skip_rows=1)
    for rows in (2, 3):
        with pytest.raises(ReadError, match=f"is empty after its first {rows} lines"):
            read_csv(csv_file("title\na,b\n"), skip_rows=rows)


def test_a_single_column_may_hold_separators_where_they_are_quoted_few_or_another_is_given(csv_file):
    assert read_csv(csv_file('name\n"Doe, Ann"\n"Roe, Ben"\n')).num_columns == 1
    assert read_csv(csv_file("note\nfine; thanks\nwell\nold\n")).num_columns == 1
    assert read_csv(csv_file("name\nDoe, Ann\nRoe, Ben\n"), separator=";").num_columns == 1


def test_what_was_written_as_one_column_is_read_as_one(tmp_path):
    for separator in (",", ";", "\t", "|"):
        table = pa.table({"x": [f"a{separator}b", f"c{separator}d"]})
        write_csv(table, tmp_path / "x.csv")
        assert read_csv(tmp_path / "x.csv").equals(table)


def test_duplicate_names_are_told_apart(csv_file):
    assert read_csv(csv_file("a,b,a\n1,2,3\n")).to_pylist() == [{"a": 1, "b": 2, "a_2": 3}]


def test_infinities_are_refused_with_their_number(csv_file):
    with pytest.raises(SchemaError, match=r"'x' contains infinite values \(rows: 2\); replace or clear them."):
        read_csv(csv_file("x\n1\ninf\n-inf\n"))


def test_a_wrong_separator_is_noticed(csv_file):
    path = csv_file("a;b\n1;2\n")
    with pytest.raises(ReadError, match="has one column when separated by ',' but seems to be separated by ';'"):
        read_csv(path, separator=",")
    with pytest.raises(ReadError, match="seems to be separated by a tab"):
        read_csv(csv_file("a\tb\n1\t2\n"), separator=";")
    assert read_csv(csv_file("a\n1\n"), separator=";").to_pydict() == {"a": [1]}


@pytest.mark.parametrize("separator", ["", "::", '"', "\n", "é"])
def test_an_impossible_separator_is_refused(csv_file, separator):
    with pytest.raises(InvalidParameterError, match=r"read\.separator must be one ASCII character"):
        read_csv(csv_file("a,b\n1,2\n"), separator=separator)


def test_many_blocks_are_read_as_one(csv_file, monkeypatch):
    monkeypatch.setattr("sfumato.io._text_file.BLOCK", 64)
    rows = [(number, f"two\nlines {number % 7}", f"0{number}") for number in range(500)]
    path = csv_file("n,name,code\n" + "".join(f'{n},"{name}",{code}\n' for n, name, code in rows))
    table = read_csv(path)
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows


def written(tmp_path, table: pa.Table, **options: bool) -> str:
    path = tmp_path / "out.csv"
    write_csv(table, path, **options)
    return path.read_bytes().decode()


def test_few_quotes_are_written(tmp_path):
    table = pa.table(
        {
            "text": ["plain", "a;b", "a,b", 'say "hi"', "two\nlines", " padded", "NA", "", None],
            "n": [1, 2, None, 4, 5, 6, 7, 8, 9],
            "x": [0.5, 1e-05, 1.0, None, 1e300, 2.0, 3.0, 4.0, 5.0],
            "b": [True, False, None, True, True, True, True, True, True],
        }
    )
    assert written(tmp_path, table) == (
        "text,n,x,b\n"
        "plain,1,0.5,true\n"
        "a;b,2,1e-05,false\n"
        '"a,b",,1,\n'
        '"say ""hi""",4,,true\n'
        '"two\nlines",5,1e+300,true\n'
        '" padded",6,2,true\n'
        '"NA",7,3,true\n'
        '"",8,4,true\n'
        ",9,5,true\n"
    )


def test_names_are_quoted_where_they_hold_any_separator(tmp_path):
    assert written(tmp_path, pa.table({"a;b": [1], "c,d": [2]})) == '"a;b","c,d"\n1,2\n'


def test_a_missing_value_alone_on_its_line_is_no_empty_line(tmp_path):
    assert written(tmp_path, pa.table({"a": ["x", None]})) == 'a\nx\n""\n'
    assert read_csv(tmp_path / "out.csv").to_pydict() == {"a": ["x", None]}


def test_cells_that_a_spreadsheet_would_execute_are_disarmed_when_asked(tmp_path):
    table = pa.table({"=name": ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=b", "=a,b", None], "n": [-1] * 9})
    assert written(tmp_path, table, excel_safe=True) == (
        "'=name,n\n'=1+1,-1\n'+1,-1\n'-1,-1\n'@x,-1\n'\tx,-1\n\"'\rx\",-1\na=b,-1\n\"'=a,b\",-1\n,-1\n"
    )
    assert written(tmp_path, table).startswith("=name,n\n=1+1,-1\n+1,-1\n")


def test_equal_tables_give_equal_bytes(tmp_path, monkeypatch):
    parts = pa.table({"a": pa.chunked_array([["x"], ["y", None]]), "b": pa.chunked_array([[1, 2], [3]])})
    whole = parts.combine_chunks()
    assert written(tmp_path, parts) == written(tmp_path, whole)
    monkeypatch.setattr("sfumato.io._csv.ROWS_AT_ONCE", 2)
    assert written(tmp_path, parts) == "a,b\nx,1\ny,2\n,3\n"
    packed = [tmp_path / "one.csv.gz", tmp_path / "two.csv.gz"]
    write_csv(whole, packed[0])
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_csv(whole, packed[1])
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert gzip.decompress(packed[0].read_bytes()) == b"a,b\nx,1\ny,2\n,3\n"


def test_a_table_without_rows_has_a_header(tmp_path):
    assert written(tmp_path, pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})) == "a,b\n"


GERMAN = "Name;Größe;Geburt;Betrag\r\nEva;1,70;31.12.1990;1.234,50\r\nBob;1,8;01.02.1985;12,00\r\n"
READ = {
    "Name": ["Eva", "Bob"],
    "Größe": [1.7, 1.8],
    "Geburt": [dt.date(1990, 12, 31), dt.date(1985, 2, 1)],
    "Betrag": [1234.5, 12.0],
}


def test_a_german_file_is_read_as_it_is_meant_and_told(csv_file):
    findings = FileFindings()
    read = read_csv(csv_file(GERMAN.encode("latin-1")), findings=findings)
    assert read.to_pydict() == READ
    assert findings.options == {
        "encoding": "cp1252",
        "separator": ";",
        "decimal": ",",
        "thousands": ".",
        "date_format": "dd.mm.yyyy",
    }
    assert len(findings.remarks) == 3
    again = FileFindings()
    options = dict(findings.options)
    assert read_csv(csv_file(GERMAN.encode("latin-1")), **options, findings=again).to_pydict() == READ
    assert again.remarks == []


def test_the_first_line_may_state_the_separator_for_excel(csv_file):
    path = csv_file("sep=|\na|b;c\n1|2\n")
    assert read_csv(path).to_pydict() == {"a": [1], "b;c": [2]}
    assert read_csv(path, skip_rows=1).column_names == ["a", "b;c"]


def test_titles_above_a_header_with_as_many_separators_are_found(csv_file):
    path = csv_file("Patients;;\n;;\nname;age;city\nEve;39;Ulm\nBob;40;Ulm\nAnn;41;Ulm\n")
    with pytest.raises(ReadError, match=r"Column 2 of .* has no name; .*, or pass skip_rows=2"):
        read_csv(path)
    assert read_csv(path, skip_rows=2).num_rows == 3


def test_lines_after_the_last_record_are_left_out(csv_file):
    path = csv_file("name;age;city\nEve;39;Ulm\nBob;40;Ulm\nSum;79\n\n")
    with pytest.raises(ReadError, match=r"or pass skip_last=1 if it is no record"):
        read_csv(path)
    assert read_csv(path, skip_last=1).to_pydict() == {"name": ["Eve", "Bob"], "age": [39, 40], "city": ["Ulm"] * 2}


@pytest.mark.parametrize(
    ("data", "encoding", "sentence"),
    [
        ("stadt\nKöln\n".encode(), "cp1252", "is valid UTF-8, but is read as cp1252"),
        ("stadt\nK\ufffdln\n".encode(), None, "letters that were lost"),
        ("stadt\nKÃ¶ln\n".encode(), None, "letters that were read in a wrong encoding before"),
    ],
)
def test_an_encoding_that_lies_is_told(csv_file, data, encoding, sentence):
    findings = FileFindings()
    read_csv(csv_file(data), encoding=encoding, findings=findings)
    assert [sentence in remark for remark in findings.remarks] == [True]


def test_a_mark_that_lies_is_refused_with_the_option_that_mends_it(csv_file):
    with pytest.raises(
        ReadError, match=r"says by its first bytes that it is UTF-8, but it is not; .*encoding=, such as 'cp1252'"
    ):
        read_csv(csv_file(b"\xef\xbb\xbfstadt\nK\xf6ln\n"))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    st.lists(st.dates(min_value=dt.date(1000, 1, 1)), min_size=1, max_size=5),
    st.sampled_from(["dd.mm.yyyy", "yyyy年m月d日", "yyyy-mm-dd"]),
    st.sampled_from(["utf-8", "gb18030", "utf-16", "utf-8-sig"]),
)
def test_what_is_written_by_conventions_is_read_by_them(tmp_path_factory, numbers, days, date_format, encoding):
    rows = min(len(numbers), len(days))
    table = to_canonical(pa.table({"größe": numbers[:rows], "day": days[:rows], "text": ["a;b,c 城"] * rows}))
    path = tmp_path_factory.mktemp("x") / "x.csv"
    conventions = {"separator": ";", "decimal": ",", "date_format": date_format, "encoding": encoding}
    write_csv(table, path, **conventions)
    assert read_csv(path, **conventions, thousands="").equals(table)


def test_letters_that_an_encoding_lacks_are_refused(tmp_path):
    with pytest.raises(WriteError, match="has letters that cp1252 cannot write"):
        write_csv(pa.table({"city": ["北京"]}), tmp_path / "x.csv", encoding="cp1252")
    with pytest.raises(InvalidParameterError, match="another character than the decimal mark"):
        write_csv(pa.table({"n": [1.5]}), tmp_path / "x.csv", separator=",", decimal=",")


def test_moments_are_written_with_their_zone(tmp_path):
    moments = pa.table({"at": pa.array([0, 3_600_500_000], pa.timestamp("us", "Europe/Berlin"))})
    write_csv(moments, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "at\n1970-01-01T01:00:00+01:00\n1970-01-01T02:00:00.500000+01:00\n"
    read = read_csv(tmp_path / "x.csv")
    assert get_time_zones(read) == {"at": "UTC"}
    assert read["at"].cast(pa.int64()).to_pylist() == [0, 3_600_500_000]


FIRST = st.sampled_from(["", " ", "1", " 2", "NA ", " x y ", "  NA", "-3"])
CELLS = st.lists(st.tuples(FIRST, st.sampled_from(["a", "b ", " ", "NA", ""])), max_size=6)


@given(CELLS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", " ", "\n", "   \n", ",\n"]))
def test_spaces_around_cells_are_dropped_whether_looked_for_in_cells_or_in_the_file(tmp_path_factory, rows, ends, last):
    path = tmp_path_factory.mktemp("spaces") / "some.csv"
    path.write_bytes(("p, q" + ends + "".join(",".join(row) + ends for row in rows) + last).encode())
    found = []
    for plain in (_text_file._read_plain_columns, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_text_file, "_read_plain_columns", plain)
            try:
                found.append(read_csv(path).to_pydict())
            except ReadError as error:
                found.append(str(error))
    assert found[0] == found[1]
