"""Jobs: one after the other, canceled or killed at any time, and nothing else is lost."""

from __future__ import annotations

import asyncio
import os
import re
import signal

import pytest

from sfumato.workbench._project import Project
from sfumato.workbench._session import Session


@pytest.fixture
def client(bench_client, persons_csv):
    assert bench_client.open(persons_csv).state == "done"
    return bench_client


@pytest.fixture
def with_process(process_client, persons_csv):
    assert process_client.open(persons_csv).state == "done"
    return process_client


def test_a_search_becomes_a_candidate(client):
    job = client.job("anonymize")
    assert job.state == "done"
    assert job.result == {"candidate": 1}
    candidate = client.get("/candidates").json()["candidates"][0]
    assert candidate["audit"]["holds"]
    assert candidate["records"] == 240
    assert not candidate["outdated"]
    assert client.get("/rows/candidate/1?from=0&count=2").json()["rows"] == 240


def test_candidates_of_an_older_recipe_say_so(client):
    client.job("anonymize")
    client.patch((["models"], [{"name": "k-anonymity", "k": 7}]))
    assert client.get("/candidates").json()["candidates"][0]["outdated"]
    client.post("/undo")
    assert not client.get("/candidates").json()["candidates"][0]["outdated"]


def test_results_are_kept_for_the_recipe_that_they_are_of(client):
    job = client.job("risk")
    assert client.desk.result("risk") == job.result
    client.patch((["attributes", "sex", "role"], "insensitive"), step="roles")
    assert client.desk.result("risk") is None
    assert client.desk.latest("risk") == job.result
    client.post("/undo")
    assert client.desk.result("risk") == job.result


def test_a_killed_worker_is_told_and_nothing_else_is_lost(with_process):
    with_process.job("risk")
    before = with_process.get("/recipe").json()
    worker = with_process.desk.jobs._worker
    answer = with_process.post("/jobs", {"verb": "anonymize"})
    os.kill(worker.pid, signal.SIGKILL)
    job = with_process.follow(answer.json()["job"])
    assert job.state == "failed"
    assert job.kind == "WorkerEnded"
    assert "ended unexpectedly" in job.error
    assert with_process.get("/recipe").json() == before
    assert with_process.job("anonymize").state == "done"


def test_cancel_ends_the_process_and_the_next_job_gets_another(with_process):
    with_process.job("risk")
    worker = with_process.desk.jobs._worker
    number = with_process.post("/jobs", {"verb": "anonymize"}).json()["job"]
    answer = with_process.send("DELETE", f"/jobs/{number}")
    assert answer.json()["state"] == "canceled"
    assert with_process.run(worker.wait()) != 0
    assert with_process.get("/candidates").json()["candidates"] == []
    assert with_process.job("anonymize").state == "done"


def test_jobs_wait_for_their_turn(client):
    verbs = ("anonymize", "risk", "risk")
    first, second, third = (
        client.post("/jobs", {"verb": verb, "turn": n}).json()["job"] for n, verb in enumerate(verbs)
    )
    assert client.desk.jobs.position(client.desk.jobs.all[third]) >= 1
    client.send("DELETE", f"/jobs/{second}")
    assert client.follow(third).state == "done"
    assert client.desk.jobs.all[second].state == "canceled"
    assert client.desk.jobs.all[first].state == "done"


def test_what_pages_ask_for_by_themselves_holds_up_nobody(client):
    jobs = client.desk.jobs
    do, may_go_on = jobs._run_job, asyncio.Event()

    async def slowly(job):
        await may_go_on.wait()
        await do(job)

    jobs._run_job = slowly
    quiet = [client.post("/jobs", {"verb": "risk", "turn": turn}).json()["job"] for turn in range(5)]
    assert "disabled" not in re.search("<button[^>]* id=.start.[^>]*>", client.get("/search").text)[0]
    assert client.upload(b"a,b\n1,2\n", "another.csv").status_code == 202  # nor does it keep a table closed
    (opening,) = [job.number for job in jobs.asked]
    client.send("DELETE", f"/jobs/{opening}")
    search = client.post("/jobs", {"verb": "anonymize"}).json()["job"]
    assert jobs.position(jobs.all[search]) == 1  # the one that runs
    assert jobs.current.number == search
    page = client.get("/search").text
    assert f'data-follow="{search}"' in page
    assert "disabled" in re.search("<button[^>]* id=.start.[^>]*>", page)[0]
    client.loop.call_soon_threadsafe(may_go_on.set)
    assert client.follow(search).state == "done"
    assert [client.follow(number).state for number in quiet] == ["done"] * 5


def test_a_stream_of_events_begins_with_now_and_ends_with_the_job(client):
    job = client.job("risk")
    told = client.get(f"/jobs/{job.number}/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    assert '"state": "done"' in told.text
    assert client.get("/jobs/999/events").status_code == 422


def test_a_project_that_is_opened_again_is_as_it_was(client):
    client.job("risk")
    client.job("anonymize")
    client.patch((["release", "max_suppressed"], 0.1))
    folder = client.desk.project.folder
    again = Session(Project(folder))
    assert again.recipe.to_dict() == client.desk.recipe.to_dict()
    assert again.version == client.desk.version
    assert again.chosen == 1
    assert again.latest("risk") == client.desk.latest("risk")


def test_a_candidate_that_was_not_finished_is_none(client):
    folder = client.desk.project.folder / "candidates" / "1"
    folder.mkdir()
    (folder / "rows.arrow").write_bytes(b"half")
    assert client.desk.candidates == []
    assert client.job("anonymize").result == {"candidate": 2}


def test_what_cannot_be_is_told_with_its_class(client):
    client.patch((["models"], [{"name": "k-anonymity", "k": 999}]))
    job = client.job("anonymize")
    assert job.state == "failed"
    assert job.kind == "InfeasibleError"
    assert "240" in job.error
    page = client.get("/search").text
    assert "The promise cannot be kept" in page
    assert "Promise k = 240 instead" in page
    assert client.patch((["models", "0", "k"], 240)).status_code == 200
    assert client.job("anonymize").state == "done"


def test_a_disk_that_is_full_is_told(client, monkeypatch):
    from sfumato.errors import WriteError

    def full(*_):
        raise WriteError("The disk is full.")

    monkeypatch.setattr(client.desk.project, "write_json", full)
    job = client.job("risk")
    assert job.state == "failed"
    assert job.error == "The disk is full."


def test_a_worker_without_work_rests_and_comes_back(with_process):
    with_process.job("risk")
    worker = with_process.desk.jobs._worker
    with_process.loop.call_soon_threadsafe(with_process.desk.jobs._stop_idle_worker)
    assert with_process.run(worker.wait()) == 0
    assert with_process.job("risk", again=1).state == "done"
