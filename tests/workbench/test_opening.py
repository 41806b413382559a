"""Opening tables: files of real offices, and files that are none, too large, cut off or made to fill a memory."""

from __future__ import annotations

import gzip
import io
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InvalidParameterError
from sfumato.workbench._application import Application
from sfumato.workbench._project import Project
from sfumato.workbench._requests import safe_display_name
from sfumato.workbench._session import Session
from sfumato.workbench.server import ServerOptions, serve

GERMAN = "Kundenliste, Stand 2026\n\nName;Alter;Gehalt\nMüller;34;1.234,50\nMaier;51;2.345,75\nSchulz;34;1.111,25\n"
CHINESE = "姓名,年龄,疾病\n张三,34,流感\n李四,51,感冒\n王五,34,流感\n"


def opened(client, content, name):
    answer = client.upload(content, name)
    assert answer.status_code == 202, answer.text
    return client.follow(answer.json()["job"])


def test_an_office_file_is_read_and_the_page_says_how(bench_client):
    job = opened(bench_client, GERMAN.encode("cp1252"), "Kunden.csv")
    assert job.state == "done", job.error
    assert bench_client.desk.columns == ["Name", "Alter", "Gehalt"]
    reading = bench_client.desk.project.source["reading"]
    assert {reading["separator"], reading["decimal"], reading["skip_rows"]} == {";", ",", 2}
    page = bench_client.get("/data").text
    assert "found: ;" in page
    assert "1234.5" in str(bench_client.get("/rows/original").json())


def test_a_chinese_file_in_gb18030(bench_client):
    assert opened(bench_client, CHINESE.encode("gb18030"), "患者.csv").state == "done"
    assert bench_client.desk.columns == ["姓名", "年龄", "疾病"]
    assert bench_client.desk.name == "患者.csv"
    assert bench_client.desk.recipe.input_file == "患者.csv"


def test_a_table_is_read_again_with_other_options(bench_client):
    opened(bench_client, b"a;b\n1,5;x\n2,5;y\n", "odd.csv")
    assert bench_client.desk.recipe.reading["decimal"] == ","
    answer = bench_client.post("/reading", {"separator": ";", "column_types": {"a": "text"}})
    assert answer.status_code == 202
    assert bench_client.follow(answer.json()["job"]).state == "done"
    assert bench_client.get("/rows/original").json()["columns"][0] == ["1,5", "2,5"]
    assert bench_client.desk.history.earlier is None


def test_a_file_without_a_header_is_noticed_and_its_columns_named(bench_client):
    records = b"39,clerk,flu\n50,nurse,cold\n38,clerk,flu\n" * 4
    job = opened(bench_client, records, "people.data")
    assert job.state == "done", job.error
    assert bench_client.desk.columns == ["column_1", "column_2", "column_3"]
    assert any("has no header" in remark for remark in bench_client.desk.project.source["remarks"])
    assert "record, no header" in bench_client.get("/data").text
    answer = bench_client.post("/reading", {"header": "false", "names": 'age, "job, now",disease'})
    assert bench_client.follow(answer.json()["job"]).state == "done"
    assert bench_client.desk.columns == ["age", "job, now", "disease"]
    assert bench_client.desk.recipe.reading["names"] == ("age", "job, now", "disease")
    assert 'value="age,&#34;job, now&#34;,disease"' in bench_client.get("/data").text


@pytest.mark.parametrize("given", [{"separator": 5}, {"nothing": "x"}, {"decimal": ";"}, {"skip_rows": "x"}])
def test_options_that_are_none_are_refused(bench_client, persons_csv, given):
    bench_client.open(persons_csv)
    assert bench_client.post("/reading", given).status_code == 422


def test_the_made_up_table_needs_no_file(bench_client):
    answer = bench_client.post("/tables/made-up")
    job = bench_client.follow(answer.json()["job"])
    assert job.state == "done", job.error
    assert bench_client.desk.rows == 5000


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "empty.csv", "empty.csv is empty."),
        (b"\x00\x01\x02" * 50, "noise.parquet", "noise.parquet"),
        (b"PK\x03\x04broken", "broken.xlsx", "broken.xlsx"),
        (b"\x1f\x8bbroken", "broken.csv.gz", "broken.csv.gz"),
        (b"<html><body>Not a table</body></html>\n" * 3, "page.dta", "page.dta"),
    ],
)
def test_what_is_no_table_is_told_by_its_own_name(bench_client, content, name, said):
    job = opened(bench_client, content, name)
    assert job.state == "failed"
    assert said in job.error
    assert "input/table" not in job.error
    assert not bench_client.desk.opened


