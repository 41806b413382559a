"""What pages say: in their own words and in their language, whatever the library writes."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path
from string import Formatter

import openpyxl
import pytest
from tests.test_entrance import PYTHON, sentences
from tests.workbench.chinese_pages import english_in
from tests.workbench.conftest import persons

import sfumato
from sfumato._locale.messages import load_messages
from sfumato.tables._catalogue import ALGORITHMS, MODELS
from sfumato.workbench._messages import translate_error, translate_note
from sfumato.workbench._rendering import PLACES

EN, ZH = load_messages("en"), load_messages("zh")
SOURCE = Path(sfumato.__file__).parent
CHINESE = {
    "name": "姓名",
    "age": "年龄",
    "sex": "性别",
    "zip": "邮编",
    "job": "职业",
    "disease": "疾病",
    "nurse": "护士",
    "cook": "厨师",
    "clerk": "职员",
    "smith": "铁匠",
    "flu": "流感",
    "cold": "感冒",
    "cough": "咳嗽",
    "f": "女",
    "m": "男",
}
SAID = {
    "KAnonymity.k must be at least 1; got ().": "“records in a group, at least (k)” of k-anonymity must be at least 1;"
    " got nothing.",
    "Recipe.models must be a list; got None.": "promises of the recipe must be a list; got nothing.",
    "Mondrian.strict must be true or false; got 'x'.": "“strict” of mondrian must be true or false; got 'x'.",
    "Anatomy does not support KAnonymity(k=5).": "Anatomy does not support k-anonymity (k = 5).",
    "Confirm it with skip_rows=2.": "Confirm it with “Lines above the header”: 2.",
    "Confirm it with date_format='dd.mm.yyyy'.": "Confirm it with “Format of dates”: dd.mm.yyyy.",
    "Read it with column_types={'a': 'text'}.": "Read it with --column-type a=text on the command line.",
    "Use strict=True.": "Use “strict”: yes.",
    "Give count_rows=True (--count-rows) to count rows.": "Give “rows are counted”: yes to count rows.",
    "The width must be below 1e+09; got 2.5e9.": "The width must be below 1,000,000,000; got 2,500,000,000.",
    "Give it a hierarchy, such as sf.hierarchies.Intervals(5, 10).": "Give it a hierarchy, such as Intervals (5, 10).",
    "Column '1e9' and column 'Recipe x' stay.": "Column '1e9' and column 'Recipe x' stay.",
}
# Sentences that the library puts together from parts; each is told below.
PUT_TOGETHER = {"reading.no_calendar", "reading.two_marks"}


@pytest.mark.parametrize(("library", "page"), SAID.items())
def test_a_message_is_in_the_words_of_the_page(library, page):
    assert translate_error(EN, library) == page
    assert translate_error(EN, page) == page or "e9" in library, "what is in them already stays as it is"


def test_no_message_of_the_library_has_python_in_it_on_a_page():
    rooms = "algorithms attacks core hierarchies inspection judging masking models release schema table workbench"
    left = {}
    for room in rooms.split():
        for path in sorted((SOURCE / room).rglob("*.py")):
            for line, said in sentences(ast.parse(path.read_text("utf-8"))):
                shown = translate_error(EN, said)
                if PYTHON.search(shown) or re.search(r"\de\+\d| \(--", shown):
                    left[f"{path.relative_to(SOURCE)}:{line}"] = shown
    assert left == {}


@pytest.mark.slow
def test_messages_that_pages_recognize_are_written_by_the_library():
    written = " ".join(
        "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in parts)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for parts in [[node] if isinstance(node, ast.Constant) else node.values]
        if all(isinstance(part.value, str) for part in parts if isinstance(part, ast.Constant))
    )
    missing = {}
    for key, entry in EN.subset("messages").items():
        pieces = [each for text, *_ in Formatter().parse(entry) for each in re.split("[;.,]", text)]
        if max(pieces, key=len) not in written and key not in PUT_TOGETHER:
            missing[key] = pieces
    assert missing == {}


def table(count=240, **cells):
    """Write the persons of the tests in Chinese; `cells` exchange a column."""
    rows = [[CHINESE.get(str(cell), str(cell).replace("Person", "人")) for cell in row] for row in persons(count)]
    for name, of_row in cells.items():
        at = rows[0].index(name)
        for number, row in enumerate(rows[1:]):
            row[at] = of_row(number)
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


def look(client, *places):
    """Return the English that pages still say in Chinese; a command is none."""
    found = {}
    for place in places:
        page = client.get(f"/{place}", headers={"accept-language": "zh"})
        assert page.status_code == 200, (place, page.text)
        english = [each for each in english_in(page.text) if not each.startswith("sfumato workbench")]
        found |= {place: english} if english else {}
    return found


@pytest.fixture
def client(bench_client):
    """Return a client with a table of Chinese words, whose every page can be drawn."""
    job = bench_client.follow(bench_client.upload(table(), "表.csv").json()["job"])
    assert job.state == "done", job.error
    return bench_client


def test_the_scan_finds_english():
    assert english_in("<p>请看 this is English 吧</p><p aria-label='and so is this'>好</p>") == [
        "this is English",
        "and so is this",
    ]
    assert english_in("<p>用 k-anonymity 与 Mondrian</p><code>not what is typed</code>") == []


@pytest.mark.slow
def test_no_page_in_chinese_says_anything_in_english(client):
    assert look(client, *PLACES) == {}
    for verb in ("risk", "check"):
        assert client.job(verb).state == "done"
    assert client.post("/hierarchies/coverage").status_code == 204
    tabs = [f"hierarchies?column={n}&tab={tab}" for n in (1, 3, 4) for tab in ("intervals", "prefixes", "tree", "file")]
    models = [f"promise?add={name}" for name in MODELS.built_in]
    assert look(client, *PLACES, *tabs, *models) == {}
    number = client.job("anonymize").result["candidate"]
    for verb in ("utility", "assess", "attack", "expose"):
        assert client.job(verb, candidate=number).state == "done"
    assert client.job("explore", loss="loss").state == "done"
    assert client.job("write", candidate=number).state == "done"
    assert look(client, *PLACES, "risk?row=3", "utility?column=1") == {}
    client.patch((["models", "0", "k"], 3))
    assert look(client, *PLACES) == {}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS.built_in))
def test_every_search_and_what_it_says_is_chinese(client, algorithm):
    assert client.patch((["algorithm"], {"name": algorithm}), step="search").status_code == 200
    job = client.job("anonymize")
    assert look(client, "search", "release", "explore") == {}
    if job.state == "done":
        for verb in ("assess", "attack", "query"):
            client.job(verb, candidate=job.result["candidate"], **({"queries": 50} if verb == "query" else {}))
        assert look(client, "utility", "risk") == {}


REFUSED = [
    ([(["models", "0", "k"], 0)], "组内记录数"),
    ([(["models", "0", "k"], "x")], "必须"),
    ([(["models", "0"], {"name": "k-anonymity"})], "还需要参数"),
    ([(["release", "max_suppressed"], 2)], "必须是"),
    ([(["attributes", "年龄", "hierarchy"], {"kind": "intervals", "widths": [5, 3]})], "递增"),
    ([(["attributes", "年龄", "hierarchy"], {"file": "/etc/passwd"})], "文件夹"),
    ([(["nowhere", "3", "x"], 1)], ""),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED)
def test_what_is_refused_is_said_in_chinese(client, changes, said):
    told = {}
    for language in ("en", "zh"):
        body = {"version": client.desk.version, "step": "promise", "set": [list(each) for each in changes]}
        answer = client.send("PATCH", "/recipe", json=body, headers={"accept-language": language})
        assert answer.status_code == 422
        told[language] = answer.json()["error"]
    assert not PYTHON.search(told["en"])
    assert "Recipe." not in told["en"]
    assert said in told["zh"] or "英文原文" in told["zh"], told["zh"]


def workbook():
    """Return a workbook with a title, two sheets and merged cells."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "甲"
    for row in (["年龄", "疾病"], [30, "流感"], [31, None], [32, "感冒"]):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    book.create_sheet("乙").append(["名", "值"])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


