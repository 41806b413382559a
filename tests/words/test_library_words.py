"""What the library says of its own accord has words in every language; plugins fall back to their own."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from inspect import isabstract
from string import Formatter

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._locale.messages import LANGUAGES, LocalizedText, load_messages, quote_names
from sfumato.core._descriptions import ModelDescription
from sfumato.core.attack import INFERENCE, LINKABILITY, SINGLING_OUT, Attack
from sfumato.report.texts import masking_step_texts, metric_texts, model_texts
from sfumato.tables._catalogue import MASKING_STEPS, MODELS
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.audit.audit import UnprotectedAttribute
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.solution import LossBound, OptimalityProof
from sfumato.tables.risk._hipaa import IDENTIFIERS
from sfumato.tables.risk._regulations import PRESETS

OTHERS = [each for each in LANGUAGES if each != "en"]
HAN = re.compile(r"[\u4e00-\u9fff]")


def fields_of(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def below(kind):
    return {each for child in kind.__subclasses__() for each in (child, *below(child))}


def all_models():
    assert MODELS  # loads every file
    packages = ("sfumato.tables.models.", "sfumato.tables.series.models.")
    ours = {each for each in below(GroupModel) if each.__module__.startswith(packages)}
    return sorted((each for each in ours - {Conjunction} if not isabstract(each)), key=lambda each: each.name)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.name)
def test_a_model_has_words_with_the_same_fields(model, language):
    own, found = model.description, model_texts(model, load_messages(language))
    assert found.language == language
    assert HAN.search(found.title + found.level)
    assert set(found.further) == set(own.further)
    pairs = [(own.further[key], found.further[key]) for key in own.further]
    if own.promise != ModelDescription(title="").promise:
        pairs += [(own.promise, found.promise), (own.open, found.open), (own.stops, found.stops)]
        assert all(HAN.search(text) for text in (found.promise, found.open, found.stops))
    for first, second in pairs:
        assert {each.lower() for each in fields_of(first)} == {each.lower() for each in fields_of(second)}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_names_the_attack_that_it_stops(name, language):
    assert re.fullmatch(r"[^：]{2,}：[^：]+。", model_texts(MODELS[name], load_messages(language)).stops)


@pytest.mark.parametrize("language", OTHERS)
def test_no_model_or_step_has_words_that_is_not_there(language):
    models = {key.partition(".")[0] for key in load_messages(language).subset("models")}
    assert models == {model.name for model in all_models()}
    steps = {key.partition(".")[0] for key in load_messages(language).subset("steps")}
    assert steps == set(MASKING_STEPS)
    assert set(load_messages(language).subset("masking.step")) == set(MASKING_STEPS)


@pytest.mark.parametrize("language", OTHERS)
def test_a_model_that_nobody_has_translated_says_its_own_words(language):
    own = ModelDescription(title="caution", promise="{Group} is cautious.")
    assert own.translated("caution", load_messages(language)) is own


@pytest.mark.parametrize("step", MASKING_STEPS, ids=str)
def test_a_step_has_words(step):
    told = {
        "step": step,
        "words": MASKING_STEPS[step].description.promise,
        "open": MASKING_STEPS[step].description.open,
    }
    found = masking_step_texts(told, load_messages("zh"))
    assert all(HAN.search(found[part]) for part in ("title", "words", "open"))
    assert masking_step_texts(told, load_messages("en")) == {**told, "title": step}
    unknown = {"step": "blur", "words": "Blurred.", "open": "All."}
    assert masking_step_texts(unknown, load_messages("zh")) == {**unknown, "title": "blur"}


def test_a_measure_that_nobody_has_translated_keeps_its_name():
    assert metric_texts("blur", load_messages("zh")).title == "blur"
    assert metric_texts("loss", load_messages("zh")).title == "损失"
    assert metric_texts("loss", load_messages("zh")).share


def test_attacks_and_their_questions_have_words():
    names = {each.name for each in below(Attack) if hasattr(each, "name")}
    assert names <= set(load_messages("en").subset("attacks.attack"))
    assert set(load_messages("en").subset("attacks.question")) == {SINGLING_OUT, LINKABILITY, INFERENCE}


def test_identifiers_of_the_safe_harbor_have_words():
    told = {each.title for each in IDENTIFIERS if each.letter not in {"B", "C"}}
    assert set(load_messages("zh").subset("risk.identifier")) == told


@pytest.mark.parametrize("preset", PRESETS)
def test_findings_are_told_in_every_language(preset):
    table = sf.datasets.generate_hospital(300, seed=2).append_column(
        "phone", pa.array([f"+49 30 {n:07}" for n in range(300)])
    )
    found = sf.assess_risk(
        table, sf.Schema(quasi_identifiers=["age", "zip", "admission"], sensitive=["disease"])
    ).check_compliance(preset)
    plain = json.loads(json.dumps(found.to_dict()))
    for language in LANGUAGES:
        say = load_messages(language)
        texts = [say.render(plain["told"]["title"]), say.render(plain["told"]["limits"])]
        texts += [say.render(each["told"][part]) for each in plain["findings"] for part in ("name", "sentence")]
        if language == "en":
            named = [each[part] for each in plain["findings"] for part in ("name", "sentence")]
            assert texts == [plain["title"], plain["limits"], *named]
        else:
            assert all(HAN.search(text) for text in texts)
            assert not any(re.search(r"[a-z]+ [a-z]+ [a-z]+", text) for text in texts)


def test_a_sentence_survives_copies_and_json():
    inner = LocalizedText("units.records", n=3)
    sentence = LocalizedText("risk.hipaa.both", first=inner, second="x")
    assert sentence == "3 records; x"
    assert sentence.render(load_messages("zh")) == "3 条记录；x"
    for other in (copy.deepcopy(sentence), pickle.loads(pickle.dumps(sentence))):  # noqa: S301 - made here
        assert (other, other.to_dict) == (sentence, sentence.to_dict)
    assert load_messages("zh").render(json.loads(json.dumps(sentence.to_dict))) == "3 条记录；x"


def test_names_are_quoted_as_a_language_quotes_them():
    sentence = LocalizedText("risk.wp216.named", columns=quote_names(["name", "it's"]))
    assert sentence == "People seem to be identified by 'name', \"it's\"."
    assert sentence.render(load_messages("zh")) == "以下列似乎能标识个人：“name”、“it's”。"


def test_how_good_a_search_was_is_told_in_chinese():
    found = OptimalityProof("loss", 0.25, 0.25, 1200, 3400)
    assert str(found) == "Proven best: loss 0.25; 1,200 of 3,400 recodings checked."
    assert found.describe.render(load_messages("zh")) == "已证明最优：损失 0.25；已检查 3,400 种重编码中的 1,200 种。"
    assert set(load_messages("zh").subset("search.objective")) == set(LOSSES)
    bounded = LossBound("loss", 0.25, 0.125).describe
    assert bounded == "Best found: loss 0.25; no local recoding of this table loses less than 0.125."
    assert bounded.render(load_messages("zh")) == "目前最优：损失 0.25；该表的任何局部重编码的损失都不低于 0.125。"
    assert LossBound("loss", 0.25, 0.25).describe.key == "search.reached"


def test_a_proof_names_the_table_that_groups_are_compared_with():
    plain = OptimalityProof("loss", 0.25, 0.25, 1200, 3400)
    published, original = (replace(plain, compared_with=table) for table in ("published", "original"))
    assert str(published) == f"{plain} Distributions are compared with that of the published table."
    assert original.describe.endswith("with that of the original table, suppressed records included.")
    assert original.describe.render(load_messages("zh")).endswith("种。分布与原始表的分布（包括被隐匿的记录）比较。")
    assert "or, as each model says, of the original" in str(replace(plain, compared_with="both"))


@pytest.mark.parametrize(("exposure", "said"), [(0.5, "最高可达 0.5"), (1.0, "可以确知其值")])
def test_what_is_not_promised_is_told_in_chinese(exposure, said):
    assert said in UnprotectedAttribute("disease", exposure, 12).sentence.render(load_messages("zh"))
