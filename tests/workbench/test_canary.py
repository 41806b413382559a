"""No cell of the table in titles, addresses, logs, events, the history or the process list."""

from __future__ import annotations

import csv
import sqlite3
import time
from pathlib import Path

import httpx
import pytest

from sfumato.cli.workbench import _project_and_source
from sfumato.workbench._rendering import PLACES

CANARY = "Xanthippe"
PASSWORD = "Myrto"  # noqa: S105 - made up; another word, for tests beside this one show it in the list of processes


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("canary") / "persons.csv"
    rows = [(f"{CANARY} {n}", 20 + n % 40, f"{CANARY}-{n % 3}", f"{CANARY}{n % 2}") for n in range(120)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("name", "age", "city", "disease"), *rows])
    return path


def test_no_cell_leaves_the_views_of_the_table(start_server, table):
    server = start_server(table, "--project", "study")
    token = server.url.partition("#")[2]
    with httpx.Client(base_url=server.base, timeout=120, headers={"origin": server.origin, "x-sfumato": "1"}) as client:
        assert client.post("/enter", json={"token": token}).status_code == 204
        while client.get("/recipe").status_code != 200:
            time.sleep(0.1)
        told = []
        for verb in ("risk", "anonymize", "nothing"):
            started = client.post("/jobs", json={"verb": verb})
            told.append(started.text if verb == "nothing" else client.get(f"/jobs/{started.json()['job']}/events").text)
        pid = server.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        assert len(children) == 1
        listed = "".join(Path(f"/proc/{each}/cmdline").read_text(encoding="utf-8") for each in (pid, *children))
        for step in PLACES:
            page = client.get(f"/{step}").text
            told.append(page.partition("<title>")[2].partition("</title>")[0])
            assert not [line for line in page.splitlines() if "href=" in line and CANARY in line]
        told += [client.get(f"/candidates/9/{path}").text for path in ("recipe.toml", "release.py")]
        told += [client.request("PATCH", "/recipe", content=f'{{"{CANARY}": '.encode()).text]
    folder = server.folder / "study"
    told += [listed, server.said(), (folder / "history.jsonl").read_text("utf-8")]
    told += [
        path.read_text("utf-8") for path in (folder / "results").glob("*.json") if '"risk"' in path.read_text("utf-8")
    ]
    assert [text[:200] for text in told if CANARY in text] == []
    assert token not in server.said().replace(server.url, "")


def test_a_database_is_named_without_its_password_and_its_place_is_not_kept(bench_client, tmp_path):
    folder, place, name = _project_and_source(f"postgresql://anna:{PASSWORD}@db.example/clinic", None)
    assert folder is None
    assert PASSWORD in place
    assert PASSWORD not in name
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        database.execute("CREATE TABLE patients (age INTEGER, disease TEXT)")
        database.executemany("INSERT INTO patients VALUES (?, ?)", [(n, "flu") for n in range(20)])
    database.close()
    asked = {"place": f"sqlite:///{tmp_path / 'clinic.db'}", "name": "clinic", "reading": {"table": "patients"}}

    async def begun():
        return bench_client.desk.start("open", asked).number

    assert bench_client.follow(bench_client.run(begun())).state == "done"
    assert "path" not in bench_client.desk.project.source
    kept = [path.read_bytes() for path in bench_client.desk.project.folder.rglob("*") if path.is_file()]
    assert [text[:80] for text in kept if b"clinic.db" in text] == []
    assert bench_client.post("/reading", {}).status_code == 422


def test_the_password_of_a_database_stays_on_the_command_line(start_server):
    url = f"postgresql://anna:{PASSWORD}@127.0.0.1:1/clinic"
    server = start_server(url, "--table", "patients", "--project", "study")
    with httpx.Client(base_url=server.base, timeout=120, headers={"origin": server.origin, "x-sfumato": "1"}) as client:
        assert client.post("/enter", json={"token": server.url.partition("#")[2]}).status_code == 204
        told = [client.get("/jobs/1/events").text, client.get("/jobs/1").text, client.get("/data").text, server.said()]
    told += [path.read_text("utf-8", "replace") for path in (server.folder / "study").rglob("*") if path.is_file()]
    assert '"failed"' in told[0]
    assert [text[:200] for text in told if PASSWORD in text] == []
