"""Verdicts on models that are made of others tell what each part reaches."""

from __future__ import annotations

import json

import pyarrow as pa

from sfumato.schema.schema import Schema
from sfumato.tables.audit._audit_table import audit
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity

PUBLISHED = pa.table(
    {
        "age": ["20-29", "20-29", "20-29", "30-39", "30-39", "30-39"],
        "disease": ["HIV", "cancer", "cancer", "flu", "HIV", "cold"],
    }
)
SCHEMA = Schema(quasi_identifiers=["age"], sensitive=["disease"])
LEVELS = {"HIV": "high", "cancer": "high", "flu": "low", "cold": "low"}


def judged(*models):
    return audit(PUBLISHED, SCHEMA, models)


def test_every_part_has_a_verdict_of_its_own():
    (verdict,) = judged(HPKAnonymity(h=2, p=2, k=3, sensitive="disease", sensitivity_levels=LEVELS)).verdicts
    assert not verdict.holds
    assert (verdict.level, verdict.groups, verdict.records) == (0.5, 1, 3)
    assert [(part.model.name, part.level, part.holds, part.records) for part in verdict.parts] == [
        ("k-anonymity", 3, True, 0),
        ("distinct-l-diversity", 2, True, 0),
        ("distinct-categories", 1, False, 3),
    ]


def test_parts_are_in_the_dictionary_and_it_is_json():
    audit = judged(PSensitiveKAnonymity(p=2, k=4, sensitive="disease"), KAnonymity(k=3))
    told = [verdict.to_dict() for verdict in audit.verdicts]
    assert [part["model"] for part in told[0]["parts"]] == ["k-anonymity", "distinct-l-diversity"]
    assert [part["margin"] for part in told[0]["parts"]] == [-1, 0]
    assert "parts" not in told[1]
    assert json.loads(json.dumps(told)) == told


def test_the_table_of_an_audit_does_not_tell_values():
    shown = repr(judged(HPKAnonymity(h=2, p=2, k=3, sensitive="disease", sensitivity_levels=LEVELS)))
    assert "HPKAnonymity(h=2, p=2, k=3, sensitive='disease')" in shown
    assert not any(value in shown for value in LEVELS)
