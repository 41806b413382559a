"""Everything there is to choose from is found by its name and described."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from sfumato import models
from sfumato._locale.messages import LANGUAGES, load_messages
from sfumato.core.model import parameter_name
from sfumato.tables._catalogue import ALGORITHMS, METRICS, MODELS, RECOMMENDED, describe_choice
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.metrics.base import Metric
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness

PAGE = Path(__file__).parents[1] / "docs/reference/catalogue.md"
CHOICES = [*MODELS.items(), *ALGORITHMS.items()]


@pytest.mark.parametrize(("name", "choice"), CHOICES, ids=[name for name, _ in CHOICES])
def test_every_choice_is_found_by_its_name_and_described(name, choice):
    described = json.loads(json.dumps(describe_choice(choice)))
    assert described["name"] == name == choice.name
    assert described["class"] == choice.__name__
    assert described["summary"]
    assert "\n" not in described["summary"]
    assert described["reference"]
    assert set(described["parameters"]) == {parameter_name(field) for field in fields(choice)}
    assert issubclass(choice, GroupModel | TableAlgorithm)


def test_parameters_tell_their_defaults():
    assert describe_choice(KAnonymity)["parameters"]["k"] == {"type": "int"}
    distance = describe_choice(TCloseness)["parameters"]["distance"]
    assert distance["default"] == "equal"
    assert describe_choice(Mondrian)["parameters"]["strict"] == {"type": "bool", "default": True}


def test_every_public_model_is_in_the_catalogue():
    public = {getattr(models, name) for name in models.__all__}
    concrete = {each for each in public if isinstance(each, type) and issubclass(each, GroupModel)}
    assert concrete - {GroupModel, models.SeriesModel} == set(MODELS.values())


def test_measures_are_found_by_the_names_of_the_issue():
    assert {"loss", "ncp", "discernibility", "average-class-size", "suppressed-share"} <= METRICS.keys()
    assert {"lost-precision", "minimal-distortion", "classification-metric"} <= METRICS.keys()
    assert all(isinstance(measure, Metric) and measure.name == name for name, measure in METRICS.items())


def test_the_page_says_which_attack_every_model_stops():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    stops = [f"| `{name}` | {model.description.stops} |" for name, model in MODELS.items()]
    assert [row for row in rows if row in stops] == stops


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_algorithm_says_what_it_gives_in_every_language_and_a_few_are_recommended(language):
    say = load_messages(language)
    said = [key.removeprefix("algorithms.gives.") for key in say.entries if key.startswith("algorithms.gives.")]
    assert said == list(ALGORITHMS.built_in)
    assert all(f"algorithms.{what}.{name}" in say for what in ("recommended", "reason") for name in RECOMMENDED)


def test_what_is_said_of_algorithms_fits_their_facts():
    """Who keeps all records says so, who hides only values says so, and centers are called centers."""
    for name in ALGORITHMS.built_in:
        told = describe_choice(ALGORITHMS[name])["facts"]
        assert ("Nothing is left out." in told["gives"]) <= (told["suppresses"] is False), name
        assert ("not who is in the table" in told["gives"]) <= (told["hides_identities"] is False), name
        assert (told.get("publishes") == "centers") <= ("center" in told["gives"] or name == "v-mdav"), name
        assert ("flagged" in told["gives"]) == told["supports_flags"], name
