"""`sfumato audit --series`: several releases of one table together."""

from __future__ import annotations

import json

import pytest

import sfumato as sf

ROLES = ["--identifier", "name", "--quasi", "age", "--sensitive", "disease"]
PROMISE = ["--model", "m-invariance:m=2,sensitive=disease"]
ORIGINAL = "name,age,disease\na,20,flu\nb,21,cold\nc,22,cold\nd,23,flu\n"
FIRST = "age,disease,_bucket_disease\n20,cold,0\n21,flu,0\n22,flu,1\n23,cold,1\n"
SECOND = "age,disease,_bucket_disease\n20,cold,0\n22,flu,0\n21,flu,1\n23,cold,1\n"
OTHER = "age,disease,_bucket_disease\n20,flu,0\n23,flu,0\n21,cold,1\n22,cold,1\n"
SERIES = ["audit", "1.csv", "2.csv", "--series", "--originals", "t1.csv", "t2.csv", *ROLES]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"1": FIRST, "2": SECOND, "3": OTHER, "t1": ORIGINAL, "t2": ORIGINAL}.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    return tmp_path


def test_a_series_that_holds_has_exit_code_0(run):
    result = run(*SERIES, *PROMISE)
    assert result.exit_code == 0
    assert "Series: holds, 2 releases, 4 persons" in result.stdout
    assert "maximum 0.5" in result.stdout


def test_a_broken_series_has_exit_code_1_and_says_so_in_json(run):
    result = run("audit", "1.csv", "3.csv", "--series", "--originals", "t1.csv", "t2.csv", *ROLES, *PROMISE, "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["models"][0]["verdict"] == "broken"
    assert told["exposure"]["disease"]["maximum"] == 1.0
    assert told["exposure"]["disease"]["decided_persons"] == 4


def test_without_promises_the_levels_are_told(run):
    result = run(*SERIES)
    assert result.exit_code == 0
    assert "m-invariance of 'disease'     2" in result.stdout


def test_folders_bring_their_recipe_and_who_is_who(run, folder):
    data = sf.read(folder / "t1.csv")
    schema = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=["disease"])
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
    for name in ("q1", "q2"):
        sf.anonymize(data, schema, models=models, algorithm=sf.algorithms.Anatomy()).write(name)
    for releases in (["q1", "q2"], ["q1/public/table.csv", "q2/public/table.csv"]):
        result = run("audit", *releases, "--series", "--originals", "t1.csv", "--originals", "t2.csv", *PROMISE)
        assert result.exit_code == 0
        assert "holds" in result.stdout
    (folder / "empty").mkdir()
    refused = run("audit", "empty", "--series", "--originals", "t1.csv", *ROLES)
    assert refused.exit_code == 2
    assert "is no folder of a release with one table" in refused.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1.csv", "2.csv", "--series", "--originals", "t1.csv"], "as many originals as releases"),
        (["1.csv", "2.csv", "--series"], "as many originals as releases"),
        (["1.csv", "2.csv"], "2 tables are given; give one, or --series"),
        (["1.csv", "--originals", "t1.csv"], "--originals also needs --series"),
        (["1.csv", "--series", "--originals", "t1.csv", "--exposure"], "--exposure is about one table"),
        (["1.csv", "--series", "--originals", "t1.csv", "--original", "t1.csv"], "--original is about one table"),
    ],
)
def test_bad_requests_have_exit_code_2(run, given, message):
    result = run("audit", *given, *ROLES)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.fixture
def ledger(folder):
    made = sf.Series.create(folder / "h.ledger")
    data, schema = (
        sf.read(folder / "t1.csv"),
        sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=["disease"]),
    )
    models = [sf.models.MInvariance(m=2, sensitive="disease")]
    for name in ("q1", "q2"):
        sf.anonymize(data, schema, models=models, algorithm=sf.algorithms.MInvariantBuckets(), ledger=made).write(name)
    return made


@pytest.mark.usefixtures("ledger")
def test_a_ledger_takes_the_place_of_originals(run):
    alone = run("audit", "--series", "--ledger", "h.ledger")
    assert alone.exit_code == 0, alone.stderr
    assert "Series: holds, 2 releases, 4 persons" in alone.stdout
    assert "not looked at" not in alone.stdout
    named = run("audit", "q1", "q2", "--series", "--ledger", "h.ledger")
    pairs = run("audit", "q1", "q2", "--series", "--originals", "t1.csv", "t1.csv")
    assert alone.stdout == named.stdout == pairs.stdout
    asked = run("audit", "--series", "--ledger", "h.ledger", "--model", "m-invariance:m=3,sensitive=disease", "--json")
    assert asked.exit_code == 1
    assert json.loads(asked.stdout)["models"][0]["verdict"] == "broken"
    assert json.loads(asked.stdout)["linked_groups"] == {"disease": 0}


@pytest.mark.usefixtures("ledger")
def test_a_promise_about_single_releases_is_named_and_not_judged_by_a_ledger(run):
    result = run("audit", "--series", "--ledger", "h.ledger", "--k", "1")
    assert result.exit_code == 0
    assert "k-anonymity:k=1 is about single releases" in result.stderr


