"""The same promise by several algorithms: what each makes, and who cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.tables._catalogue import ALGORITHMS
from sfumato.tables._pipeline import comparison

PEOPLE = sf.datasets.generate_hospital(150, seed=3)
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex"],
    sensitive=["disease"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20)},
)
RECIPE = sf.Recipe(schema=SCHEMA, models=[sf.models.KAnonymity(k=4)], algorithm=sf.algorithms.Mondrian(), seed=1)


def test_every_algorithm_is_made_or_refused_with_a_sentence():
    found = sf.compare_algorithms(PEOPLE, RECIPE)
    made = {each.name for each in found.candidates}
    assert made | set(found.refused) == set(ALGORITHMS)
    assert not made & set(found.refused)
    assert {"mondrian", "optimal", "mdav"} <= made
    assert found.refused["anatomy"].startswith("Anatomy does not support KAnonymity")
    assert all(sentence.endswith(".") for sentence in found.refused.values())
    assert all(each.holds for each in found.candidates)


def test_a_candidate_is_what_its_recipe_makes():
    found = sf.compare_algorithms(PEOPLE, RECIPE, ["optimal", sf.algorithms.Mondrian(strict=False), "mondrian"])
    assert [each.name for each in found.candidates] == ["optimal", "mondrian", "mondrian-2"]
    alone = sf.anonymize(PEOPLE, SCHEMA, RECIPE.models, sf.algorithms.Optimal(), seed=1)
    assert found.candidates[0] == sf.compare({"optimal": alone}).candidates[0]


def test_blocks_are_for_those_who_need_them():
    found = sf.compare_algorithms(PEOPLE, replace(RECIPE, block_rows=40), ["mondrian", "ncp-top-down"])
    models = RECIPE.models
    alone = {
        "mondrian": sf.anonymize(PEOPLE, SCHEMA, models, sf.algorithms.Mondrian(), seed=1),
        "ncp-top-down": sf.anonymize(PEOPLE, SCHEMA, models, sf.algorithms.TopDownNCP(), seed=1, block_rows=40),
    }
    assert found.candidates == sf.compare(alone).candidates


def test_candidates_can_be_written(tmp_path):
    found = sf.compare_algorithms(PEOPLE, RECIPE, ["mondrian", "anatomy"], folder=tmp_path / "candidates")
    assert [path.name for path in (tmp_path / "candidates").iterdir()] == ["mondrian"]
    assert sf.compare([tmp_path / "candidates" / "mondrian"]).candidates == found.candidates


def test_a_slow_search_is_stopped_and_told(monkeypatch):
    seconds = iter(range(10_000))
    monkeypatch.setattr(comparison.time, "monotonic", lambda: float(next(seconds)))
    patient = sf.compare_algorithms(PEOPLE, RECIPE, ["mondrian", "datafly"], most_seconds=5000)
    assert patient.refused == {}
    with pytest.raises(sf.errors.InvalidParameterError, match="longer than 1 seconds"):
        sf.compare_algorithms(PEOPLE, RECIPE, "mondrian", most_seconds=1)


def test_progress_goes_from_nothing_to_all():
    told = []
    sf.compare_algorithms(
        PEOPLE, RECIPE, ["mondrian", "datafly"], progress=lambda done, note="": told.append((done, note))
    )
    shares = [done for done, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert {note.split()[0] for _, note in told if note} == {"mondrian", "datafly"}


@pytest.mark.parametrize(
    ("algorithms", "sentence"),
    [
        ([], "No algorithm is named"),
        ("mondriam", "There is no algorithm 'mondriam'; did you mean 'mondrian'"),
        (["anatomy"], r"No algorithm could keep the promise \(anatomy: Anatomy does not support"),
    ],
)
def test_bad_requests_are_refused(algorithms, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        sf.compare_algorithms(PEOPLE, RECIPE, algorithms)


def test_no_time_at_all_is_refused():
    with pytest.raises(sf.errors.InvalidParameterError, match="most_seconds"):
        sf.compare_algorithms(PEOPLE, RECIPE, most_seconds=0)