NOTED = {
    "小数.csv": "年龄;工资\n30;1.234,50\n31;2.345,75\n".encode(),
    "千位.csv": "年龄;工资\n30;1,234.50\n31;2,345.75\n".encode(),
    "撇号.csv": "年龄;工资\n30;1'234.50\n31;2'345.75\n".encode(),
    "存疑.csv": "年龄;工资\n30;1,234\n31;2,345\n".encode(),
    "两种.csv": "年龄;工资\n30;1,5\n31;2.5\n".encode(),
    "日期.csv": "年龄;日\n30;31.12.2024\n31;30.11.2023\n".encode(),
    "歧义.csv": "年龄;日\n30;01/02/2024\n31;03/04/2023\n".encode(),
    "两位.csv": "年龄;日\n30;31.12.24\n31;30.11.23\n".encode(),
    "两式.csv": "年龄;日\n30;31.12.2024\n31;2023-11-30\n".encode(),
    "没有.csv": "年龄;日\n30;31.13.2024\n31;30.11.2023\n".encode(),
    "单位.csv": "年龄,体重\n30,70 kg\n31,71 kg\n".encode(),
    "单位们.csv": "年龄,体重\n30,70 kg\n31,1 lb\n".encode(),
    "表头.csv": "客户名单 2026\n\n年龄;工资;城市\n30;5;甲\n31;6;乙\n".encode(),
    "工作簿.xlsx": workbook(),
    "没有表头.csv": "30,流感,5.5\n31,感冒,6.5\n32,流感,7.5\n33,感冒,8.5\n".encode(),
    "空格.txt": "年龄 体重\n30 70\n31 71\n32 72\n".encode(),
    "重名.csv": "年龄,年龄\n30,31\n32,33\n".encode(),
}


