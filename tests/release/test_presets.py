"""Presets propose what they say: models for every sensitive column, judged by the rules that they are named after."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._locale.messages import LANGUAGES, load_messages
from sfumato.tables._pipeline.presets import PRESETS, get_preset


@pytest.fixture(scope="module")
def patients():
    return sf.datasets.generate_hospital(600, seed=3)


@pytest.fixture(scope="module")
def found(patients):
    return sf.inspect(patients)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_proposed_and_is_not_refused(name, patients, found):
    recipe = sf.propose_recipe(found, patients, preset=name)
    assert sf.check(recipe, patients) == ()
    assert sf.Recipe.from_dict(recipe.to_dict()) == recipe
    assert recipe.models[0] == sf.models.KAnonymity(k=PRESETS[name].k)
    assert recipe.max_suppressed == PRESETS[name].max_suppressed
    assert (
        {each for model in recipe.models for each in model.sensitive_attributes}
        == set(recipe.schema.sensitive)
        != set()
    )


def test_without_a_preset_the_proposal_is_that_for_research_partners(patients, found):
    assert sf.propose_recipe(found, patients) == sf.propose_recipe(found, patients, preset="research-partner")


def test_only_the_usual_proposal_is_lowered_to_what_a_small_table_can_keep(patients):
    few = patients.slice(0, 3)
    inspected = sf.inspect(few)
    assert sf.propose_recipe(inspected, few).models[0] == sf.models.KAnonymity(k=3)
    assert sf.propose_recipe(inspected, few, preset="colleagues").models[0] == sf.models.KAnonymity(k=3)
    with pytest.raises(
        sf.errors.InvalidParameterError, match="wants at least 12 records in every group, and the table has 3"
    ):
        sf.propose_recipe(inspected, few, preset="ema")


def test_a_value_too_frequent_for_a_preset_is_not_published(patients):
    flags = pa.array([row % 3 == 0 for row in range(patients.num_rows)]).cast("int64")
    table = patients.append_column("hospital_expire_flag", flags)
    inspected = sf.inspect(table)
    assert "hospital_expire_flag" in sf.propose_recipe(inspected, table).schema.sensitive
    recipe = sf.propose_recipe(inspected, table, preset="wp216")
    assert "hospital_expire_flag" not in recipe.schema.attributes
    assert sf.check(recipe, table) == ()
    assert sf.inspect(table, preset="wp216").models == recipe.models


def test_inspecting_in_python_proposes_the_models_of_the_command_line(patients, found):
    assert found.models == sf.propose_recipe(found, patients).models
    assert found.to_dict()["models"][0] == {"name": "k-anonymity", "k": 5}
    assert "KAnonymity(k=5)" in found._repr_html_()


def carried_out(patients, preset):
    table = patients.select(["age", "sex", "disease"])
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])
    recipe = sf.Recipe(schema=schema, models=(sf.models.KAnonymity(k=1),), algorithm=sf.algorithms.Mondrian())
    return sf.run_recipe(PRESETS[preset].applied(recipe), table).frame, schema


@pytest.mark.parametrize(("preset", "k"), [("ema", 12), ("ema-usual", 11)])
def test_both_readings_of_the_threshold_pass_the_rule(preset, k, patients):
    published, schema = carried_out(patients, preset)
    assert PRESETS[preset].k == k
    assert 1 / k <= (0.09 if preset == "ema" else 1 / 11)
    assert sf.assess_risk(published, schema).check_compliance("ema").failed == ()


def test_the_three_questions_of_the_opinion_are_answered_as_the_reason_says(patients):
    published, schema = carried_out(patients, "wp216")
    judged = {each.name: each.passed for each in sf.assess_risk(published, schema).check_compliance("wp216").findings}
    assert judged == {"singling out": True, "linkability": None, "inference of disease": True}


def test_a_value_that_more_than_half_of_all_have_is_refused_as_the_reason_says():
    table = pa.table({"age": list(range(12)), "disease": ["flu"] * 7 + ["cold"] * 5})
    recipe = sf.propose_recipe(sf.inspect(table), table, preset="wp216")
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    recipe = get_preset("wp216").applied(replace(recipe, schema=schema))
    assert [type(each.error) for each in sf.check(recipe, table)] == [sf.errors.InfeasibleError]


def test_a_column_with_one_value_and_flagged_cells_get_what_they_can_keep():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease", "ward"], flags={"age": "hide_age"})
    models = PRESETS["open-data"].models(schema, distinct={"ward": 1, "disease": 4}, ordered=["disease"])
    assert models == (
        sf.models.KAnonymity(k=20),
        sf.models.DistinctLDiversity(l=2, sensitive="disease"),
        sf.models.TCloseness(t=0.2, sensitive="disease", distance="ordered"),
        sf.models.DistinctLDiversity(l=2, sensitive="age"),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_preset_has_a_title_a_note_and_a_reason_that_names_its_number(language):
    say = load_messages(language)
    for name, preset in PRESETS.items():
        assert say(f"presets.{name}.title")
        told = say(f"presets.{name}.note") + say(f"presets.{name}.reason")
        assert name == "open-data" or str(preset.k) in told
    assert PRESETS["ema"].title == "EMA 0.09, read strictly"
    assert "12" in PRESETS["ema"].reason


def test_an_unknown_preset_is_refused_with_a_hint():
    with pytest.raises(
        sf.errors.InvalidParameterError, match="There is no preset 'opendata'; did you mean 'open-data'"
    ):
        get_preset("opendata")
