"""WP216: singling out, linkability and inference, each with evidence."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.risk.assessment import assess_risk

SCHEMA = Schema(identifiers=["code"], quasi_identifiers=["age"], sensitive=["disease"])


def judged(table, schema=SCHEMA, **options):
    found = assess_risk(pa.table(table), schema, **options).check_compliance("wp216")
    return {finding.name: finding for finding in found.findings}


def test_a_unique_record_fails_all_three():
    found = judged({"age": [30, 30, 40], "disease": ["flu", "cold", "ulcer"]})
    assert [finding.passed for finding in found.values()] == [False, False, False]
    assert found["singling out"].figures["unique_records"] == 1
    assert found["inference of disease"].figures["certain_records"] == 1


def test_groups_single_nobody_out_and_can_still_be_linked():
    found = judged({"age": [30, 30, 40, 40], "disease": ["flu", "cold", "flu", "ulcer"]})
    assert found["singling out"].passed is True
    assert found["linkability"].passed is None
    assert found["inference of disease"].passed is True
    assert found["inference of disease"].figures["highest_chance"] == 0.5


def test_a_group_that_shares_its_value_gives_it_away():
    found = judged({"age": [30, 30, 40, 40], "disease": ["flu", "flu", "flu", "ulcer"]})
    assert found["inference of disease"].passed is False
    assert found["inference of disease"].figures["certain_records"] == 2


def test_a_likely_guess_is_open():
    found = judged({"age": [30] * 3 + [40] * 2, "disease": ["flu", "flu", "cold", "flu", "ulcer"]})
    assert found["inference of disease"].passed is None
    assert found["inference of disease"].figures["likely_records"] == 3


def test_a_missing_value_may_be_the_most_frequent_one():
    found = judged({"age": [30] * 3, "disease": pa.array(["flu", "flu", None])})
    assert found["inference of disease"].passed is False


def test_a_group_whose_values_are_all_suppressed_gives_nothing_away():
    found = judged({"age": [30] * 2 + [40] * 2, "disease": ["*", "*", "flu", "cold"]})
    assert found["inference of disease"].passed is True


def test_values_in_buckets_are_guessed_by_their_shares():
    table = {"age": [30, 40, 30, 40], "disease": ["flu", "cold", "ulcer", "colitis"], "_bucket_disease": [0, 0, 0, 0]}
    found = judged(table)
    assert found["inference of disease"].figures["highest_chance"] == pytest.approx(0.25)


def test_an_identifier_in_the_table_links_records():
    found = judged({"code": ["a", "b"], "age": [30, 30], "disease": ["flu", "cold"]})
    assert found["linkability"].passed is False
    assert found["linkability"].figures["naming_columns"] == 1


def test_a_column_that_looks_like_an_identifier_links_records():
    found = judged({"contact": ["a@b.org", "c@d.org"], "age": [30, 30], "disease": ["flu", "cold"]})
    assert found["linkability"].passed is False


def test_without_sensitive_attributes_inference_is_open():
    found = judged({"age": [30, 30]}, Schema(quasi_identifiers=["age"]))
    assert found["inference"].passed is None


def test_a_known_population_is_evidence():
    found = judged({"age": [30], "disease": ["flu"]}, population=1000)
    assert found["singling out"].figures["uniques_in_population"] == 1000


def test_suppressed_rows_infer_nothing():
    found = judged({"age": ["*", "30", "30"], "disease": ["ulcer", "flu", "cold"]})
    assert found["inference of disease"].passed is True


def test_an_unknown_preset_is_refused():
    risk = assess_risk(pa.table({"age": [30, 30]}), Schema(quasi_identifiers=["age"]))
    with pytest.raises(InvalidParameterError, match=r"There is no preset 'hippa'; did you mean 'hipaa'\?"):
        risk.check_compliance("hippa")


def test_a_judgment_is_a_table_and_never_a_score():
    risk = assess_risk(pa.table({"age": [30, 30], "disease": ["flu", "cold"]}), SCHEMA)
    found = risk.check_compliance("wp216")
    assert "singling out" in repr(found)
    assert found._repr_html_().startswith("<table>")
    assert not hasattr(found, "score")
    assert set(found.to_dict()) == {"preset", "title", "failed", "open", "findings", "limits", "told"}
