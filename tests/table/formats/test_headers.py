"""Files without a header: no record becomes the names of columns."""

from __future__ import annotations

import gzip
import warnings

import openpyxl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io._header_detection import seems_header
from sfumato.tables.engines.options import EngineSelector

CANARY = "Kanarien" + "vogel"
ADULT = "39, State-gov, Bachelors\n50, Private, HS-grad\n38, Private, Bachelors\n53, State-gov, HS-grad\n"
GERMAN = "A11 6 A34 1169\nA12 48  A32 5951\nA14 12 A34 2096\nA11 42 A32 7882\n"
HEART = "63.0,1.0,?\n67.0,1.0,3.0\n37.0,0.0,3.0\n"
RECORDS = {"adult.data": ADULT, "german.data": GERMAN, "heart.csv": HEART, "one.csv": "3\n1\n2\n"}
NAMED = {
    "years.csv": "country,1990,1991\nde,1,2\nfr,3,4\n",
    "only_years.csv": "1990,1991\n5,6\n7,8\n",
    "counted.csv": "0,1,2\n0.5,0.1,0.2\n0.7,0.1,0.2\n",
    "texts.csv": "sex,job\nf,cook\nm,nurse\nf,cook\nm,nurse\n",
    "own.csv": "flu,age\nflu,3\nno,4\n",
    "few.csv": "name\nEve\n",
    "missing.csv": "age,job\nNA,NA\n",
}


def file(folder, name, text):
    (folder / name).write_text(text, "utf-8")
    return folder / name


def run(*argv):
    return CliRunner().invoke(app, [str(each) for each in argv])


