"""What jobs are asked for: whatever a request says, it is refused in a sentence or done; nothing is called a bug."""

from __future__ import annotations

import pytest

from sfumato.workbench._tasks import TASKS

ODD = (None, "x", "1", -1, 10**30, 1.5, True, [], [1], {}, {"x": "y"})
OPTIONAL = {"assess": ("population",), "outside": ("key",), "preview": ("hierarchy", "kind")}
OPTIONAL |= {"write": ("format", "language", "excel_safe", "report")}
TAXONOMY = {"kind": "taxonomy", "rows": [["nurse", "*"]]}


@pytest.fixture(scope="module")
def searched(opened_client):
    job = opened_client.job("anonymize")
    assert job.state == "done", job.error
    return opened_client


def usual(verb):
    """Return a request that is whole."""
    told = {
        "candidate": 1,
        "candidates": [1],
        "column": 4,
        "file": 1,
        "kind": "known",
        "levels": {"age": 1, "sex": 0, "zip": 1, "job": 0},
        "hierarchy": TAXONOMY,
        "change": {"do": "move", "labels": ["nurse"], "to": "*"},
        "loss": "loss",
        "queries": 5,
        "name": "jobs.csv",
        "row": 3,
    }
    return {name: told[name] for name in TASKS[verb].asks}


JOBS = sorted(set(TASKS) - {"open"})


@pytest.mark.parametrize("verb", JOBS)
def test_what_is_missing_is_refused_at_once(searched, verb):
    for name in TASKS[verb].asks:
        answer = searched.post("/jobs", {"verb": verb, **usual(verb), name: None})
        assert answer.status_code == 422
        assert answer.json()["error"] == f"The job {verb} needs to be told its {name}."


@pytest.mark.parametrize("verb", JOBS)
def test_nothing_that_is_asked_for_is_a_bug(searched, verb):
    for name in (*TASKS[verb].asks, *OPTIONAL.get(verb, ())):
        for odd in ODD:
            answer = searched.post("/jobs", {"verb": verb, **usual(verb), name: odd})
            assert answer.status_code in {202, 422}, (name, odd)
            if answer.status_code == 202:
                job = searched.follow(answer.json()["job"])
                assert "unexpected" not in (job.error or ""), (name, odd, job.error)


@pytest.mark.parametrize("number", [0, 7, "1", -1, None, [1]])
def test_a_candidate_that_is_not_there_is_refused(searched, number):
    for told in ({"verb": "expose", "candidate": number}, {"verb": "compare", "candidates": [1, number]}):
        answer = searched.post("/jobs", told)
        assert answer.status_code == 422
        assert answer.json()["kind"] == "InvalidParameterError"


def test_a_candidate_of_another_table_is_refused(bench_client, persons_csv):
    bench_client.open(persons_csv)
    assert bench_client.job("anonymize").state == "done"
    answer = bench_client.upload(b"a,b\n1,2\n3,4\n", "small.csv")
    assert bench_client.follow(answer.json()["job"]).state == "done"
    told = bench_client.post("/jobs", {"verb": "write", "candidate": 1})
    assert (told.status_code, told.json()["error"]) == (422, "There is no such candidate.")


def test_searches_that_wait_become_candidates_of_their_own(bench_client, persons_csv):
    bench_client.open(persons_csv)
    numbers = [bench_client.post("/jobs", {"verb": "anonymize", "turn": n}).json()["job"] for n in range(3)]
    assert [bench_client.follow(each).result["candidate"] for each in numbers] == [1, 2, 3]


def test_jobs_that_wait_while_another_table_is_opened_are_refused(bench_client, persons_csv):
    bench_client.open(persons_csv)
    opening = bench_client.post("/tables/made-up").json()["job"]
    waiting = bench_client.post("/jobs", {"verb": "risk"}).json()["job"]
    assert bench_client.follow(opening).state == "done"
    job = bench_client.follow(waiting)
    assert (job.state, job.error) == ("failed", "Another table was opened; start this again.")
    assert bench_client.desk.latest("risk") is None
