"""Precision, minimal distortion and the classification metric, against slow readings of their definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import METRICS, compute_metrics
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.metrics.base import MetricInput

ETHNICITY = sf.hierarchies.Taxonomy({"person": ["asian", "black", "white"], "nobody": ["unknown"]})
SWEENEY = Schema(
    quasi_identifiers=["ethnicity", "zip"], hierarchies={"ethnicity": ETHNICITY, "zip": sf.hierarchies.Prefixes()}
)
PRIVATE = pa.table(
    {
        "ethnicity": ["asian"] * 4 + ["black"] * 4 + ["white"] * 4,
        "zip": ["02138", "02139", "02141", "02142"] * 3,
    }
)
JOBS = {"clerk": "clerk", "lawyer": "lawyer", "farmer": "land", "sailor": "sea", "diver": "sea"}
AREAS = {"clerk": "office", "lawyer": "office", "land": "outdoors", "sea": "outdoors"}
TREE = sf.hierarchies.Taxonomy(
    {"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}}
)


def measured(shown: pa.Table, schema: Schema, original: pa.Table, suppressed: int = 0) -> MetricInput:
    evidence = AuditContext(shown, schema, original=original)
    return MetricInput.of(evidence.table, suppressed, evidence.groups.histograms)


def precision(shown: pa.Table, schema: Schema = SWEENEY, original: pa.Table = PRIVATE, suppressed: int = 0) -> float:
    return 1 - METRICS["lost-precision"].compute(measured(shown, schema, original, suppressed))


def changed(**columns) -> pa.Table:
    return pa.table({name: columns.get(name, PRIVATE[name]) for name in PRIVATE.column_names})


def test_the_original_has_precision_1_and_a_table_of_stars_0():
    assert precision(PRIVATE) == 1
    assert precision(changed(ethnicity=["*"] * 12, zip=["*****"] * 12)) == 0


def test_precision_of_one_column_at_the_first_level_is_as_the_definition_says():
    """Ethnicity has height 2 (values, person, *) and ZIP codes 5: 12 cells lose 1/2, or 12 cells lose 1/5."""
    assert precision(changed(ethnicity=["person"] * 12)) == pytest.approx(float(1 - Fraction(12, 2) / 24))
    assert precision(changed(zip=[text[:4] + "*" for text in PRIVATE["zip"].to_pylist()])) == pytest.approx(
        float(1 - Fraction(12, 5) / 24)
    )


def test_precision_counts_a_record_that_is_left_out_as_fully_generalized():
    assert precision(PRIVATE.slice(0, 9), suppressed=3) == pytest.approx(1 - 3 / 12)


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        ("farmer", 0),
        (None, 0),
        ("land", 1),
        ("sea", 1),
        ("outdoors", 2),
        ("*", 3),
        ("{sailor, diver}", 1),
        ("{farmer, diver}", 2),
        ("{clerk, diver}", 3),
        ("{}", 1),
        ("office", 2),
    ],
)
def test_a_cell_stands_on_the_lowest_level_around_what_it_covers(cell, level):
    schema, original = Schema(quasi_identifiers=["job"], hierarchies={"job": TREE}), pa.table({"job": list(JOBS)})
    shown = pa.table({"job": pa.array([cell], pa.string())})
    assert METRICS["lost-precision"].compute(measured(shown, schema, original)) == pytest.approx(level / 3)
    assert METRICS["minimal-distortion"].compute(measured(shown, schema, original)) == (level > 0)


def test_a_label_that_several_levels_share_has_the_lowest_of_them():
    rows = [["1 cm", "short", "short"], ["2 cm", "short", "short"], ["1 m", "rod", "long"], ["2 m", "pole", "long"]]
    schema = Schema(quasi_identifiers=["length"], hierarchies={"length": sf.hierarchies.Taxonomy.from_rows(rows)})
    original = pa.table({"length": ["1 cm", "2 cm", "1 m", "2 m"]})
    found = measured(pa.table({"length": ["short", "long"]}), schema, original)
    assert METRICS["lost-precision"].compute(found) == pytest.approx((1 / 3 + 2 / 3) / 2)


@pytest.mark.parametrize(("cell", "level"), [("20", 0), ("[20, 25]", 1), ("[20, 30)", 1), ("[20, 31]", 2), ("*", 3)])
def test_an_interval_of_another_algorithm_stands_where_a_node_holds_it(cell, level):
    schema = Schema(quasi_identifiers=["age"], hierarchies={"age": sf.hierarchies.Intervals(10, 20)})
    original = pa.table({"age": [20, 25, 30, 31, 45]})
    shown = pa.table({"age": [cell]})
    assert METRICS["lost-precision"].compute(measured(shown, schema, original)) == pytest.approx(level / 3)


def test_an_attribute_without_a_hierarchy_shows_its_value_or_not():
    original = pa.table({"sex": ["F", "M"], "age": [20, 30]})
    shown = pa.table({"sex": ["F", "{F, M}"], "age": ["[20, 30]", "*"]})
    found = measured(shown, Schema(quasi_identifiers=["sex", "age"]), original)
    assert METRICS["lost-precision"].compute(found) == pytest.approx(3 / 4)
    assert METRICS["minimal-distortion"].compute(found) == 3


JOB_ROWS = st.tuples(st.sampled_from(list(JOBS)), st.integers(0, 3), st.sampled_from("abc"), st.booleans())


@examples(60)
@given(st.lists(JOB_ROWS, min_size=1, max_size=12).filter(lambda rows: not all(row[3] for row in rows)))
def test_all_three_are_what_their_definitions_count(rows):
    """Every record has its own level; some records are left out."""
    steps = [lambda job: job, JOBS.get, lambda job: AREAS[JOBS[job]], lambda _: "*"]
    schema = Schema(quasi_identifiers=["job"], sensitive=["disease"], hierarchies={"job": TREE})
    original = pa.table({"job": list(JOBS), "disease": ["a", "b", "c", "a", "b"]})
    kept = [(steps[level](job), disease) for job, level, disease, gone in rows if not gone]
    lost = len(rows) - len(kept)
    shown = pa.table({"job": [job for job, _ in kept], "disease": [disease for _, disease in kept]})
    found = compute_metrics(measured(shown, schema, original, lost))

    levels = [min(at for at, step in enumerate(steps) if step(job) == steps[level](job)) for job, level, *_ in rows]
    heights = [3 if gone else level for level, (*_, gone) in zip(levels, rows, strict=True)]
    assert found["lost-precision"] == pytest.approx(sum(heights) / 3 / len(rows))
    assert found["minimal-distortion"] == sum(height > 0 for height in heights)
    groups = {job: Counter(disease for label, disease in kept if label == job) for job, _ in kept}
    wrong = sum(group.total() - max(group.values()) for group in groups.values())
    assert found["classification-metric"] == pytest.approx((wrong + lost) / len(rows))


def test_the_classification_metric_averages_sensitive_attributes():
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease", "salary"])
    table = pa.table({"age": [20] * 4, "disease": ["flu", "flu", "flu", "ulcer"], "salary": ["a", "b", "c", "d"]})
    found = METRICS["classification-metric"].compute(measured(table, schema, table))
    assert found == pytest.approx((1 / 4 + 3 / 4) / 2)


@pytest.mark.parametrize("policy", ["own-value", "matches-all"])
def test_a_missing_sensitive_value_is_never_the_most_frequent(policy):
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], missing=policy)
    table = pa.table({"age": [20] * 4, "disease": [None, None, None, "flu"]})
    assert METRICS["classification-metric"].compute(measured(table, schema, table)) == 3 / 4


def test_values_in_buckets_count_as_far_as_they_are_expected():
    """Each bucket holds two values once each, so every record agrees with one half of its bucket."""
    people = pa.table({"age": [20, 20, 40, 40], "disease": ["flu", "ulcer", "flu", "asthma"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    release = sf.anonymize(
        people,
        schema,
        models=[sf.models.FrequencyLDiversity(l=2, sensitive="disease")],
        algorithm=sf.algorithms.Anatomy(),
    )
    assert release.metrics["classification-metric"] == pytest.approx(1 / 2)


def test_without_sensitive_values_there_is_no_classification_metric():
    table = pa.table({"age": [20, 20]})
    assert "classification-metric" not in compute_metrics(measured(table, Schema(quasi_identifiers=["age"]), table))


@pytest.mark.parametrize(
    ("loss", "name"), [("precision", "lost-precision"), ("classification", "classification-metric")]
)
def test_what_a_search_minimizes_is_what_is_measured(loss, name):
    rows = [(job, age, "abc"[(age + number) % 3]) for number, job in enumerate(JOBS) for age in (20, 23, 31, 38, 52)]
    people = pa.table(dict(zip(("job", "age", "disease"), map(list, zip(*rows, strict=True)), strict=True)))
    schema = Schema(
        quasi_identifiers=["job", "age"],
        sensitive=["disease"],
        hierarchies={"job": TREE, "age": sf.hierarchies.Intervals(10, 20)},
    )
    algorithm = sf.algorithms.Optimal(loss=loss, target="disease" if loss == "classification" else None)
    release = sf.anonymize(people, schema, models=[sf.models.KAnonymity(k=4)], algorithm=algorithm, max_suppressed=0.3)
    assert release.metrics[name] == pytest.approx(release.proof.found)
