"""Everything that can be promised or measured has words."""

from __future__ import annotations

import pytest

from sfumato.catalogue import MEASURES, MODELS
from sfumato.models.conjunction import Conjunction
from sfumato.release.anonymizing import INFORMATION_LOSS
from sfumato.reporting.words import (
    MEASURE_WORDS,
    MISSING_WORDS,
    MODEL_WORDS,
    PART_WORDS,
    ROLE_WORDS,
    level_words,
    measure_words,
    model_words,
    promise_sentence,
)
from sfumato.schema.missing import Missing
from sfumato.schema.roles import Role

COMPARED = {("min", False): "at least", ("max", False): "at most", ("max", True): "below"}
ESTIMATE = {"fraction": 0.1, "alpha": 0.05}
PARAMETERS = {
    "k-anonymity": {"k": 5},
    "distinct-l-diversity": {"l": 3, "sensitive": "disease"},
    "frequency-l-diversity": {"l": 2.5, "sensitive": "disease"},
    "entropy-l-diversity": {"l": 3.0, "sensitive": "disease"},
    "recursive-l-diversity": {"c": 2.0, "l": 3, "sensitive": "disease"},
    "t-closeness": {"t": 0.2, "sensitive": "disease", "distance": "equal"},
    "p-sensitive-k-anonymity": {"p": 2, "k": 5, "sensitive": "disease"},
    "p-plus-sensitive-k-anonymity": {"p": 2, "k": 5, "sensitive": "disease", "categories": {"flu": "mild"}},
    "hpk-anonymity": {"h": 2, "p": 3, "k": 5, "sensitive": "disease", "levels": {"flu": "low"}},
    "alpha-k-anonymity": {"alpha": 0.4, "k": 5, "sensitive": "disease"},
    "confidence-bounding": {"bounds": 0.3, "sensitive": "disease"},
    "ke-anonymity": {"k": 5, "e": 2.5, "sensitive": "salary"},
    "epsilon-m-anonymity": {"epsilon": 1.5, "m": 4, "sensitive": "salary"},
    "nt-closeness": {"n": 100, "t": 0.2, "sensitive": "disease", "distance": "ordered"},
    "beta-likeness": {"beta": 1.5, "sensitive": "disease"},
    "delta-disclosure": {"delta": 1.5, "sensitive": "disease"},
    "kl-anonymity": {"k": 5, "l": 2.5, "sensitive": "disease"},
    "xy-anonymity": {"k": 5, "y": "person", "h": 0.3},
    "k-map": {"k": 5, "fraction": 0.15, "alpha": 0.02},
    "delta-presence": {"delta_min": 0.1, "delta_max": 0.7},
}


def test_every_model_and_measure_of_the_catalogue_has_words():
    assert set(MODEL_WORDS) == set(MODELS)
    assert set(MEASURE_WORDS) == {INFORMATION_LOSS, *MEASURES}
    assert set(MISSING_WORDS) == {policy.value for policy in Missing}
    assert set(ROLE_WORDS) == {role.value for role in Role}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_promise_tells_its_parameters_and_compares_as_the_model_does(name):
    model = MODELS[name](**PARAMETERS[name])
    sentence = promise_sentence(name, model.parameters())
    assert "{" not in sentence
    assert "flu" not in sentence
    for value in PARAMETERS[name].values():
        if isinstance(value, dict):
            continue
        assert f"{value:g}" in sentence if isinstance(value, float) else name == "k-anonymity" or str(value) in sentence
    assert model_words(name).compared == COMPARED[model.bound, model.strict]


def test_a_flag_adds_a_sentence_where_it_is_set():
    plain = promise_sentence("beta-likeness", {"beta": 1, "sensitive": "disease", "enhanced": False})
    enhanced = promise_sentence("beta-likeness", {"beta": 1, "sensitive": "disease", "enhanced": True})
    assert enhanced.removeprefix(plain) == " Frequent values are bounded more tightly, so that none becomes certain."


def test_a_set_of_quasi_identifiers_is_named():
    told = " Only these quasi-identifiers count, together: “age”, “zip”."
    assert promise_sentence("k-anonymity", {"k": 5, "quasi": ["age", "zip"]}).endswith(told)
    assert promise_sentence("xy-anonymity", {"k": 5, "y": "person", "x": ["age", "zip"]}).endswith(told)
    assert "Only" not in promise_sentence("xy-anonymity", {"k": 5, "y": "person"})


def test_an_estimate_is_said_to_be_one():
    counted, estimated = (promise_sentence("k-map", given) for given in ({"k": 5}, {"k": 5, **ESTIMATE}))
    assert "estimate" not in counted
    assert "estimate" in estimated


@pytest.mark.parametrize("name", list(MODELS))
def test_every_part_of_a_model_has_words_and_compares_as_it_does(name):
    model = MODELS[name](**PARAMETERS[name])
    for part in model.parts if isinstance(model, Conjunction) else ():
        words = level_words(part.name)
        assert part.name in {**MODEL_WORDS, **PART_WORDS}
        assert words.compared == COMPARED[part.bound, part.strict]


def test_bounds_per_value_are_counted_not_told():
    sentence = promise_sentence("confidence-bounding", {"bounds": {"flu": 0.5, "HIV": 0.1}, "sensitive": "disease"})
    assert sentence.endswith("at most this share of the records: as given for 2 values.")


def test_the_promise_of_k_anonymity_counts_the_others():
    assert promise_sentence("k-anonymity", {"k": 2}).endswith("at least 1 other.")
    assert promise_sentence("k-anonymity", {"k": 5}).endswith("at least 4 others.")


def test_a_column_name_with_braces_is_only_a_name():
    assert "“{l}”" in promise_sentence("distinct-l-diversity", {"l": 3, "sensitive": "{l}"})


def test_what_is_not_known_here_is_still_named():
    assert "x-closeness" in promise_sentence("x-closeness", {})
    assert measure_words("x-loss").title == "x-loss"


def test_no_words_call_a_release_by_what_it_is_not():
    told = f"{MODEL_WORDS} {MEASURE_WORDS} {MISSING_WORDS}".lower()
    assert "anonymous" not in told
    assert "anonymized" not in told
