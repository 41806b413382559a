"""A table that was judged by counts of its distinct rows is reported as if every record had its row."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from counted_rows import counted_rows
from sfumato.core.bundle import ReleaseBundle
from sfumato.core.writing import render
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._columns import strip_metadata
from sfumato.report.facts import comparison_facts, gather_facts, nearly_unique_texts
from sfumato.report.guarantee import make_data_dictionary, make_guarantee
from sfumato.report.measurements import ReleaseMeasurements
from sfumato.report.sections.attacks import published_attack_facts
from sfumato.report.sections.disclosure_risk import published_disclosure_risk_facts
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._piecewise import audit_pieces
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.metrics.utility import utility_of_context
from sfumato.tables.published._sensitive_values import SensitiveTotals
from sfumato.tables.risk.disclosure import disclosure_risk_of, explain_disclosure_risk, risk_given_group

OF_RECORDS = ("exposure", "attacks", "utility")


@pytest.fixture(scope="module", params=["mondrian", "suppressing", "buckets"])
def handovers(request, release, schema) -> tuple[ReleaseBundle, ReleaseBundle]:
    """Make a release in which records repeat; hand it over as rows, and as counts."""
    schema = replace(schema, identifiers=())
    persons = release.original.slice(530).select(schema.attributes)
    persons = persons.set_column(
        persons.column_names.index("cost"), "cost", pa.array(np.round(np.asarray(persons["cost"]), -3))
    )
    table = pa.concat_tables([persons, persons.slice(0, 70), persons.slice(20)])
    by_rows = sf.anonymize(table, schema, [sf.models.KAnonymity(k=5)])._bundle()
    evidence = replace(by_rows.evidence, published=strip_metadata(by_rows.evidence.published))
    if request.param == "suppressing":
        more = pa.concat_tables([evidence.original, evidence.original.slice(60)])
        evidence = replace(evidence, original=more)
    if request.param == "buckets":
        buckets = evidence.published["age"].dictionary_encode().combine_chunks().indices
        some = pa.array(np.where(np.asarray(buckets) == 1, None, np.asarray(buckets)), pa.int64())
        evidence = replace(evidence, published=evidence.published.append_column("_bucket_disease", some))
    by_rows = replace(by_rows, evidence=evidence, audit=audit_context(evidence, by_rows.models))
    draw = random.Random(3)
    shown, weights = counted_rows(evidence.published, draw)
    original, original_weights = counted_rows(evidence.original, draw)
    assert max(weights) > 1
    counted = AuditContext(shown, schema, original=original, weights=weights, original_weights=original_weights)
    audit = replace(audit_context(counted, by_rows.models, compare=False), truth=by_rows.audit.truth)
    return by_rows, replace(by_rows, evidence=counted, audit=audit)


def sorted_bars(facts: dict) -> dict:
    """Order values of equal frequency by their text: which comes first in a table of counts means nothing."""
    for attribute in facts["attributes"]:
        if attribute["kind"] == "values":
            attribute["bars"].sort(key=lambda bar: (-bar["before"], bar["text"]))
    return facts


def gathered(handover: ReleaseBundle) -> dict:
    judged = ReleaseMeasurements(handover)
    return sorted_bars(gather_facts(judged, judged.public_context, make_data_dictionary(judged.public_context)))


def test_facts_are_those_of_the_records(handovers):
    by_rows, by_counts = map(gathered, handovers)
    assert by_rows.pop("counted") is False
    assert by_counts.pop("counted") is True
    for part in OF_RECORDS:
        by_rows.pop(part)
        assert by_counts.pop(part) is None
    assert set(by_rows) == set(by_counts)
    for name, told in by_rows.items():
        if name == "attributes":
            assert [each["name"] for each in by_counts[name]] == [each["name"] for each in told]
            for mine, theirs in zip(by_counts[name], told, strict=True):
                assert mine["bars"] == [
                    {**bar, "after": pytest.approx(bar["after"], abs=1e-5)} for bar in theirs["bars"]
                ], mine["name"]
                assert {**mine, "bars": None, "other": None} == {**theirs, "bars": None, "other": None}
                assert mine["other"] == pytest.approx(theirs["other"], abs=1e-5)
        else:
            assert by_counts[name] == told, name


def test_receivers_are_told_the_same(handovers):
    shown = [ReleaseMeasurements(each).public_context for each in handovers]
    assert make_data_dictionary(shown[1]) == make_data_dictionary(shown[0])
    promises = [
        make_guarantee(each.models, audit_context(seen, each.models))
        for each, seen in zip(handovers, shown, strict=True)
    ]
    assert promises[1] == promises[0]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_says_what_it_leaves_out(handovers, language):
    told = [render(json.loads(json.dumps(gathered(each))), language) for each in handovers]
    left_out = {"en": "counting equal records", "zh": "相同记录的计数"}[language]
    assert [page.count(left_out) for page in told] == [0, 3]


def test_releases_are_compared_without_what_needs_records(handovers):
    facts = comparison_facts(ReleaseMeasurements(handovers[1]))
    assert [facts[part] for part in OF_RECORDS] == [None, None, None]
    assert published_disclosure_risk_facts(handovers[1].evidence) is None
    assert published_attack_facts(handovers[1].evidence, ()) is None


@pytest.mark.parametrize(
    "judge",
    [disclosure_risk_of, risk_given_group, utility_of_context, lambda evidence: explain_disclosure_risk(evidence, 0)],
    ids=["exposure", "groups", "utility", "reasons"],
)
def test_judges_of_single_records_refuse_counts(handovers, judge):
    with pytest.raises(InvalidParameterError, match="looks at single records"):
        judge(handovers[1].evidence)


def test_a_table_that_was_audited_in_pieces_is_reported_by_its_groups(handovers):
    _, by_counts = handovers
    known, models = by_counts.evidence, (*by_counts.models, sf.models.DistinctLDiversity(l=1, sensitive="disease"))
    shown, schema, weights = known.published, known.schema, known.weights
    values = {name: (shown[name], weights) for name in schema.sensitive}
    totals = SensitiveTotals.count(int(weights.sum()), values, schema)
    first = np.asarray(shown["age"].dictionary_encode().combine_chunks().indices) % 2 == 0
    pieces = (
        AuditContext(shown.filter(pa.array(mine)), schema, weights=weights[mine], totals=totals)
        for mine in (first, ~first)
    )
    if "_bucket_disease" in shown.column_names:
        with pytest.raises(SchemaError, match="cannot be judged in pieces"):
            audit_pieces(pieces, models)
        return
    groups = replace(
        known,
        published=shown.select(schema.quasi_identifiers),
        original=known.source.select(schema.quasi_identifiers),
        schema=schema.select_quasi_identifiers(),
    )
    truth = by_counts.audit.truth
    of_pieces = replace(audit_pieces(pieces, models), truth=truth)
    of_whole = replace(audit_context(known, models, compare=False), truth=truth)
    found = gathered(replace(by_counts, evidence=groups, models=models, audit=of_pieces))
    whole = gathered(replace(by_counts, models=models, audit=of_whole))
    assert whole["promise"][1].pop("before") == 1  # of which nothing is known where groups alone are
    for part in ("audit", "promise", "words", "risk", "rows", "unpromised", "group_sizes", "measures", "extremes"):
        assert found[part] == whole[part], part
    assert found["attributes"] == [each for each in whole["attributes"] if each["role"] == "quasi"]
    assert render(found)


def test_telling_texts_are_compared_with_records():
    notes = pa.table({"age": ["30"] * 30, "note": [f"note {at}" for at in range(30)]})
    schema, weights = sf.Schema(quasi_identifiers=["age"], insensitive=["note"]), np.ones(30, dtype=np.int64)
    assert nearly_unique_texts(AuditContext(notes, schema, weights=weights)) == [
        {"attribute": "note", "distinct": 30, "records": 30}
    ]
    assert nearly_unique_texts(AuditContext(notes, schema, weights=2 * weights)) == []
