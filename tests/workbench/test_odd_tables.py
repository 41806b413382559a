"""Odd tables on every page: names that are code, one row, one column, no values, many columns, long texts."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import pytest

from sfumato.workbench._rendering import PLACES

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; drop table",
    "{{ 7*7 }}",
    "a\u202eb",
    "__proto__",
]
REFUSED = {"InfeasibleError", "SchemaError", "UnsupportedModelError"}


class Looked(HTMLParser):
    """What a browser would make of a page: its elements, and the names of their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Take an element."""
        self.found += [(tag, name) for name, _ in attrs] or [(tag, "")]


def as_csv(rows):
    made = io.StringIO()
    csv.writer(made).writerows(rows)
    return made.getvalue().encode()


TABLES = {
    "hostile": [HOSTILE, *([f"{name}{n % 4}" for name in HOSTILE] for n in range(40))],
    "one row": [["name", "age"], ["Ann", 30]],
    "one column": [["age"], *([20 + n % 5] for n in range(30))],
    "one value": [["age", "disease"], *([30, "flu"] for _ in range(20))],
    "nothing in it": [["age", "disease"], *(["", ""] for _ in range(20))],
    "half missing": [
        ["age", "zip", "disease"],
        *([n if n % 2 else "", n % 3 or "", "flu" if n % 5 else ""] for n in range(60)),
    ],
    "many columns": [[f"c{n}" for n in range(150)], *([(row * n) % 7 for n in range(150)] for row in range(30))],
    "long texts": [["note", "age"], *([f"{'word ' * 300}{n}", n % 9] for n in range(30))],
    "names of the recipe": [
        ["models", "algorithm", "attributes", "0"],
        *([n % 3, n % 4, n % 5, n % 2] for n in range(40)),
    ],
    "spaces": [[" age ", "zip code", "dis\nease"], *([n % 9, n % 4, n % 3] for n in range(40))],
}


@pytest.mark.parametrize("name", TABLES)
def test_every_page_can_be_drawn(bench_client, name):
    answer = bench_client.upload(as_csv(TABLES[name]), "odd.csv")
    job = bench_client.follow(answer.json()["job"])
    if job.state == "failed":
        assert job.kind in {"ReadError", "SchemaError"}
        assert len(job.error.splitlines()) == 1
        return
    for verb in ("risk", "anonymize"):
        found = bench_client.job(verb)
        assert found.state == "done" or found.kind in REFUSED, found.error
    for verb in ("attack", "assess", "expose", "utility") if bench_client.desk.chosen else ():
        done = bench_client.job(verb, candidate=bench_client.desk.chosen)
        assert done.state == "done" or done.kind.endswith("Error"), done.error
        assert "unexpected" not in (done.error or ""), done.error
    for step in PLACES:
        for language in ("en", "zh") if name == "hostile" else ("en",):
            page = bench_client.get(f"/{step}", headers={"accept-language": language})
            assert page.status_code == 200, (step, page.text)
            seen = Looked(page.text).found
            assert not [name for _, name in seen if name.startswith("on") or name == "style"]
            assert "img" not in {tag for tag, _ in seen}
            assert ("script", "") not in seen
            assert "49" not in page.text.partition("<h1")[2].partition("</h1>")[0]
    for number in range(len(bench_client.desk.columns)):
        assert bench_client.get(f"/columns/{number}").status_code == 200
    assert json.loads(bench_client.get("/rows/original?count=5").text)["rows"] == bench_client.desk.rows
    assert bench_client.get("/recipe.toml").status_code == 200
    assert bench_client.get("/recipe.py").status_code == 200


def test_every_column_can_get_every_role(bench_client):
    answer = bench_client.upload(as_csv(TABLES["hostile"]), "odd.csv")
    assert bench_client.follow(answer.json()["job"]).state == "done"
    for number in range(len(HOSTILE)):
        for role in ("quasi", "sensitive", "insensitive", "identifier", ""):
            body = {"version": bench_client.desk.version, "step": "roles", "roles": {str(number): role}}
            changed = bench_client.send("PATCH", "/recipe", json=body)
            assert changed.status_code in {200, 422}, changed.text
            assert bench_client.get("/roles").status_code == 200
