"""The facts of the internal report add up, agree with brute force, and survive JSON."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.report.facts import gather_facts
from sfumato.report.measurements import smallest_required_class
from sfumato.report.sections import disclosure_risk


@pytest.fixture(params=["release", "suppressing"])
def facts(request, parts):
    return gather_facts(*parts(request.getfixturevalue(request.param)))


def group_sizes(table: pa.Table, names) -> Counter:
    rows = Counter(zip(*(table[name].to_pylist() for name in names), strict=True))
    return Counter(dict(enumerate(rows.values())))


def test_group_sizes_count_every_record_and_every_group_once(facts):
    for side, rows in (("before", facts["rows"]["original"]), ("after", facts["rows"]["published"])):
        assert sum(size["records"][side] for size in facts["group_sizes"]) == rows
        assert sum(size["groups"][side] for size in facts["group_sizes"]) == facts["risk"][side]["groups"]


def test_one_bin_of_group_sizes_begins_at_the_smallest_size_promised(facts):
    assert facts["risk"]["smallest_promised"] == 5
    assert 5 in [size["from"] for size in facts["group_sizes"]]
    assert all(size["records"]["after"] == 0 for size in facts["group_sizes"] if size["from"] < 5)


def test_bars_count_every_record_once(facts):
    for attribute in facts["attributes"]:
        for side, rows in (("before", facts["rows"]["original"]), ("after", facts["rows"]["published"])):
            counted = sum(bar[side] for bar in attribute["bars"]) + attribute["other"][side]
            hidden = attribute["suppressed_cells"] if side == "after" else 0
            assert counted + attribute["missing"][side] + hidden == pytest.approx(rows, abs=1e-3), attribute["name"]
        assert attribute["unread_cells"] == 0


def test_rows_add_up(suppressing, parts):
    rows = gather_facts(*parts(suppressing))["rows"]
    assert rows == {"original": 613, "published": 576, "suppressed": 37}


@pytest.mark.parametrize(("which", "side"), [("original", "before"), ("published", "after")])
def test_risk_agrees_with_counting_by_hand(release, parts, schema, which, side):
    sizes = group_sizes(getattr(release, which), schema.quasi_identifiers).values()
    risk = gather_facts(*parts(release))["risk"][side]
    assert risk["groups"] == len(sizes)
    assert risk["smallest_group"] == min(sizes)
    assert risk["unique_records"] == sum(size for size in sizes if size == 1)
    assert risk["records_below"] == sum(size for size in sizes if size < 5)
    assert risk["highest_risk"] == pytest.approx(1 / min(sizes))
    assert risk["average_risk"] == pytest.approx(len(sizes) / sum(sizes))


def test_a_missing_cell_that_may_be_anything_lowers_the_risk_of_the_records_it_matches(parts):
    ages, sexes = [30, 30, 40, None], ["f", "f", "f", "f"]
    table = pa.table({"age": ages, "sex": sexes, "disease": ["flu", "cold", "flu", "cold"]})
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"], missing="matches-all")
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], seed=1)
    risk = gather_facts(*parts(release))["risk"]["before"]
    assert risk["smallest_group"] == 1
    assert risk["unique_records"] == 1
    assert risk["average_risk"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 2 + 1) / 4)


def test_exposure_agrees_with_counting_by_hand(release, parts, schema):
    facts = {kind["attribute"]: kind for kind in gather_facts(*parts(release))["exposure"]}
    assert list(facts) == [None, "disease"]
    for which, side in (("original", "before"), ("published", "everybody")):
        groups = Counter(
            zip(*(getattr(release, which)[name].to_pylist() for name in schema.quasi_identifiers), strict=True)
        )
        names = (*schema.quasi_identifiers, "disease")
        values = Counter(zip(*(getattr(release, which)[name].to_pylist() for name in names), strict=True))
        identity = [1 / groups[row[:-1]] for row in values.elements()]
        disease = [values[row] / groups[row[:-1]] for row in values.elements()]
        for attribute, expected in ((None, identity), ("disease", disease)):
            figures = facts[attribute][side]
            assert figures["maximum"] == pytest.approx(max(expected))
            assert figures["mean"] == pytest.approx(sum(expected) / len(expected))
            assert figures["at_maximum"] == sum(each == max(expected) for each in expected)
            assert figures["histogram"]["1"] == sum(each == 1 for each in expected)


def test_exposure_counts_every_person_once_and_names_rows_by_number(facts):
    for kind in facts["exposure"]:
        for side, rows in (("before", "original"), ("after", "original"), ("everybody", "published")):
            assert sum(kind[side]["histogram"].values()) == facts["rows"][rows]
        assert len(set(kind["riskiest"])) == 10
        assert all(0 <= row < facts["rows"]["original"] for row in kind["riskiest"])
    identity = facts["exposure"][0]
    assert identity["after"]["maximum"] <= identity["everybody"]["maximum"] <= 1 / 5 < identity["before"]["maximum"]


def test_a_table_that_is_too_long_has_no_exposure(release, parts, monkeypatch):
    monkeypatch.setattr(disclosure_risk, "MAX_ROWS", 612)
    assert gather_facts(*parts(release))["exposure"] is None
    monkeypatch.setattr(disclosure_risk, "MAX_ROWS", 613)
    assert gather_facts(*parts(release))["exposure"] is not None


def test_a_table_without_sensitive_attributes_exposes_identities_only(parts):
    table = pa.table({"note": ["x", "y", "z"]})
    release = sf.anonymize(table, sf.Schema(insensitive=["note"]), [sf.models.KAnonymity(k=2)], seed=1)
    (identity,) = gather_facts(*parts(release))["exposure"]
    assert identity["attribute"] is None
    assert identity["before"] == identity["after"] == identity["everybody"]
    assert identity["after"]["maximum"] == pytest.approx(1 / 3)


def test_levels_of_the_original_stand_beside_the_promise(release, parts):
    facts = gather_facts(*parts(release))
    assert [promise["before"] for promise in facts["promise"]] == [1, 1]
    assert facts["audit"] == release.audit.to_dict()


def test_facts_survive_json_and_repeat(release, parts):
    facts = gather_facts(*parts(release))
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert gather_facts(*parts(release)) == facts


def test_facts_name_what_is_not_published(facts):
    assert facts["left_out"] == ["height_cm"]
    assert facts["identifiers"] == ["full_name"]
    assert [column["name"] for column in facts["columns"]] == ["age", "postcode", "job", "admitted", "disease", "cost"]


def test_facts_hold_no_record_and_no_identifier(facts):
    assert "Xanthippe" not in json.dumps(facts)


def test_every_release_of_the_same_recipe_gives_the_same_facts_whatever_the_dataframe(schema, release, parts):
    import polars as pl

    again = sf.anonymize(pl.from_arrow(release.original), schema, release.recipe.models, seed=release.recipe.seed)
    assert gather_facts(*parts(again)) == gather_facts(*parts(release))


def test_the_smallest_promised_size_is_the_largest_that_any_model_needs():
    models = [sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=8, sensitive="disease")]
    assert smallest_required_class(models, ["age"]) == 8
    assert smallest_required_class([sf.models.TCloseness(t=0.2, sensitive="disease")], ["age"]) == 1


def test_a_promise_about_some_quasi_identifiers_says_nothing_about_groups_on_all():
    models = [sf.models.KAnonymity(k=3), sf.models.KAnonymity(k=9, quasi=["age"])]
    assert smallest_required_class(models, ["age", "zip"]) == 3
    assert smallest_required_class(models, ["age"]) == 9
    assert smallest_required_class(models[1:], ["age", "zip"]) == 1
