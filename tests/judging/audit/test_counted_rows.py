"""A table that is audited by its distinct rows and their counts is judged as if every record had its row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from counted_rows import MODELS_ASKED, counted_rows, published_tables, schema_of
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import METRICS, MODELS
from sfumato.tables.audit import _truthfulness
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.masking._apply import MaskingRecord
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.published import _counting, _sensitive_values
from strategies import JOBS

# Models of buckets are refused beyond memory, so nothing counts rows for them.
OF_TABLES = [model for model in MODELS_ASKED if not model.needs_population and not model.applies_to_buckets]


def told(evidence: AuditContext, models, **options) -> object:
    """Return everything that an audit says, groups in an order of their own; or why it refuses."""
    try:
        audit = audit_context(evidence, models, **options)
        groups = [sorted(map(str, audit.per_group(model).to_pylist())) for model in models]
    except (SchemaError, InvalidParameterError) as error:
        return str(error)
    return audit.to_dict(), repr(audit), sorted(audit.sizes.tolist()), groups


def test_all_models_of_the_catalogue_are_asked():
    assert {model.name for model in MODELS_ASKED} == set(MODELS)


@examples(80)
@given(
    published_tables(),
    st.sampled_from(MissingPolicy),
    st.lists(st.sampled_from(OF_TABLES), min_size=3, max_size=6),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_counts_are_judged_as_their_records(table, missing, models, ignored, random):
    schema, models = schema_of(missing), [sf.models.XYAnonymity(k=2, y="disease", x=["job"], h=0.7), *models]
    shown, weights = counted_rows(table, random)
    by_rows, by_counts = AuditContext(table, schema), AuditContext(shown, schema, weights=weights)
    assert by_counts.records == by_counts.table.rows == table.num_rows
    assert told(by_counts, models, ignore_suppressed=ignored) == told(by_rows, models, ignore_suppressed=ignored)


PERSONS = st.tuples(st.sampled_from([18, 19, 20]), st.none() | st.sampled_from(["clerk", "sailor", "diver"]))


@given(st.lists(PERSONS, min_size=1, max_size=20), st.data())
def test_counts_are_compared_with_a_population_as_their_records(persons, data):
    schema = Schema(
        quasi_identifiers=["age", "job"], hierarchies={"job": JOBS}, missing=data.draw(st.sampled_from(MissingPolicy))
    )
    names, (ages, jobs) = ["age", "job"], zip(*persons, strict=True)
    people = pa.table([pa.array(ages, pa.int64()), pa.array(jobs, pa.string())], names)
    inside = people.filter(pa.array(data.draw(st.lists(st.booleans(), min_size=len(persons), max_size=len(persons)))))
    if not inside.num_rows:
        return
    rounded = {"18": "[18, 19]", "19": "[18, 19]"} if data.draw(st.booleans()) else {}
    cells = [rounded.get(str(age), str(age)) for age in inside["age"].to_pylist()]
    table = inside.set_column(0, "age", pa.array(cells))
    shown, weights = counted_rows(table, data.draw(st.randoms(use_true_random=False)))
    models = [
        sf.models.KMap(k=4, fraction=0.5),
        sf.models.KMap(k=4),
        sf.models.DeltaPresence(delta_min=0.1, delta_max=0.9),
    ]
    by_rows = told(AuditContext(table, schema), models, population=people)
    assert told(AuditContext(shown, schema, weights=weights), models, population=people) == by_rows


ORIGINALS = st.tuples(
    st.none() | st.integers(18, 20),
    st.none() | st.sampled_from(["clerk", "sailor", "diver"]),
    st.sampled_from(["flu", "cold"]),
    st.integers(0, 1),
)


@st.composite
def tables_with_originals(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    """Draw an original and what is published of it, which may be wrong."""
    distinct = draw(st.lists(ORIGINALS, min_size=1, max_size=5))
    known = (18, *distinct[0][1:])  # centers need a value
    persons = [known, *draw(st.lists(st.sampled_from(distinct), max_size=8))]
    shown = draw(published_tables(most_rows=9))
    names = ["age", "job", "disease", "pay"]
    kinds = [pa.int64(), pa.string(), pa.string(), pa.int64()]
    columns = [pa.array(each, kind) for each, kind in zip(zip(*persons, strict=True), kinds, strict=True)]
    return shown.slice(0, len(persons) if draw(st.booleans()) else None), pa.table(columns, names)


@examples(80)
@given(tables_with_originals(), st.sampled_from(MissingPolicy), st.booleans(), st.data())
def test_counts_are_as_true_as_their_records(tables, missing, centers, data):
    table, original = tables
    masking = MaskingRecord(perturbed=tuple(data.draw(st.lists(st.sampled_from(["age", "disease"]), unique=True))))
    schema = schema_of(missing)
    shown, weights = counted_rows(table, data.draw(st.randoms(use_true_random=False)))
    persons, of_persons = counted_rows(original, data.draw(st.randoms(use_true_random=False)))
    by_rows = AuditContext(table, schema, original=original, centers=centers, masking=masking)
    by_counts = replace(by_rows, published=shown, weights=weights, original=persons, original_weights=of_persons)
    found = told(by_rows, [sf.models.KAnonymity(k=2)])
    assert told(by_counts, [sf.models.KAnonymity(k=2)]) == found
    assert told(replace(by_rows, published=shown, weights=weights), [sf.models.KAnonymity(k=2)]) == found


@given(tables_with_originals(), st.sampled_from(MissingPolicy), st.randoms(use_true_random=False))
def test_a_counted_original_is_judged_as_its_records(tables, missing, random):
    table, original = tables
    schema = schema_of(missing)
    persons, weights = counted_rows(original, random)
    raw = AuditContext(table, schema, original=original).raw
    counted = AuditContext(table, schema, original=persons, original_weights=weights).raw
    assert counted.records == original.num_rows
    assert told(counted, OF_TABLES[:6], compare=False) == told(raw, OF_TABLES[:6], compare=False)


@given(published_tables(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_counts_have_lost_as_much_as_their_records(table, suppressed, random):
    schema = schema_of(MissingPolicy.OWN_VALUE)
    shown, weights = counted_rows(table, random)
    by_rows, by_counts = AuditContext(table, schema), AuditContext(shown, schema, weights=weights)
    measured = [MetricInput.of(each.table, suppressed, each.groups.histograms) for each in (by_rows, by_counts)]
    for measure in METRICS.values():
        assert measure.compute(measured[1]) == pytest.approx(measure.compute(measured[0]), rel=1e-12)


FLAGGED = Schema(quasi_identifiers=["age", "job"], sensitive=["disease"], flags={"disease": "hidden"})
BUCKETED = pa.table(
    {
        "age": ["18", "18", "18", "19"],
        "job": ["clerk"] * 4,
        "disease": ["flu", "flu", "cold", "cold"],
        "_bucket_disease": [0, 0, 0, None],
    }
)


def test_buckets_of_flagged_cells_are_counted_in_records():
    by_rows = AuditContext(BUCKETED, FLAGGED)
    by_counts = AuditContext(BUCKETED.take([0, 2, 3]), FLAGGED, weights=np.array([2, 1, 1]))
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
    assert told(by_counts, models) == told(by_rows, models)
    assert audit_context(by_counts, models).verdicts[0].level == 1.5


def test_rounded_expectations_are_counted_in_records(monkeypatch):
    monkeypatch.setattr(_sensitive_values, "MAX_COUNT", 0)
    table = pa.table(
        {
            "age": ["18", "19", "19", "19", "19"],
            "disease": ["flu", "cold", "cold", "flu", "ulcer"],
            "_bucket_disease": [0, 0, 0, 1, None],
        }
    )
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    shown, weights = table.take([0, 4, 1, 3]), np.array([1, 1, 2, 1])
    found = AuditContext(shown, schema, weights=weights).groups.histograms["disease"]
    expected = AuditContext(table, schema).groups.histograms["disease"]
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.sizes.tolist() == [_counting.ROUNDED_SCALE, 4 * _counting.ROUNDED_SCALE]


def test_records_that_are_set_aside_are_counted():
    table = pa.table({"age": ["18", "*"], "job": ["clerk", "*"]})
    evidence = AuditContext(table, Schema(quasi_identifiers=["age", "job"]), weights=np.array([3, 4]))
    found = audit_context(evidence, [sf.models.KAnonymity(k=3)], ignore_suppressed=True)
    assert (found.records, found.set_aside, found.sizes.tolist(), found.holds) == (3, 4, [3], True)


def test_a_population_that_is_smaller_than_the_records_is_refused():
    evidence = AuditContext(pa.table({"age": ["18"]}), Schema(quasi_identifiers=["age"]), weights=np.array([3]))
    with pytest.raises(SchemaError, match="2 rows but the published table 3"):
        audit_context(evidence, (), population=pa.table({"age": [18, 18]}))


def test_centers_are_compared_by_records():
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    shown = pa.table({"age": [25.0, 25.0, 40.0], "disease": ["flu", "cold", "cold"]})
    original = pa.table({"age": [20, 30, 20], "disease": ["flu", "flu", "cold"]})
    evidence = AuditContext(
        shown,
        schema,
        original=original,
        centers=True,
        weights=np.array([3, 2, 2]),
        original_weights=np.array([1, 1, 6]),
    )
    found = audit_context(evidence, ()).truth
    assert (found.rows_in, found.rows_out, found.unmatched, found.false_cells) == (8, 7, 1, 2)


def test_flagged_cells_of_a_counted_original_are_refused():
    original = BUCKETED.drop_columns("_bucket_disease").append_column("hidden", pa.array([True] * 4))
    evidence = AuditContext(BUCKETED, FLAGGED, original=original, original_weights=np.ones(4, dtype=np.int64))
    with pytest.raises(InvalidParameterError, match="single records"):
        _ = evidence.raw
    with pytest.raises(SchemaError, match="without the correspondence"):
        audit_context(evidence, ())


@pytest.mark.parametrize(
    "weights", [np.array([1, 1, 1]), np.array([1, 0, 1, 1]), np.ones(4), np.ones((4, 1), dtype=int)]
)
def test_weights_are_numbers_of_records(weights):
    with pytest.raises(InvalidParameterError, match="weights must hold for each of the 4 rows"):
        AuditContext(BUCKETED, FLAGGED, weights=weights)
    with pytest.raises(InvalidParameterError, match="original_weights must hold for each of the 4 rows"):
        AuditContext(BUCKETED, FLAGGED, original=BUCKETED, original_weights=weights)


def test_weights_without_an_original_are_refused():
    with pytest.raises(InvalidParameterError, match="original_weights"):
        AuditContext(BUCKETED, FLAGGED, original_weights=np.ones(4, dtype=np.int64))


def test_a_correspondence_of_counts_is_refused():
    weights = np.ones(4, dtype=np.int64)
    with pytest.raises(InvalidParameterError, match="leave the correspondence out"):
        AuditContext(BUCKETED, FLAGGED, original=BUCKETED, correspondence=np.arange(4), weights=weights)


def test_more_records_than_flows_can_count_are_refused():
    table = pa.table({"age": ["18"], "job": ["clerk"]})
    schema, weights = Schema(quasi_identifiers=["age", "job"]), np.array([_truthfulness.MOST_FLOWING + 1])
    evidence = AuditContext(table, schema, original=table, weights=weights, original_weights=weights)
    with pytest.raises(SchemaError, match="more than 2,147,483,647 records"):
        audit_context(evidence, ())


def test_sums_beyond_32_bits_are_exact():
    table = pa.table({"age": ["18", "18", "19"], "job": ["clerk"] * 3, "disease": ["flu", "cold", "flu"]})
    weights = np.array([3_000_000_001, 1, 2])
    schema = Schema(quasi_identifiers=["age", "job"], sensitive=["disease"])
    found = audit_context(AuditContext(table, schema, weights=weights), [sf.models.KAnonymity(k=3)])
    assert found.records == 3_000_000_004
    assert sorted(found.sizes.tolist()) == [2, 3_000_000_002]
    assert found.level("frequency-l-diversity") == 1
    assert found.verdicts[0].records == 2