@pytest.mark.parametrize("name", NOTED)
def test_notes_on_reading_are_chinese(bench_client, name):
    job = bench_client.follow(bench_client.upload(NOTED[name], name).json()["job"])
    assert job.state == "done", job.error
    assert bench_client.desk.project.source["remarks"]
    assert look(bench_client, "data", "roles") == {}
    assert "英文原文" not in bench_client.get("/data", headers={"accept-language": "zh"}).text


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "空.csv", "空.csv 是空的"),
        (b"PK\x03\x04broken", "坏.xlsx", "不是完整的 Excel 工作簿"),
        (b"x", "坏.parquet", "不是完整的 Parquet 文件"),
    ],
)
def test_a_failed_job_is_told_in_the_language_of_the_page(bench_client, content, name, said):
    number = bench_client.upload(content, name).json()["job"]
    assert bench_client.follow(number).state == "failed"
    told = bench_client.get(f"/jobs/{number}", headers={"accept-language": "zh"}).json()
    assert said in told["error"]
    stream = bench_client.get(f"/jobs/{number}/events", headers={"accept-language": "zh"}).text
    assert said in json.loads(stream.strip().removeprefix("data: "))["error"]


def test_how_far_a_job_is_is_chinese():
    assert translate_note(ZH, "workbench.notes.reading") == "正在读取数据表"
    assert translate_note(ZH, "judging the file") == "正在审计文件"
    assert translate_note(ZH, "loss 0.5, lower bound 0.25") == "loss 0.5，下界 0.25"
    assert translate_note(ZH, "something new") == ""
    assert translate_note(EN, "something new") == "something new"


def test_what_nobody_translated_follows_what_kind_of_problem_it_is():
    said = translate_error(ZH, "Something that nobody has translated yet, with KAnonymity(k=5).", "SchemaError")
    assert said.startswith("列与角色不相符。英文原文：Something")
    assert "k-anonymity (k = 5)" in said
