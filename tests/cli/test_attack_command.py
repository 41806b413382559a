"""`sfumato attack`: what it prints, its exit codes, and refusals."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf

ROLES = ["--quasi", "age,zip,sex", "--sensitive", "disease"]
SCHEMA = sf.Schema(quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"], identifiers=["name"])
ROWS = ["--correspondence", "release/internal/correspondence.parquet"]
WITH = ["--with", "patients.csv", "--seed", 1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = sf.datasets.generate_hospital(600, seed=11)
    people = people.append_column("person", pa.array(range(600)))
    patients = people.slice(0, 400)
    sf.write(people.select(["person", "age", "zip", "sex"]), "voters.csv")
    sf.write(patients, "patients.csv")
    release = sf.anonymize(patients, SCHEMA, [sf.models.KAnonymity(k=8)], seed=1)
    release.write("release")
    sf.write(patients.select([*SCHEMA.quasi_identifiers, *SCHEMA.sensitive]), "raw.csv")
    return tmp_path


def test_it_prints_rates_guessing_controls_and_the_three_questions(run):
    result = run("attack", "release/public/table.csv", *ROLES, *WITH)
    assert result.exit_code == 0, result.stderr
    for text in ("linkage", "homogeneity of 'disease'", "guessing", "control", "membership skipped: it needs people"):
        assert text in result.stdout
    assert "three questions of WP216" in result.stdout


def test_json_has_the_figures_of_python(run):
    result = run("attack", "release/public/table.csv", *ROLES, *WITH, *ROWS, "--attack", "linkage", "--json")
    assert result.exit_code == 0, result.stderr
    expected = sf.attack(
        sf.read("release/public/table.csv"),
        SCHEMA,
        ["linkage"],
        known=sf.read("patients.csv"),
        correspondence=sf.read("release/internal/correspondence.parquet")["original_row"].to_numpy(),
        seed=1,
    ).to_dict()
    assert json.loads(result.stdout) == {"holds": True, **json.loads(json.dumps(expected))}


def test_raw_data_fail_a_threshold_that_a_release_keeps(run):
    limits = [*ROLES, *WITH, "--attack", "singling-out", "--threshold", 0.2]
    sf.write(pa.table({"original_row": range(400)}), "same.parquet")
    kept = run("attack", "release/public/table.csv", *limits, *ROWS)
    broken = run("attack", "raw.csv", *limits, "--correspondence", "same.parquet")
    assert (kept.exit_code, broken.exit_code) == (0, 1)
    assert "Threshold 0.2: holds" in kept.stdout
    assert "Threshold 0.2: DOES NOT HOLD" in broken.stdout


def test_a_voter_list_with_a_key_gives_truth_and_outsiders(run):
    given = ["--with", "voters.csv", "--original", "patients.csv", "--key", "person", "--seed", 1, "--json"]
    result = run("attack", "release/public/table.csv", *ROLES, *given, *ROWS)
    assert result.exit_code == 0, result.stderr
    found = {each["attack"]: each for each in json.loads(result.stdout)["attacks"]}
    assert found["linkage"]["targets"] == 400
    assert found["membership"]["targets"] == 400
    assert 0 < found["linkage"]["rate"] < 1 / 4


def test_nothing_is_claimed_by_a_voter_list_alone(run):
    result = run("attack", "release/public/table.csv", *ROLES, "--with", "voters.csv", "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert "linkage skipped: nothing tells whose record is whose; give a correspondence." in result.stdout
    assert "homogeneity skipped: there is no sensitive attribute that it works on and whose truth" in result.stdout
    assert "Nothing could be attacked." in result.stdout


def test_records_are_attacked_beside_a_control(run):
    people = sf.datasets.generate_hospital(400, seed=3, missing=0)
    sf.write(people.slice(0, 200), "used.csv")
    sf.write(people.slice(200, 200), "others.csv")
    given = ["--with", "used.csv", "--control", "others.csv", "--seed", 1, "--attack", "nearest-inference"]
    result = run("attack", "used.csv", *ROLES, *given, "--attack", "membership-distance", "--threshold", 0.5)
    assert result.exit_code == 1, result.stderr
    assert "above control" in result.stdout
    assert "Threshold 0.5: DOES NOT HOLD" in result.stdout
    facts = json.loads(run("attack", "used.csv", *ROLES, *given, "--json").stdout)
    assert facts["holds"]
    assert facts["attacks"][0]["above"]
    refused = run("attack", "used.csv", *ROLES, *given, "--key", "person")
    assert refused.exit_code == 2
    assert "--key is not used with --control" in refused.stderr


def test_outsiders_a_second_release_and_a_correspondence_are_read(run):
    sf.write(sf.datasets.generate_hospital(200, seed=77), "others.csv")
    more = ["--outsiders", "others.csv", "--other", "release/public/table.csv"]
    rows = ["--correspondence", "release/internal/correspondence.parquet"]
    result = run("attack", "release/public/table.csv", *ROLES, *WITH, *more, *rows)
    assert result.exit_code == 0, result.stderr
    assert "membership" in result.stdout
    assert "composition of 'disease'" in result.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--attack", "telepathy"],
        ["--attack", "membership"],
        ["--threshold", 2],
        ["--targets", 0],
        ["--key", "name"],
        ["--correspondence", "patients.csv"],
    ],
)
def test_bad_requests_are_one_sentence_and_exit_code_2(run, options):
    result = run("attack", "release/public/table.csv", *ROLES, *WITH, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("sfumato: ")
    assert len(result.stderr.strip().splitlines()) == 1


def test_centers_of_groups_are_refused_in_a_sentence(run, tmp_path):
    asked = ("--quasi", "age,height_cm", "--sensitive", "disease", "--k", 5, "--algorithm", "mdav")
    sf.write(sf.datasets.generate_hospital(200, seed=1, missing=0), tmp_path / "complete.csv")
    made = run("anonymize", tmp_path / "complete.csv", *asked, "--out", tmp_path / "centers")
    assert made.exit_code == 0, made.stderr
    recipe = tmp_path / "centers/internal/recipe.toml"
    table = tmp_path / "centers/public/table.csv"
    refused = run("attack", table, "--recipe", recipe, "--with", tmp_path / "complete.csv")
    assert refused.exit_code == 2
    assert "publishes centers of groups" in refused.stderr
    audited = run("audit", table, "--recipe", recipe, "--original", tmp_path / "complete.csv", "--exposure")
    assert audited.exit_code == 0, audited.stderr


def test_a_series_is_attacked_with_the_recipe_of_its_last_release(run):
    schema = sf.Schema(identifiers=["patient"], quasi_identifiers=["age", "sex", "zip"], sensitive=["condition"])
    folders, originals = [], []
    for number, table in enumerate(sf.datasets.generate_hospital_series(150, 2, seed=1)):
        patients = table.select(["patient", "age", "sex", "zip", "condition"])
        promise = [sf.models.FrequencyLDiversity(l=2, sensitive="condition")]
        sf.anonymize(patients, schema, promise, sf.algorithms.Anatomy(), seed=1).write(f"q{number}")
        sf.write(patients, f"t{number}.csv")
        folders.append(f"q{number}")
        originals.append(f"t{number}.csv")
    asked = ["attack", *folders, "--series", "--originals", *originals, "--seed", 1]
    told = run(*asked)
    assert told.exit_code == 0, told.stderr
    assert "intersection of 'condition'" in told.stdout
    broken = run(*asked, "--attack", "intersection", "--threshold", 0.2, "--json")
    assert broken.exit_code == 1
    found = json.loads(broken.stdout)
    assert not found["holds"]
    assert found["attacks"][0]["successes"] == found["attacks"][0]["claims"] > 50


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["raw.csv", "raw.csv", "--with", "patients.csv"], "2 tables are given; give one, or --series"),
        (["raw.csv", "--originals", "patients.csv", "--with", "patients.csv"], "--originals also needs --series"),
        (["raw.csv"], "Give --with"),
        (["raw.csv", "--series", "--originals", "patients.csv", "--with", "patients.csv"], "--with is about one table"),
        (["raw.csv", "raw.csv", "--series", "--originals", "patients.csv"], "as many originals as releases"),
    ],
)
def test_options_of_a_series_and_of_one_table_are_kept_apart(run, given, sentence):
    result = run("attack", *given, *ROLES)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_what_the_guarantee_allows_stands_beside_every_rate_and_decides_the_exit_code(run):
    given = [*ROLES, *WITH, *ROWS, "--attack", "linkage"]
    kept = run("attack", "release/public/table.csv", *given, "--k", 8)
    assert kept.exit_code == 0, kept.stderr
    assert "within the guarantee" in kept.stdout
    assert "the guarantee allows up to 12.5%" in kept.stdout
    assert "succeeds" not in kept.stdout
    broken = run("attack", "release/public/table.csv", *given, "--k", 200)
    assert broken.exit_code == 1
    assert "ABOVE THE GUARANTEE" in broken.stdout
    assert "Guarantee: DOES NOT HOLD" in broken.stdout
    unjudged = run("attack", "release/public/table.csv", *given)
    assert unjudged.exit_code == 0
    assert "NOT LIMITED" in unjudged.stdout


def test_the_search_of_a_recipe_is_attacked_by_running_it_again(run):
    table = pa.table({"age": [32, 34, 36, 50, 54, 55], "disease": list("ababcc")})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
    sf.write(table, "six.csv")
    sf.anonymize(table, schema, models, sf.algorithms.MDAV(publish="ranges"), seed=1).write("six")
    asked = ["attack", "six.csv", "--search", "--recipe", "six/internal/recipe.toml", "--runs", 300, "--seed", 1]
    result = run(*asked, "--threshold", 0.1)
    assert result.exit_code == 1, result.stderr
    assert (
        "2 of 6 individuals are surely believed to have a value with more than 0.5; the largest belief found is 1"
        in result.stdout
    )
    assert "DOES NOT HOLD" in result.stdout
    found = json.loads(run(*asked, "--json").stdout)
    assert found["holds"] is True
    assert found["attributes"][0]["exceeding"] == 2


def test_the_search_needs_the_recipe_and_no_published_table(run):
    result = run("attack", "patients.csv", "--search")
    assert result.exit_code == 2
    assert "Give --recipe, the recipe of the release, with --search." in result.stderr
    result = run("attack", "patients.csv", "--search", "--with", "patients.csv")
    assert "--with is about one table; leave it out with --search." in result.stderr