def test_a_parquet_file_that_is_cut_off(bench_client):
    whole = io.BytesIO()
    pq.write_table(pa.table({"a": list(range(1000))}), whole)
    job = opened(bench_client, whole.getvalue()[:-20], "cut.parquet")
    assert job.state == "failed"
    assert "cut.parquet" in job.error


def test_bombs_are_refused(bench_client):
    packed = gzip.compress(b"a,b\n" + b"0,0\n" * (80 << 20), compresslevel=1)
    job = opened(bench_client, packed, "bomb.csv.gz")
    assert job.state == "failed"
    assert "times larger" in job.error


def test_a_workbook_bomb_is_refused(bench_client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (300 << 20))
    assert opened(bench_client, packed.getvalue(), "bomb.xlsx").state == "failed"


@pytest.mark.parametrize("name", ["", "table", "table.exe", "table.csv.exe", "../../x", ".csv/..", "table.toml"])
def test_other_files_are_not_taken(bench_client, name):
    answer = bench_client.upload(b"a,b\n1,2\n", name)
    assert answer.status_code == 415
    assert ".csv" in answer.json()["error"]
    assert list((bench_client.desk.project.folder / "input").iterdir()) == []


def test_a_file_that_is_too_large_is_refused_while_it_comes(bench_client):
    small = Application(bench_client.desk, bench_client.gate, max_upload=1000)
    bench_client.http._transport.app = small.asgi()
    answer = bench_client.upload(b"a,b\n" + b"1,2\n" * 1000, "large.csv")
    assert answer.status_code == 413
    assert "--max-upload" in answer.json()["error"]
    assert list((bench_client.desk.project.folder / "input").iterdir()) == []


def test_a_disk_that_is_almost_full_takes_nothing(bench_client, monkeypatch):
    monkeypatch.setattr("sfumato.workbench._requests.SPARE", 1 << 60)
    answer = bench_client.upload(b"a,b\n1,2\n", "small.csv")
    assert answer.status_code == 507
    assert list((bench_client.desk.project.folder / "input").iterdir()) == []


def test_a_failed_upload_leaves_the_table_that_was_open(bench_client, persons_csv):
    bench_client.open(persons_csv)
    before = bench_client.get("/recipe").json()
    assert opened(bench_client, b"", "empty.csv").state == "failed"
    assert bench_client.get("/recipe").json() == before
    assert bench_client.get("/rows/original?count=1").json()["rows"] == 240
    assert bench_client.job("anonymize").state == "done"


def test_after_a_failed_upload_the_open_table_is_read_again(bench_client, persons_csv):
    bench_client.open(persons_csv)
    folder = bench_client.desk.project.folder / "input"
    assert opened(bench_client, b"", "empty.csv").state == "failed"
    answer = bench_client.post("/reading", {"column_types": {"age": "text"}})
    assert bench_client.follow(answer.json()["job"]).state == "done"
    assert bench_client.desk.name == "persons.csv"
    assert bench_client.get("/rows/original?count=1").json()["rows"] == 240
    assert [path.read_bytes() for path in folder.iterdir()] == [persons_csv.read_bytes()]


def test_strays_go_with_the_next_upload(bench_client, persons_csv):
    bench_client.open(persons_csv)
    folder = bench_client.desk.project.folder
    for _ in range(3):
        assert opened(bench_client, b"", "empty.csv").state == "failed"
        assert sorted(path.name for path in (folder / "input").iterdir()) == ["table-1.csv", "table-2.csv"]
    made = bench_client.post("/tables/made-up")
    assert bench_client.follow(made.json()["job"]).state == "done"
    assert [path.name for path in (folder / "input").iterdir()] == ["table-2.csv"]
    assert [path.name for path in (folder / "tables").iterdir()] == ["2"]


def test_a_project_that_moved_knows_its_file(bench_client, persons_csv):
    bench_client.open(persons_csv)
    project = bench_client.desk.project
    moved = project.folder.rename(project.folder.parent / "moved")
    desk = Session(Project(moved))
    assert (moved / desk.project.source["path"]).read_bytes() == persons_csv.read_bytes()
    desk.clean_up()
    assert (moved / desk.project.source["path"]).exists()


@pytest.fixture
def at_work(bench_client, persons_csv):
    """Return a client that has changed roles and found a candidate."""
    bench_client.open(persons_csv)
    bench_client.patch((["models", "0", "k"], 4))
    assert bench_client.job("anonymize").state == "done"
    return bench_client


