"""Tables from outside: taken under a number of ours, attacked with as the library attacks, and deleted."""

from __future__ import annotations

import csv
import io
import json

import pytest

import sfumato as sf
from sfumato.core.recipe import Recipe


def text_of(rows):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


@pytest.fixture(scope="module")
def searched(opened_client, persons_csv):
    job = opened_client.job("anonymize")
    assert job.state == "done", job.error
    with persons_csv.open(encoding="utf-8", newline="") as file:
        return opened_client, job.result["candidate"], list(csv.reader(file))


def give(client, content, name="voters.csv", query="?kind=known&key=0"):
    return client.send("POST", f"/outside{query}", content=content, headers={"x-file-name": name})


def test_people_that_somebody_knows_are_attacked_as_by_the_library(searched, tmp_path):
    client, number, rows = searched
    strangers = [[f"Stranger {n}", *rows[n][1:4]] for n in range(1, 31)]
    content = text_of([row[:4] for row in rows[:150]] + strangers)
    answer = give(client, content)
    assert answer.status_code == 200, answer.text
    file = answer.json()["outside"]
    job = client.job("outside", candidate=number, file=file, kind="known", key=0)
    assert job.state == "done", job.error
    (tmp_path / "voters.csv").write_bytes(content)
    known, table = sf.read(tmp_path / "voters.csv"), client.desk.stored_rows.table()
    release = sf.run_recipe(Recipe.read(client.desk.project.folder / "candidates" / str(number) / "recipe.toml"), table)
    found = sf.attack(
        release.frame,
        release.recipe.schema,
        known=known,
        original=table,
        key="name",
        correspondence=release.correspondence,
        models=release.recipe.models,
        seed=0,
    )
    assert job.result == {"rows": 179, **json.loads(json.dumps(found.to_dict()))}
    assert {"linkage", "membership"} <= {each["attack"] for each in job.result["attacks"]}
    page = client.get("/risk").text
    assert "voters.csv" in page
    assert "179 records" in page
    assert "Stranger" not in page
    assert (client.desk.project.folder / "input" / f"outside-{file}.csv").stat().st_mode & 0o077 == 0
    assert client.post(f"/outside/{file}/remove").status_code == 200
    assert not list((client.desk.project.folder / "input").glob(f"outside-{file}.*"))
    assert "voters.csv" not in client.get("/risk").text


def test_an_older_release_of_the_same_people_is_composed_with(searched):
    client, number, _ = searched
    older = client.desk.project.folder / "candidates" / str(number) / "recipe.toml"
    release = sf.run_recipe(Recipe.read(older), client.desk.stored_rows.table())
    rows = release.frame.to_pylist()
    content = text_of([list(rows[0])] + [list(row.values()) for row in rows])
    file = give(client, content, "older.csv", "?kind=other").json()["outside"]
    job = client.job("outside", candidate=number, file=file, kind="other")
    assert job.state == "done", job.error
    assert [each["attack"] for each in job.result["attacks"]] == ["composition"]
    client.post(f"/outside/{file}/remove")


def test_what_is_no_table_or_asks_for_nothing_known_is_refused(searched):
    client, number, _ = searched
    assert give(client, b"x", "evil.exe").status_code == 415
    assert give(client, b"x", query="?kind=spy").status_code == 422
    assert give(client, b"x", query="?kind=known&key=99").status_code == 422
    file = give(client, b"\x00\x01\x02", "broken.parquet").json()["outside"]
    job = client.job("outside", candidate=number, file=file, kind="known")
    assert job.state == "failed"
    assert str(client.desk.project.folder) not in job.error
    client.post(f"/outside/{file}/remove")
    gone = client.job("outside", candidate=number, file=file, kind="known")
    assert gone.kind == "ReadError"


def test_nothing_is_taken_before_a_table_is_open(bench_client):
    assert give(bench_client, b"a\n1\n").status_code == 422


def test_too_large_a_table_is_refused_and_leaves_nothing(searched, monkeypatch):
    client = searched[0]
    from sfumato.workbench import _requests

    monkeypatch.setattr(_requests, "SPARE", 1 << 62)
    answer = give(client, b"a\n1\n")
    assert answer.status_code == 507
    assert not list((client.desk.project.folder / "input").glob("outside-*"))
