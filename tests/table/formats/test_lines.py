"""Text files read line by line: a hostile line changes its own row and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ReadError
from sfumato.io._csv import detect_text_layout, read_lines
from sfumato.io._reading import read

ROWS = [b"30,F,2020-01-01", b'1.0, "a, b" ,x', b"NA,M,", b"-2e3,1,2021-05-05"]
hostile = st.one_of(
    st.sampled_from(
        [b'"', b'a,"', b'"a,b', b",,,,,,", b"x;y;z;w", b"\xff\xfe", b"\x81", b"true,x,unknown", b"1e999,,"]
    ),
    st.binary(min_size=1, max_size=12).filter(lambda line: line.decode("utf-8", "replace").strip()),
    st.text(min_size=1, max_size=12).filter(str.strip).map(str.encode),
).filter(lambda line: len(line.splitlines()) == 1 and line == line.strip(b"\r\n"))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "gb18030", "cp932"])
@given(place=st.integers(0, len(ROWS) - 1), line=hostile)
def test_one_line_changes_its_own_row_only(tmp_path_factory, encoding, place, line):
    path = tmp_path_factory.mktemp("lines") / "people.csv"

    def rows(lines):
        path.write_bytes(b"age,sex,day\n" + b"\n".join(lines) + b"\n")
        return read(path, as_text=True, separator=",", encoding=encoding).to_pylist()

    before = rows(ROWS)
    after = rows([*ROWS[:place], line, *ROWS[place + 1 :]])
    if not line.decode(encoding, "replace").strip():
        assert after == before[:place] + before[place + 1 :]
    else:
        assert [row for at, row in enumerate(after) if at != place] == before[:place] + before[place + 1 :]


def test_cells_are_read_as_they_stand(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"\xef\xbb\xbfage,sex,\n" + b"\n".join(ROWS) + b'\n"NA","say ""hi""",\n\n1,2\n')
    separator, encoding = detect_text_layout(path)
    assert (separator, encoding) == (",", "utf-8")
    assert read_lines(path, separator=separator, encoding=encoding).to_pylist() == [
        {"age": "30", "sex": "F"},
        {"age": "1.0", "sex": "a, b"},
        {"age": None, "sex": "M"},
        {"age": "-2e3", "sex": "1"},
        {"age": "NA", "sex": 'say "hi"'},
        {"age": None, "sex": None},
    ]


def test_rows_of_several_lines_and_encodings_without_lines_are_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('age,note\n30,"two\nlines"\n')
    with pytest.raises(ReadError, match=r"Line 2 .* not closed on its line"):
        detect_text_layout(path)
    path.write_text("age,note\n30,x\n", encoding="utf-16")
    with pytest.raises(ReadError, match="save it as UTF-8"):
        detect_text_layout(path)
