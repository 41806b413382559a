"""What the groups of a search betray to somebody who knows the search, against all tables that it publishes alike."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
TWO = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
AGES = [32, 34, 36, 50, 54, 55]
MDAV = sf.algorithms.MDAV(publish="ranges")


def patients(diseases):
    return pa.table({"age": AGES, "disease": list(diseases)})


def published(diseases, algorithm):
    """Give the groups that are published, or nothing where the promise cannot be kept."""
    try:
        release = sf.anonymize(patients(diseases), SCHEMA, TWO, algorithm, seed=1)
    except sf.errors.InfeasibleError:
        return None
    return Counter((row["age"], row["disease"]) for row in release.published.to_pylist())


def listed_beliefs(diseases, algorithm):
    """List all tables with these diseases that are published alike, and believe in each as much."""
    shown = published(diseases, algorithm)
    alike = [each for each in set(itertools.permutations(diseases)) if published(each, algorithm) == shown]
    return [max(Counter(column).values()) / len(alike) for column in zip(*alike, strict=True)]


@pytest.mark.parametrize("diseases", ["ababcc", "aabbcc", "abcabc", "abcdef"])
@pytest.mark.parametrize("algorithm", [MDAV, sf.algorithms.Mondrian()], ids=["mdav", "mondrian"])
def test_beliefs_are_those_of_all_tables_that_are_published_alike(diseases, algorithm):
    recipe = sf.anonymize(patients(diseases), SCHEMA, TWO, algorithm, seed=1).recipe
    (found,) = sf.minimality_attack(patients(diseases), recipe, runs=1500, seed=1)
    assert found.believed == pytest.approx(listed_beliefs(diseases, algorithm), abs=0.08)
    assert (found.surely <= np.array(listed_beliefs(diseases, algorithm)) + 1e-12).all()


def test_two_patients_are_certain_whose_group_was_merged():
    release = sf.anonymize(patients("ababcc"), SCHEMA, TWO, MDAV, seed=1)
    (found,) = sf.minimality_attack(release.original, release.recipe, runs=500, seed=1)
    assert found.limit == 0.5
    assert np.nanmax(found.told) == 0.5
    assert found.believed[4:].tolist() == [1.0, 1.0]
    assert found.exceeding == 2
    assert found.to_dict()["largest_belief"] == 1.0
    assert "2 of 6 individuals are surely believed" in repr(found)


def test_groups_that_come_again_too_seldom_are_undecided():
    release = sf.anonymize(patients("ababcc"), SCHEMA, TWO, MDAV, seed=1)
    (found,) = sf.minimality_attack(release.original, release.recipe, runs=5, seed=1)
    assert found.undecided == 6
    assert found.exceeding == 0


def test_groups_that_are_chosen_without_sensitive_values_tell_what_they_show():
    table = patients("ababcc")
    recipe = sf.anonymize(table, SCHEMA, TWO, sf.algorithms.FixedLevels(levels={"age": 1}), seed=1).recipe
    (found,) = sf.minimality_attack(table, recipe, runs=300, seed=1)
    assert (found.again == 300).all()
    assert found.exceeding == 0


def test_who_knows_the_values_of_other_groups_meets_the_same_certainty():
    release = sf.anonymize(patients("ababcc"), SCHEMA, TWO, MDAV, seed=1)
    (found,) = sf.minimality_attack(release.original, release.recipe, runs=1000, unknown=0.5, seed=1)
    assert 350 < found.dealt[4] < 650
    assert found.believed[4:].tolist() == [1.0, 1.0]
    assert found.exceeding == 2


def test_what_has_no_groups_chosen_by_values_is_refused():
    table = patients("ababcc")
    with pytest.raises(sf.errors.SchemaError, match="No model is about a sensitive attribute"):
        sf.minimality_attack(table, sf.anonymize(table, SCHEMA, [sf.models.KAnonymity(k=2)], seed=1).recipe)
    with pytest.raises(sf.errors.SchemaError, match="Only searches for groups of whole tables"):
        sf.minimality_attack(table, sf.anonymize(table, SCHEMA, TWO, sf.algorithms.Anatomy(), seed=1).recipe)
    with pytest.raises(sf.errors.InvalidParameterError, match="runs must be a whole number of at least 1"):
        sf.minimality_attack(table, sf.anonymize(table, SCHEMA, TWO, seed=1).recipe, runs=0)
