"""`sfumato audit` allows rows that belong to nobody as far as the promise beside the table, or an option, says."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from series_of_versions import D, version

ROLES = ["--identifier", "name", "--quasi", "age", "--sensitive", D]
COMPARED = ["--original", "second.csv", "--correspondence", "r2/internal/correspondence.parquet"]
AUDIT = ["audit", "r2/public/table.csv", *ROLES, "--model", f"m-invariance:m=2,sensitive={D}", "--json"]


@pytest.fixture(autouse=True)
def series(tmp_path, monkeypatch):
    """Write two releases, the second with one person and one counterfeit in a box."""
    monkeypatch.chdir(tmp_path)
    ledger = sf.Series.create("ledger")
    schema = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=[D])
    for number, persons in (("1", {"a": "x", "b": "y"}), ("2", {"a": "x"})):
        table = version(persons)
        sf.write(table, "second.csv")
        promised = [sf.models.MInvariance(m=2, sensitive=D)]
        algorithm = sf.algorithms.MInvariantBuckets(form="boxes")
        sf.anonymize(table, schema, promised, algorithm, ledger=ledger).write(f"r{number}", report=False)
    return tmp_path


def test_the_promise_beside_a_table_states_its_counterfeits(run):
    result = run(*AUDIT, *COMPARED, "--exposure")
    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert told["records"] == 1
    assert told["truth"]["counterfeits"] == 1
    assert next(each["level"] for each in told["levels"] if each["model"] == "k-anonymity") == 1
    assert told["exposure"]["identity"]["maximum"] == 1
    public = json.loads((run(*AUDIT)).stdout)
    assert next(each["level"] for each in public["levels"] if each["model"] == "k-anonymity") == 1


def test_without_a_promise_an_option_states_them(run, series):
    (series / "r2/public/promise.json").unlink()
    refused = run(*AUDIT, *COMPARED)
    assert refused.exit_code == 2
    assert "1 rows that belong to nobody (-1), but 0 are stated" in refused.stderr
    assert "--counterfeits" in refused.stderr
    stated = run(*AUDIT, *COMPARED, "--counterfeits", "1")
    assert stated.exit_code == 0


def test_a_promise_that_does_not_tell_is_refused(run, series):
    (series / "r2/public/promise.json").write_text('{"counterfeits": {"buckets": {"_bucket_disease": 1}}}')
    refused = run(*AUDIT)
    assert refused.exit_code == 2
    assert "does not tell how many rows belong to nobody" in refused.stderr


def test_a_series_is_refused_whose_correspondence_has_unstated_counterfeits(run, series):
    told = ["audit", "r2", "--series", "--originals", "second.csv"]
    assert run(*told).exit_code == 0
    promise = series / "r2/public/promise.json"
    said = json.loads(promise.read_text())
    del said["counterfeits"]
    promise.write_text(json.dumps(said))
    refused = run(*told)
    assert refused.exit_code == 2
    assert "but 0 are stated" in refused.stderr
    assert run(*told, "--counterfeits", "0").exit_code == 2
