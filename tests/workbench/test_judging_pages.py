"""The pages that judge show every kind of candidate: nothing that cannot be judged stops the rest."""

from __future__ import annotations

import pytest

ALGORITHMS = ("mondrian", "optimal", "anatomy", "slicing", "cross-bucket", "mdav", "local-recoding", "k-member")
GROUPS = [{"name": "k-anonymity", "k": 5}, {"name": "distinct-l-diversity", "l": 2, "sensitive": "disease"}]
JOBS = ("assess", "attack", "expose", "utility")


@pytest.fixture(scope="module")
def client(opened_client):
    opened_client.patch((["release", "max_suppressed"], 0.2))
    return opened_client


def searched(client, algorithm):
    models = GROUPS[1:] if algorithm == "anatomy" else GROUPS
    answer = client.patch((["algorithm"], {"name": algorithm}), (["models"], models), step="search")
    assert answer.status_code == 200, answer.text
    job = client.job("anonymize")
    assert job.state == "done", job.error
    return job.result["candidate"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_of_candidate_is_shown(client, algorithm, language):
    number = searched(client, algorithm)
    client.http.cookies.set("sfumato-language", language, domain="127.0.0.1", path=f"{client.gate.path}/")
    for step in ("explore", "utility", "risk"):
        assert client.get(f"/{step}").status_code == 200
    for verb in JOBS:
        job = client.job(verb, candidate=number)
        assert job.state == "done", (verb, job.error)
    job = client.job("query", candidate=number, queries=300)
    assert job.state == "done" or job.kind in {"SchemaError", "InvalidParameterError"}, job.error
    job = client.job("reasons", candidate=number, row=3)
    assert job.state == "done", job.error
    for address in ("explore", "utility?column=1", "utility?column=5", "risk?row=4"):
        page = client.get(f"/{address}")
        assert page.status_code == 200
        assert f'data-candidate="{number}"' in page.text or "candidate-line" in page.text


def test_single_protected_cells_are_shown_for_what_they_are(bench_client, tmp_path):
    path = tmp_path / "flagged.csv"
    jobs, hidden = ("nurse", "cook", "clerk", "smith"), ("true", "false", "false")
    lines = [f"{20 + n % 30},{jobs[n % 4]},{hidden[n % 3]}" for n in range(90)]
    path.write_text("age,job,job_hidden\n" + "\n".join(lines) + "\n", "utf-8")
    assert bench_client.open(path).state == "done"
    answer = bench_client.patch(
        (["attributes"], {"age": {"role": "quasi"}, "job": {"role": "quasi", "flags": "job_hidden"}}),
        (["models"], [{"name": "frequency-l-diversity", "l": 2, "sensitive": "job"}]),
        (["algorithm"], {"name": "local-anatomy"}),
    )
    assert answer.status_code == 200, answer.text
    number = bench_client.job("anonymize").result["candidate"]
    for verb in JOBS:
        job = bench_client.job(verb, candidate=number)
        assert job.state == "done", (verb, job.error)
    page = bench_client.get("/risk").text
    assert "none of them applies" in page
    assert "job of a person" in page
    assert bench_client.get("/utility?column=1").status_code == 200
    assert bench_client.job("explore", loss="loss").state == "failed"


def test_without_scikit_learn_the_page_says_how_to_install_it(client, monkeypatch):
    searched(client, "mondrian")
    assert 'id="learn"' in client.get("/utility").text
    monkeypatch.setattr("sfumato.workbench._pages.utility.find_spec", lambda _: None)
    page = client.get("/utility").text
    assert "pip install &#34;sfumato[learn]&#34;" in page or 'pip install "sfumato[learn]"' in page
    assert 'id="learn"' not in page