@pytest.mark.parametrize("path", ["/tables", "/tables/made-up", "/reading"])
@pytest.mark.parametrize("stake", ["", "?replaces=", "?replaces=1", "?replaces=99-1-1", "?replaces=2-1"])
def test_work_is_not_thrown_away_unless_the_page_showed_it(at_work, path, stake):
    assert at_work.desk.at_stake == {"changes": 1, "candidates": 1}
    answer = at_work.send("POST", path + stake, content=b"{}", headers={"x-file-name": "other.csv"})
    assert (answer.status_code, answer.json()["kind"]) == (409, "Replaced")
    assert at_work.desk.at_stake == {"changes": 1, "candidates": 1}
    assert at_work.desk.jobs.unfinished == []
    assert len(list((at_work.desk.project.folder / "input").iterdir())) == 1
    for language, said in (("en", "1 change of roles"), ("zh", "搜索得到的 1 个候选方案")):
        assert said in at_work.get("/data", headers={"accept-language": language}).text


def test_it_is_thrown_away_by_who_agrees_to_what_was_shown(at_work):
    stake = at_work.desk.stake
    assert f'data-stake="{stake}"' in at_work.get("/data").text
    assert at_work.job("anonymize", turn=2).state == "done"
    assert at_work.post(f"/reading?replaces={stake}").status_code == 409  # one candidate more than was shown
    answer = at_work.post(f"/reading?replaces={at_work.desk.stake}", {"column_types": {"age": "text"}})
    assert at_work.follow(answer.json()["job"]).state == "done"
    assert at_work.desk.at_stake == {}
    assert "replace-dialog" not in at_work.get("/data").text
    again = at_work.post("/reading")  # nothing to lose, nothing to ask
    assert at_work.follow(again.json()["job"]).state == "done"


def test_a_file_on_the_command_line_throws_no_work_away(at_work, persons_csv):
    folder = at_work.desk.project.folder
    with pytest.raises(InvalidParameterError, match=r"holds work on persons\.csv.*sfumato workbench .*--project"):
        serve(folder, ServerOptions(), print, {"place": str(persons_csv), "name": "persons.csv"})
    assert Session(Project(folder)).at_stake == {"changes": 1, "candidates": 1}


def test_two_tables_are_not_taken_at_once(bench_client, persons_csv):
    bench_client.open(persons_csv)
    first = bench_client.post("/tables/made-up")
    second = bench_client.upload(b"a,b\n1,2\n", "small.csv")
    assert (first.status_code, second.status_code) == (202, 422)
    assert "Something is running" in second.json()["error"]
    assert bench_client.follow(first.json()["job"]).state == "done"
    assert bench_client.desk.name == "patients.csv"


def test_another_table_leaves_what_was_made_of_the_first_in_the_folder(bench_client, persons_csv):
    bench_client.open(persons_csv)
    bench_client.job("anonymize")
    assert bench_client.job("write", candidate=1).state == "done"
    assert opened(bench_client, GERMAN.encode(), "Kunden.csv").state == "done"
    assert bench_client.desk.candidates == []
    assert bench_client.desk.history.earlier is None
    project = bench_client.desk.project
    assert project.numbered_folders("candidates") == project.numbered_folders("releases") == [1]
    assert "persons.csv" in project.folder.joinpath("history.jsonl").read_text("utf-8")
    assert list((project.folder / "results").iterdir()) == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("adult.csv", "adult.csv"),
        ("a\\b\\c.csv", "c.csv"),
        ("../../../etc/passwd.csv", "passwd.csv"),
        ("x\x00\x1b[2J.csv", "x[2J.csv"),
        ("x" * 500 + ".csv", "x" * 116 + ".csv"),
    ],
)
def test_names_are_shown_and_never_used(given, shown):
    assert safe_display_name(given) == shown


def test_files_of_a_project_are_for_its_owner_alone(bench_client, persons_csv):
    bench_client.open(persons_csv)
    bench_client.job("anonymize")
    folder = bench_client.desk.project.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_dir()} == {0o700}


def workbook(*sheets):
    made = io.BytesIO()
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(made)
    return made.getvalue()


def test_another_sheet_of_a_workbook_can_be_chosen(bench_client):
    persons = [["name", "age"], *([f"P{n}", 20 + n % 9] for n in range(30))]
    content = workbook(("Cover", [["A title"]]), ("Persons", persons), ("Short", [["city", "mayor"], ["Ulm", "Ann"]]))
    assert opened(bench_client, content, "book.xlsx").state == "done"
    assert bench_client.desk.columns == ["name", "age"]
    page = bench_client.get("/data").text
    assert [name in page for name in ("<option>Cover", "<option selected>Persons", "<option>Short")] == [True] * 3
    assert "reading-separator" not in page
    answer = bench_client.post("/reading", {"sheet": "Short"})
    assert bench_client.follow(answer.json()["job"]).state == "done"
    assert bench_client.desk.columns == ["city", "mayor"]


def test_only_options_that_a_file_has_are_offered(bench_client):
    whole = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), whole)
    assert opened(bench_client, whole.getvalue(), "table.parquet").state == "done"
    assert 'id="reading-' not in bench_client.get("/data").text
