"""Everything that can be promised or measured has words; a model brings its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sfumato._locale.messages import load_messages
from sfumato.report.guarantee import describe_model
from sfumato.report.texts import BUCKET, SHARES, comparison_text, metric_texts, model_texts
from sfumato.schema.roles import MissingPolicy, Role, Scale
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import METRICS, MODELS
from sfumato.tables._pipeline.anonymize import INFORMATION_LOSS
from sfumato.tables.inspection._profiles import CellType
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity

# What every model has been called since its words were in one list; a changed text is changed here, too, on purpose.
TOLD = json.loads(Path(__file__).with_name("model_words.json").read_text("utf-8"))
SAY = load_messages("en")
SCHEMA = Schema(quasi_identifiers=["age"], sensitive=["disease"])


@dataclass(frozen=True, kw_only=True)
class Wordless(GroupModel):
    """A model that brings no words; its level must stay above nothing."""

    name = "wordless"
    reference = "made up"
    bound = "min"
    strict = True
    stricter: ClassVar = {}

    values: tuple[str, ...] = ()

    @property
    def limit(self):
        """Nothing."""
        return 0

    def levels(self, groups):
        """Count the records."""
        return groups.sizes.astype(np.float64)


def made(name: str) -> list[GroupModel]:
    return [MODELS[name](**entry["parameters"]) for entry in TOLD["models"][name]["promises"]]


def test_every_model_and_measure_of_the_catalogue_has_words():
    assert set(TOLD["models"]) == set(MODELS)
    assert all(model.description is not None for model in MODELS.values())
    measures = {key.partition(".")[0] for key in SAY.subset("measures")} - {"utility"}
    assert measures == {INFORMATION_LOSS, *METRICS}
    assert measures > SHARES
    assert set(SAY.subset("kinds.missing")) == {policy.value for policy in MissingPolicy}
    assert set(SAY.subset("kinds.roles")) == {BUCKET, *(role.value for role in Role)}
    assert set(SAY.subset("kinds.scales")) == {scale.value for scale in Scale}
    assert set(SAY.subset("kinds.cells")) == {kind.value for kind in CellType}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_is_told_as_it_always_was(name):
    told, models = TOLD["models"][name], made(name)
    words = model_texts(models[0])
    assert (words.title, words.level, words.open) == (told["title"], told["level"], told["open"])
    assert comparison_text(models[0]) == told["compared"]
    assert [words.sentence(model.parameters()) for model in models] == [each["words"] for each in told["promises"]]


@pytest.mark.parametrize("name", list(MODELS))
def test_every_part_of_a_model_has_words(name):
    for model in made(name):
        for part in model.parts if isinstance(model, Conjunction) else ():
            told = TOLD["parts"].get(part.name) or TOLD["models"][part.name]
            assert part.description is not None
            assert (part.description.title, part.description.level, comparison_text(part)) == (
                told["title"],
                told["level"],
                told["compared"],
            )


@pytest.mark.parametrize("name", list(MODELS))
def test_a_promise_tells_its_parameters_but_no_values(name):
    for model in made(name):
        sentence = model_texts(model).sentence(model.parameters())
        assert "{" not in sentence
        assert name == "alpha-k-anonymity" or "flu" not in sentence
        for value in model.parameters().values():
            if isinstance(value, float):
                assert f"{value:g}" in sentence


def test_a_flag_adds_a_sentence_where_it_is_set():
    words = MODELS["beta-likeness"].description
    plain = words.sentence({"beta": 1, "sensitive": "disease", "enhanced": False})
    enhanced = words.sentence({"beta": 1, "sensitive": "disease", "enhanced": True})
    assert enhanced.removeprefix(plain) == " Frequent values are bounded more tightly, so that none becomes certain."


def test_a_promise_about_flagged_cells_speaks_of_buckets_wherever_a_sentence_begins():
    flagged = Schema(quasi_identifiers=["age"], sensitive=["disease"], flags={"disease": "private"})
    for model in (
        DistinctLDiversity(l=3, sensitive="disease"),
        MODELS["frequency-l-diversity"](l=3, sensitive="disease"),
    ):
        words = describe_model(model, flagged)["words"].lower()
        assert SAY("promises.bucket") in words
        assert "quasi-identifiers" not in words


def test_a_column_name_with_braces_is_only_a_name():
    assert "“{l}”" in DistinctLDiversity.description.sentence({"l": 3, "sensitive": "{l}"})


def test_what_brings_no_words_is_still_named_and_compared():
    assert model_texts(Wordless()).sentence({}).endswith(" keeps wordless.")
    assert comparison_text(Wordless()) == "above"
    assert metric_texts("x-loss").title == "x-loss"


def test_texts_that_a_model_was_given_are_told_only_if_they_are_columns_or_shown_values():
    given = AlphaKAnonymity(alpha=0.5, k=2, sensitive="disease", values=["flu", "HIV", "age"])
    assert describe_model(given, SCHEMA, {"flu"})["parameters"]["values"] == ["flu"]
    assert describe_model(Wordless(values=("flu", "HIV")), SCHEMA, {"flu"})["parameters"]["values"] == ["flu"]
    assert describe_model(KAnonymity(k=2, quasi=["age"]), SCHEMA, set())["parameters"]["quasi"] == ["age"]
    costs = [[0, 1], [1, 0]]
    close = MODELS["t-closeness"](t=0.2, sensitive="disease", distance="matrix", costs=costs)
    assert [list(row) for row in describe_model(close, SCHEMA, set())["parameters"]["costs"]] == costs


def test_no_words_call_a_release_by_what_it_is_not():
    told = f"{[model.description for model in MODELS.values()]} {[*SAY.entries.values()]}".lower()
    assert "anonymous" not in told
    assert "anonymized" not in told
