"""A text file that is read in batches becomes the table that is read at once."""

from __future__ import annotations

import gzip
import tempfile
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import ReadError, ReadWarning, SfumatoError
from sfumato.io._csv_batches import CSVConverter
from sfumato.io._dataframes import to_canonical

CELLS = [
    st.sampled_from(["1", "2", "-3", "", "NA"]),
    st.sampled_from(["1", "2.5", "3.0", "1e3", "?", '"7"']),
    st.sampled_from(["1.0", "2.0", "inf", "-inf"]),
    st.sampled_from(["9007199254740993", "9223372036854775807", "0"]),
    st.sampled_from(["2020-01-31", "2021-02-28", ""]),
    st.sampled_from(["2020-01-31", "2021-02-28 13:05", "2021-02-28T13:05:07.25"]),
    st.sampled_from(["2020-01-31T10:00Z", "2020-01-31 10:00:00+01:00"]),
    st.sampled_from(["31.01.2020", "28.02.2021", "01.02.2021"]),
    st.sampled_from(["true", "FALSE", "null"]),
    st.sampled_from(
        ["1,5".replace(",", "."), "x", " padded ", '"quoted, with comma"', '"two\nlines"', '"a ""b"""', '""', "é"]
    ),
    st.sampled_from(["02139", "53715", '"NA"']),
    st.just(""),
]


@st.composite
def text_files(draw: st.DrawFn) -> bytes:
    """Draw a text file of columns whose first rows may look like another type than all of them have."""
    kinds = draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*kinds), max_size=25))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    header = draw(
        st.sampled_from(
            [",".join(f"c{at}" for at in range(len(kinds))), ",".join(f'"c{at}"' for at in range(len(kinds)))]
        )
    )
    lines = [header, *(",".join(row) for row in rows)]
    blank = draw(st.sampled_from(["", end, "  " + end]))
    return (end.join(lines) + draw(st.sampled_from(["", end])) + blank).encode(
        draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    )


def in_batches(path: Path, batch: int, most: int = 10**9, **options: object) -> pa.Table:
    with tempfile.TemporaryDirectory() as place:
        found = CSVConverter(path=path, place=Path(place), options=options, most=most, batch=batch).write()
        assert [each.name for each in Path(place).glob("*.parquet")] == ["table.parquet"]
        return to_canonical(pq.read_table(found))


def tried(path: Path, batch: int, options: dict[str, int]) -> tuple[str, pa.Table]:
    try:
        return "", in_batches(path, batch, **options)
    except ReadError as error:
        return str(error), None


def at_once(path: Path, **options: object) -> pa.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        return sf.read(path, **options)


@examples(150)
@given(
    text_files(), st.sampled_from([1, 7, 20, 64, 1000]), st.sampled_from([0, 0, 1, 2]), st.sampled_from([0, 0, 1, 3])
)
def test_batches_make_the_table_that_is_read_at_once(content, batch, skip_rows, skip_last):
    options = {name: value for name, value in (("skip_rows", skip_rows), ("skip_last", skip_last)) if value}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        try:
            expected = at_once(path, **options)
        except SfumatoError:
            with pytest.raises(SfumatoError):
                in_batches(path, batch, **options)
            return
        refused, found = tried(path, batch, options)
        if refused:  # skipped lines may leave half a quoted cell, or no header
            assert options
            assert "quotation mark" in refused or not expected.num_columns
        else:
            assert found.equals(expected, check_metadata=True) or not expected.num_columns


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1.5,x\ninf,y\n-inf,z\n",
        "a,b\n1,2020-01-01\n2,2020-01-01 10:00\n3.5,2020-01-02\n",
        'a,b\n1,"two\nlines"\n2,"and\nthree\nlines"\n3,x\n',
        "a,b\ntrue,1\nFALSE,2\nmaybe,3\n",
        "a\n9223372036854775807\n1\n",
    ],
)
def test_every_batch_is_read_by_the_type_of_the_whole_column(content, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    expected = None if "inf" in content else at_once(tmp_path / "t.csv")
    for batch in range(1, len(content)):
        with tempfile.TemporaryDirectory() as place:
            found = CSVConverter(
                path=tmp_path / "t.csv", place=Path(place), options={}, most=10**6, batch=batch
            ).write()
            if expected is None:  # what is infinite is refused only when it is published
                assert pq.read_table(found)["a"].to_pylist() == [1.5, float("inf"), float("-inf")]
            else:
                assert to_canonical(pq.read_table(found)).equals(expected)


@pytest.mark.parametrize(
    "options",
    [
        {"separator": ";", "decimal": ",", "thousands": "."},
        {"column_types": {"cost": "text"}, "separator": ";"},
        {
            "column_types": {"cost": "number", "day": "date:dd.mm.yyyy"},
            "decimal": ",",
            "thousands": ".",
            "separator": ";",
        },
        {"missing": ("-",), "separator": ";"},
        {},
    ],
)
def test_options_and_findings_are_those_of_reading_at_once(options, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "name;cost;day\nEve;1,5;31.01.2020\nBob;-;28.02.2021\nAnn;1.000,25;01.03.2021\n".replace(
            "-", "" if "column_types" in options else "-"
        )
    )
    with warnings.catch_warnings(record=True):
        expected, told = at_once(path, **options), sf.read_detecting_layout(path, options)
    batches = CSVConverter(path=path, place=tmp_path, options=options, most=10**6, batch=10)
    assert to_canonical(pq.read_table(batches.write())).equals(expected)
    assert {**options, **batches.findings.options} == dict(told.reading)
    assert tuple(batches.findings.remarks) == told.remarks


def test_packed_files_and_legacy_encodings_are_read(tmp_path):
    text = "Straße;Größe\n" + "Müllerweg;groß\n" * 50
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    (tmp_path / "b.csv").write_bytes(text.encode("cp1252"))
    for name in ("a.csv.gz", "b.csv"):
        for options in ({}, {"encoding": "cp1252"}):
            assert in_batches(tmp_path / name, 64, **options).equals(at_once(tmp_path / name, **options))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('a,b\n1,5" pipe\n2,x\n', "quotation marks"),
        ('a,b\n1,"open\n2,x\n', "quotation mark"),
        ("a,b\n1,2\n1,2,3\n", "has 2 cells"),
        ("a,\n1,2\n3,4\n", "Column 2 of"),
    ],
)
def test_what_cannot_be_read_is_refused_without_any_cell(content, says, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(SfumatoError, match=says) as told:
        in_batches(tmp_path / "t.csv", 8)
    assert "pipe" not in str(told.value)


def test_a_column_of_too_many_texts_must_be_said_to_be_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,sex\n" + "".join(f"{10**15 + at},f\n" for at in range(2000)))
    with pytest.raises(ReadError, match=r"column_types=\{'id': 'text'\}"):
        in_batches(path, 1000, most=10_000)
    found = in_batches(path, 1000, most=10_000, column_types={"id": "text"})
    assert found.equals(at_once(path, column_types={"id": "text"}))


def test_a_type_that_cells_do_not_have_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("age\n1\nold\n")
    with pytest.raises(ReadError, match="not of the type 'number'") as told:
        in_batches(tmp_path / "t.csv", 3, column_types={"age": "number"})
    assert "old" not in str(told.value)