def sheet(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_first_record_is_refused_as_a_header_and_no_cell_is_shown(tmp_path, name, as_text):
    path = file(tmp_path, name, RECORDS[name])
    with pytest.raises(ReadError, match="seems to have no header, because its first line looks like a record") as error:
        sf.read(path, as_text=as_text)
    assert not any(cell in str(error.value) for cell in ("State-gov", "A34", "1169", "63.0"))
    width = len(RECORDS[name].splitlines()[1].replace(",", " ").split())
    options = (
        {"as_text": as_text, "separator": " ", "encoding": "utf-8"} if name == "german.data" else {"as_text": as_text}
    )
    table = sf.read(path, header=False, **options)
    assert table.column_names == [f"column_{number}" for number in range(1, width + 1)]
    assert table.num_rows == len(RECORDS[name].splitlines())
    names = [f"name {number}" for number in range(width)]
    assert sf.read(path, names=names, **options).column_names == names
    assert sf.read(path, names=names, header=True, **options).num_rows == table.num_rows - 1


@pytest.mark.parametrize("name", NAMED)
def test_a_header_stays_one(tmp_path, name):
    path = file(tmp_path, name, NAMED[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sf.read(path).column_names == NAMED[name].splitlines()[0].split(",")


def test_names_for_a_file_that_has_a_header_are_asked_about(tmp_path):
    path = file(tmp_path, "t.csv", "age,job\n39,cook\n40,cook\n")
    with pytest.raises(
        ReadError, match=r"first line of .* seems to be a header; pass header=True to replace its names"
    ):
        sf.read(path, names=["a", "b"])
    assert sf.read(path, names=["a", "b"], header=True).to_pylist()[0] == {"a": 39, "b": "cook"}
    assert sf.read(path, names=["a", "b"], header=False).num_rows == 3
    with pytest.raises(ReadError, match="There are 1 names for the 2 columns"):
        sf.read(path, names=["a"], header=True)
    for bad in (["a", "a"], [""], "age", [3]):
        with pytest.raises(InvalidParameterError, match=r"read\.names must be different names"):
            sf.read(path, names=bad, header=True)
    with pytest.raises(InvalidParameterError, match=r"read\.header must be True or False"):
        sf.read(path, header="no")


def test_readings_propose_that_there_is_no_header_and_recipes_remember_it(tmp_path):
    path = file(tmp_path, "adult.data", ADULT * 5)
    found = sf.read_detecting_layout(path)
    assert found.reading["header"] is False
    assert any("has no header" in remark and "confirm it with header=False" in remark for remark in found.remarks)
    assert run("inspect", path, "--out", tmp_path / "r.toml").exit_code == 0
    assert "header = false" in (tmp_path / "r.toml").read_text("utf-8")
    assert sf.Recipe.read(tmp_path / "r.toml").reading["header"] is False
    made = run("anonymize", path, "--recipe", tmp_path / "r.toml", "--k", 2, "--no-report", "--out", tmp_path / "o")
    assert made.exit_code == 0, made.stderr
    assert "column_1" in (tmp_path / "o" / "public" / "table.csv").read_text("utf-8").splitlines()[0]
    assert sf.Recipe.read(tmp_path / "o" / "internal" / "recipe.toml").reading["header"] is False


def test_the_command_line_asks_for_a_header_in_its_own_words(tmp_path):
    path = file(tmp_path, "adult.data", ADULT * 5)
    asked = ("--quasi", "age", "--insensitive", "job,school", "--k", 2, "--no-report", "--out", tmp_path / "o")
    refused = run("anonymize", path, *asked)
    assert refused.exit_code == 2
    assert "pass --no-header, and --names if you know them, or --header if it is the header" in refused.stderr
    made = run("anonymize", path, *asked, "--no-header", "--names", "age,job,school")
    assert made.exit_code == 0, made.stderr
    recipe = sf.Recipe.read(tmp_path / "o" / "internal" / "recipe.toml")
    assert (recipe.reading["names"], recipe.reading["header"]) == (("age", "job", "school"), False)
    again = run("risk", path, "--recipe", tmp_path / "o" / "internal" / "recipe.toml", "--json")
    assert again.exit_code == 0, again.stderr


def test_private_queries_are_not_set_up_on_a_record_as_header(tmp_path):
    path = file(tmp_path, "adult.data", ADULT)
    asked = ("query", "init", path, "--store", tmp_path / "s.toml", "--total", 1, "--bounds", "age=0,120")
    refused = run(*asked)
    assert (refused.exit_code, "seems to have no header" in refused.stderr) == (2, True)
    made = run(*asked, "--names", "age,job,school")
    assert made.exit_code == 0, made.stderr
    answered = run("query", "ask", tmp_path / "s.toml", "count", "--epsilon", "0.5", "--analyst", "ann")
    assert answered.exit_code == 0, answered.stderr


def test_a_sheet_without_a_header_is_refused_too(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [[39, "cook"], [40, "nurse"], [41, "cook"]])
    with pytest.raises(ReadError, match="its first row looks like a record"):
        sf.read(path)
    assert sf.read(path, names=["age", "job"]).to_pylist()[0] == {"age": 39, "job": "cook"}
    assert sf.read_detecting_layout(path).reading["header"] is False


def test_columns_of_one_name_are_told_apart_without_taking_another_name(tmp_path):
    path = file(tmp_path, "t.csv", "x,x,x_2,y,x\n1,2,3,a,4\n5,6,7,b,8\n")
    with pytest.warns(sf.errors.ReadWarning, match="Columns are named alike, and are renamed 'x_3', 'x_4'"):
        assert sf.read(path).column_names == ["x", "x_3", "x_2", "y", "x_4"]
    book = sheet(tmp_path / "t.xlsx", [["x", "x"], [1, "a"]])
    with pytest.warns(sf.errors.ReadWarning, match="A column is named like another one, and is renamed 'x_2'"):
        assert sf.read(book).column_names == ["x", "x_2"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (ADULT, {"names": ("age", "job", "school")}),
        (GERMAN, {"header": False}),
        ("a  b\n1 x\n2  x\n", {}),
        ("x,x\n1,2\n", {}),
    ],
)
def test_a_file_beyond_memory_is_read_alike(tmp_path, text, options):
    path = file(tmp_path, "t.data", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = sf.read(path, **options)
    with EngineSelector(engine="duckdb", memory="500MB").open_source(str(path), options) as source:
        assert source.names == table.column_names
        assert source.profile(source.names, ()).rows == table.num_rows


def test_files_that_are_separated_by_spaces_are_read(tmp_path):
    path = file(tmp_path, "cars.dat", '  mpg  cyl  name\n  18.0   8  "a b"\n  15.5   4  c\n')
    with pytest.warns(sf.errors.ReadWarning, match="is read as separated by spaces; confirm it with separator=' '"):
        table = sf.read(path)
    assert table.to_pylist() == [{"mpg": 18, "cyl": 8, "name": "a b"}, {"mpg": 15.5, "cyl": 4, "name": "c"}]
    with gzip.open(tmp_path / "cars.data.gz", "wb") as packed:
        packed.write(path.read_bytes())
    assert sf.read(tmp_path / "cars.data.gz", separator=" ").equals(table)
    lines = file(tmp_path, "names.csv", "name\nEve Smith\nBob Jones\nAnn Brown\n")
    assert sf.read(lines).column_names == ["name"]
    with pytest.raises(InvalidParameterError, match="and no space"):
        sf.write(table, tmp_path / "x.csv", separator=" ")


@pytest.mark.parametrize("suffix", [".xls", ".ods"])
def test_other_workbooks_are_refused_with_what_to_do(tmp_path, suffix):
    path = file(tmp_path, f"t{suffix}", "x")
    with pytest.raises(ReadError, match=r"is a workbook that cannot be read; save it as \.xlsx, or its sheet as \.csv"):
        sf.read(path)


def test_a_first_record_with_one_odd_cell_is_still_a_record():
    rows = [[str(number), "a", "1.5"] for number in range(20)]
    assert seems_header(["7", "a", "?"], rows) is False
    assert seems_header(["id", "1990", "1991"], [["x", "1", "2"]] * 9) is True
    assert seems_header(["Eve", "Bob"], [["Ann", "Max"]]) is None


def test_a_first_record_with_values_that_are_new_to_their_columns_is_still_a_record():
    jobs = [f"job {number // 3}" for number in range(60)] + [f"rare job {number}" for number in range(30)]
    rows = [[f"name {number}", job, str(20 + number % 40), "yes"] for number, job in enumerate(jobs)]
    assert seems_header(["Eve", "glazier", "33", "yes"], rows) is False
    assert seems_header(["name", "job", "age", "smokes"], rows) is True
    towns = [[town, str(number)] for number, town in enumerate(["Bonn", "Kiel", "Ulm", "Jena"] * 9 + ["Rom", "Oslo"])]
    assert seems_header(["Graz", "77"], towns) is False


def test_inspecting_says_that_nothing_shows_whether_the_first_line_is_a_header(tmp_path):
    path = file(tmp_path, "t.csv", "Anna Meier,HIV\nBert Kurz,flu\nCarl Lang,cold\n")
    (remark,) = sf.read_detecting_layout(path).remarks
    assert remark.startswith("Nothing shows whether the first line of")
    assert "Anna" not in remark
    said = run("inspect", path, "--out", tmp_path / "r.toml").stderr
    assert "confirm it with --header; otherwise read it with --no-header, and --names if you know them" in said
    for given in (True, False):
        assert sf.read_detecting_layout(path, {"header": given}).remarks == ()
    named = file(tmp_path, "named.csv", "name,disease,age\nBert Kurz,flu,30\nCarl Lang,cold,31\n")
    assert sf.read_detecting_layout(named).remarks == ()


def test_row_numbers_that_pandas_writes_before_a_table_have_a_name(tmp_path):
    text = ",age,job\n0,39,cook\n1,40,nurse\n2,39,cook\n"
    said = "The first column has no name, and is called 'column_1'; name all columns by names="
    for path in (file(tmp_path, "t.csv", text), sheet(tmp_path / "t.xlsx", [[None, "age"], [0, 39], [1, 40]])):
        with pytest.warns(sf.errors.ReadWarning, match=said):
            assert sf.read(path).column_names[:2] == ["column_1", "age"]
    path = tmp_path / "t.csv"
    assert sf.read(path, as_text=True).column_names == ["column_1", "age", "job"]
    assert sf.read(path, names=["row", "age", "job"], header=True).column_names[0] == "row"
    with EngineSelector(engine="duckdb", memory="500MB").open_source(str(path), {}) as source:
        assert source.names == ["column_1", "age", "job"]
    found = run("inspect", path, "--out", tmp_path / "r.toml")
    assert (found.exit_code, "name all columns by --names" in found.stderr) == (0, True)
    assert "[attributes.column_1]" in (tmp_path / "r.toml").read_text("utf-8")
    with pytest.warns(sf.errors.ReadWarning, match="is called 'column_1_2'"):
        assert sf.read(file(tmp_path, "u.csv", ",column_1\na,3\nb,4\n")).column_names == ["column_1_2", "column_1"]
    for bad in (",age,\n0,39,x\n1,40,y\n", "age,\n39,x\n40,y\n"):
        with pytest.raises(ReadError, match="has no name"):
            sf.read(file(tmp_path, "bad.csv", bad))
