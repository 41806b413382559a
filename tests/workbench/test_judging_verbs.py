"""What the worker answers about a candidate is what the library gives: each verb beside the function that it calls."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isclose

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.report.measurements import PARTS
from sfumato.tables._pipeline.comparison import evaluate_classification


@pytest.fixture(scope="module")
def judged(opened_client):
    """Search once; return the client and the same release made by the library."""
    opened_client.patch((["release", "max_suppressed"], 0.1))
    job = opened_client.job("anonymize")
    assert job.state == "done", job.error
    folder = opened_client.desk.project.folder
    table = opened_client.desk.stored_rows.table()
    recipe = Recipe.read(folder / "candidates" / str(job.result["candidate"]) / "recipe.toml")
    return opened_client, job.result["candidate"], sf.run_recipe(recipe, table), table


def plain(found):
    return json.loads(json.dumps(found))


def done(client, verb, **request):
    job = client.job(verb, **request)
    assert job.state == "done", job.error
    return job.result


@pytest.mark.parametrize(
    ("verb", "key", "part"), [("attack", "attacks", "attacks"), ("expose", "exposure", "disclosure_risk")]
)
def test_a_part_of_the_report_is_that_of_the_library(judged, verb, key, part):
    client, number, release, _ = judged
    assert done(client, verb, candidate=number)[key] == plain(getattr(release.measurements, part)())


def test_assessing_gives_the_risk_and_every_rule(judged):
    client, number, release, _ = judged
    found = done(client, "assess", candidate=number, population=10_000)
    risk = sf.assess_risk(release.frame, release.recipe.schema, population=10_000, max_subset=1)
    assert found["risk"] == plain(release.measurements.risk())
    assert found["assessed"] == plain(risk.to_dict())
    assert found["rules"] == plain({name: risk.check_compliance(name).to_dict() for name in ("wp216", "ema", "hipaa")})


def test_the_reasons_of_a_row_tell_no_cell(judged):
    client, number, release, table = judged
    found = done(client, "reasons", candidate=number, row=7)
    assert found == plain(release.measurements.reasons(7))
    assert not set(map(str, table.slice(7, 1).to_pylist()[0].values())) & set(json.dumps(found).split('"'))


def test_utility_is_that_of_the_report(judged):
    client, number, release, _ = judged
    found = done(client, "utility", candidate=number)
    assert found["distributions"] == plain(release.measurements.distributions())
    assert found["utility"] == plain(release.measurements.utility())
    assert found["rows"] == {"original": 240, "published": release.published.num_rows}


def test_queries_are_those_of_the_library(judged):
    client, number, release, table = judged
    found = done(client, "query", candidate=number, queries=40)
    attributes = min(4, len(release.recipe.schema.quasi_identifiers))
    workload = sf.queries.Workload(queries=40, attributes=attributes, kind="count")
    same = sf.queries.relative_errors(release.frame, table, release.recipe.schema, workload).summary()
    assert all(isclose(found[name], value) for name, value in same.items())


def test_the_classifier_is_that_of_the_library(judged):
    client, number, release, table = judged
    found = done(client, "classify", candidate=number, column=5)
    assert found == plain(evaluate_classification(release.recipe, table, target="disease").to_dict())


def test_exploring_is_that_of_the_library(judged):
    client, _, _, table = judged
    found = done(client, "explore", loss="loss")
    recipe = client.desk.recipe
    solutions = sf.explore(table, recipe.schema, recipe.models, max_suppressed=recipe.max_suppressed)
    assert found["status"] == solutions.counts()
    assert found["best"] == plain(solutions.to_dict()["best"])
    assert found["judged"] == len(solutions.ranked()) == len(found["ranked"])
    assert found["ranked"][0] == found["best"]


def test_a_solution_becomes_a_pinned_candidate_and_what_is_looked_at_stays(judged):
    client, number, _, table = judged
    levels = done(client, "explore", loss="loss")["ranked"][1]["levels"]
    made = done(client, "fixed_levels", levels=levels)["candidate"]
    assert client.desk.chosen == number
    assert made in client.desk.project.content["pinned"]
    facts = client.desk.candidate(made)
    assert facts["audit"]["holds"]
    assert facts["made"]["algorithm"] == {"name": "fixed-levels", "levels": levels}
    recipe = client.desk.recipe
    solutions = sf.explore(table, recipe.schema, recipe.models, max_suppressed=recipe.max_suppressed)
    assert facts["measures"] == plain(dict(solutions.release(levels).metrics))


def test_candidates_side_by_side_are_those_of_the_library(judged):
    client, number, release, _ = judged
    found = done(client, "compare", candidates=[number, number])
    assert found["candidates"][0] == plain(sf.compare({str(number): release}).to_dict()["candidates"][0])


def test_a_mask_keeps_the_lattice_from_being_explored(judged):
    client = judged[0]
    assert client.patch((["masking"], [{"name": "top-code", "column": "age", "at": 70}])).status_code == 200
    job = client.job("explore", loss="loss")
    client.post("/undo")
    assert job.state == "failed"
    assert "Masking" in job.error


def test_writing_takes_what_was_judged_before(judged, monkeypatch, tmp_path):
    """After the attacks, the report in another language attacks nobody again, and is that of the library."""
    client, _, _, table = judged
    candidate = done(client, "anonymize", turn=2)["candidate"]  # nothing of it was judged yet
    computed = []
    for name, compute in PARTS.items():
        monkeypatch.setitem(PARTS, name, lambda of, tell, n=name, c=compute: (computed.append(n), c(of, tell))[1])
    done(client, "attack", candidate=candidate)
    done(client, "expose", candidate=candidate)
    assert sorted(computed) == ["attacks", "exposure"]
    number = done(client, "write", candidate=candidate, language="zh")["release"]
    assert sorted(computed) == sorted(PARTS)
    folder = client.desk.project.folder / "releases" / str(number)
    recipe = Recipe.read(client.desk.project.folder / "candidates" / str(candidate) / "recipe.toml")
    sf.run_recipe(replace(recipe, language="zh"), table).write(tmp_path / "alone")
    for path in ("public/about.html", "internal/report.json", "internal/report.html"):
        assert (folder / path).read_bytes() == (tmp_path / "alone" / path).read_bytes()
    assert 'lang="zh' in (folder / "internal" / "report.html").read_text(encoding="utf-8")


def test_the_rows_of_a_candidate_are_those_of_the_library(judged):
    client, number, release, _ = judged
    found = client.get(f"/rows/candidate/{number}?count=200").json()
    aligned = release.aligned()
    shown = [[None if cell is None else str(cell) for cell in column.to_pylist()[:200]] for column in aligned.columns]
    assert found["columns"] == shown
    assert any(pa.types.is_dictionary(each) for each in release.aligned_rows().schema.types)