@pytest.mark.usefixtures("ledger")
def test_a_ledger_whose_releases_are_gone_needs_a_recipe_and_says_what_was_not_looked_at(run, folder):
    (folder / "recipe.toml").write_text((folder / "q1" / "internal" / "recipe.toml").read_text("utf-8"), "utf-8")
    (folder / "q2").rename(folder / "elsewhere")
    refused = run("audit", "--series", "--ledger", "h.ledger")
    assert refused.exit_code == 2
    assert "Release 2 is not in" in refused.stderr
    result = run("audit", "--series", "--ledger", "h.ledger", "--recipe", "recipe.toml")
    assert result.exit_code == 0
    assert "Release 2 is not in" in result.stderr
    assert "What rows show beside these values was not looked at" in result.stdout


@pytest.mark.usefixtures("ledger")
def test_a_changed_release_or_one_of_another_series_is_refused_with_a_ledger(run, folder):
    table = folder / "q1" / "public" / "table.csv"
    table.write_text(table.read_text("utf-8") + "\n", "utf-8")
    result = run("audit", "--series", "--ledger", "h.ledger")
    assert result.exit_code == 2
    assert "was changed after it was written" in result.stderr


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["1.csv", "--ledger", "h.ledger"], "give --series"),
        (["--series", "--ledger-key", "h.ledger.key"], "give --ledger"),
        (["q1", "--series", "--ledger", "h.ledger", "--originals", "t1.csv"], "leave --originals out"),
        (["--series", "--ledger", "empty.ledger"], "has no releases yet"),
        ([], "No table is given"),
    ],
)
def test_what_does_not_go_with_a_ledger_is_refused(run, folder, arguments, sentence):
    sf.Series.create(folder / "empty.ledger")
    result = run("audit", *arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_audit_series_takes_a_ledger(ledger, folder):
    found = sf.audit_series(ledger, models=[sf.models.MInvariance(m=2, sensitive="disease")])
    assert found.holds
    assert found.disclosure_risk("disease").max() == 0.5
    assert "was not looked at" in repr(found)
    with pytest.raises(sf.errors.SchemaError, match="no releases yet"):
        sf.audit_series(sf.Series.create(folder / "empty.ledger"))


def test_releases_that_keep_their_promises_alone_are_not_called_a_series_that_holds(run, folder):
    people = dict(zip("abcdef", ["mumps", "cold", "ulcer", "flu", "gout", "acne"], strict=True))
    rows = "".join(f"{name},{20 + at},{value}\n" for at, (name, value) in enumerate(people.items()))
    (folder / "six.csv").write_text("name,age,disease\n" + rows, "utf-8")
    for name, buckets in {"first": ("abc", "def"), "second": ("ade", "bcf")}.items():  # the golden intersection
        cells = [(20 + "abcdef".index(of), people[of], at) for at, bucket in enumerate(buckets) for of in bucket]
        rows = "".join(f"{age},{value},{bucket}\n" for age, value, bucket in cells)
        (folder / f"{name}.csv").write_text("age,disease,_bucket_disease\n" + rows, "utf-8")
    series = ["audit", "first.csv", "second.csv", "--series", "--originals", "six.csv", "six.csv", *ROLES]
    alone = ["--model", "frequency-l-diversity:l=2,sensitive=disease"]
    result = run(*series, *alone)
    assert result.exit_code == 0
    assert "Series: holds" not in result.stdout
    assert "Each release alone: holds" in result.stdout
    assert "! Certain to somebody who holds all releases: the 'disease' of 2 persons" in result.stdout
    together = run(*series, *alone, *PROMISE)
    assert together.exit_code == 1
    assert "Series: DOES NOT HOLD" in together.stdout
    assert "! Certain" in together.stdout


CHANGING = {
    "r.toml": """
[attributes]
name = { role = "identifier" }
age = { role = "quasi" }
disease = { role = "sensitive", transient = true }

[[models]]
name = "k-anonymity"
k = 1

[algorithm]
name = "mondrian"
""",
    "u1.csv": "name,age,disease\na,20,flu\nb,21,HIV\n",
    "u2.csv": "name,age,disease\na,20,cold\nc,23,flu\n",
    "v1.csv": "age,disease,_bucket_disease\n20,HIV,0\n21,flu,0\n",
    "v2.csv": "age,disease,_bucket_disease\n20,flu,0\n23,cold,0\n",
}


def test_what_values_can_become_is_said_by_attribute(run, folder):
    for name, text in CHANGING.items():
        (folder / name).write_text(text, "utf-8")
    asked = ["audit", "v1.csv", "v2.csv", "--series", "--originals", "u1.csv", "u2.csv", "--recipe", "r.toml"]
    assert "maximum 0.5" in run(*asked).stdout
    result = run(*asked, "--stays", "disease:flu=cold,gout", "--stays", "disease:cold=flu")
    assert "maximum 1, mean 0.8333, 2 decided" in result.stdout
    assert "Estimate by the product form, never a verdict: maximum 1, mean 0.6667" in result.stdout
    refused = run(*asked, "--stays", "flu")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "sfumato: --stays must be as in --stays disease:cold=flu,angina.\n",
    )
    assert "--stays is about a series" in run("audit", "1.csv", *ROLES, "--stays", "disease:flu=cold").stderr
