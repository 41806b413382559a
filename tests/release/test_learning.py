"""A classifier is tested on records that the release never saw, for any recipe."""

from __future__ import annotations

import sys

import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, SchemaError, SfumatoError

PATIENTS = sf.datasets.generate_hospital(600, seed=1)
SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"])
RECIPE = sf.Recipe(schema=SCHEMA, models=[sf.models.KAnonymity(k=5)], algorithm=sf.algorithms.Mondrian(), seed=1)


def test_it_is_what_holding_out_releasing_and_comparing_give():
    found = sf.tables.evaluate_classification(RECIPE, PATIENTS, target="disease", seed=3)
    kept, held = sf.metrics.hold_out(PATIENTS, seed=3)
    release = sf.run_recipe(RECIPE, kept)
    by_hand = sf.metrics.compare_classifiers(
        kept, release.frame, held, target="disease", schema=SCHEMA, columns=["age", "zip", "sex"], seed=3
    )
    assert found == by_hand
    assert found.held_out == 180


def test_progress_goes_from_the_search_to_the_end():
    told = []
    sf.tables.evaluate_classification(RECIPE, PATIENTS, target="disease", progress=lambda done, *_: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(SchemaError, match="no column"):
        sf.tables.evaluate_classification(RECIPE, PATIENTS, target="name")
    with pytest.raises(InfeasibleError):
        sf.tables.evaluate_classification(
            sf.Recipe(schema=SCHEMA, models=[sf.models.KAnonymity(k=500)], algorithm=sf.algorithms.Mondrian()),
            PATIENTS,
            target="disease",
        )


def test_without_scikit_learn_nothing_is_searched(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.setattr("sfumato.tables._pipeline.comparison.run_recipe", None)
    with pytest.raises(SfumatoError, match="learn"):
        sf.tables.evaluate_classification(RECIPE, PATIENTS, target="disease")
