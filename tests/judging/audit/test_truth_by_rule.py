"""Truth by rule is compared with truth by row correspondence, and with counting record by record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted_rows import counted_rows
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._truth_by_rule import sum_truthfulness, truth_by_rule
from sfumato.tables.audit._truthfulness import Truthfulness
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.masking._apply import MaskingRecord
from strategies import JOBS

NAMES = ("age", "job", "disease", "city")
PERSONS = st.tuples(
    st.none() | st.integers(18, 20),
    st.none() | st.sampled_from(["clerk", "sailor", "diver"]),
    st.none() | st.sampled_from(["flu", "cold"]),
    st.sampled_from(["Basel", "Bern"]),
)
LABELS = {
    "age": st.none() | st.sampled_from(["18", "19", "[18, 19]", "19-20", "*"]),
    "job": st.none() | st.sampled_from(["clerk", "sailor", "sea", "outdoors", "*"]),
}
NOT_MASKED = MaskingRecord()
RULED = ["ruled age", "ruled job", "ruled disease", "gone"]


def schema_of(missing: MissingPolicy = MissingPolicy.OWN_VALUE) -> Schema:
    return Schema(
        quasi_identifiers=["age", "job"],
        sensitive=["disease"],
        insensitive=["city"],
        hierarchies={"job": JOBS},
        missing=missing,
    )


def original_of(persons) -> pa.Table:
    kinds = [pa.int64(), pa.string(), pa.string(), pa.string()]
    return pa.table([pa.array(each, kind) for each, kind in zip(zip(*persons, strict=True), kinds, strict=True)], NAMES)


@st.composite
def recodings(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    """Draw an original, and for every row what a rule makes of it: true labels often, others sometimes."""
    persons = draw(st.lists(PERSONS, min_size=1, max_size=12))
    rule = {}
    for age, job, disease, city in persons:
        if (age, job, disease, city) not in rule:
            true_age = "*" if age is None else f"[{age}, {age + 1}]"
            labels = (
                draw(st.just(true_age) | LABELS["age"]),
                draw(st.just("*") | st.just(job) | LABELS["job"]),
                draw(st.sampled_from([disease, disease, "*", "flu"])),
            )
            rule[age, job, disease, city] = (*labels, draw(st.sampled_from([False, False, True])))
    told = [rule[person] for person in persons]
    columns = [pa.array(each, pa.string()) for each in list(zip(*told, strict=True))[:3]]
    ruled = pa.table([*columns, pa.array([each[3] for each in told])], RULED)
    return original_of(persons), ruled


def published_of(original: pa.Table, ruled: pa.Table) -> tuple[pa.Table, np.ndarray]:
    """Apply a rule row by row; return what is published and its correspondence."""
    rows = np.flatnonzero(~np.asarray(ruled["gone"]))
    cells = ruled.select(RULED[:3]).rename_columns(NAMES[:3]).append_column("city", original["city"])
    return cells.take(pa.array(rows)), rows


def judged(
    published: pa.Table,
    original: pa.Table,
    ruled: pa.Table,
    schema: Schema,
    random,
    *,
    masking: MaskingRecord = NOT_MASKED,
):
    """Judge by the rule: both tables as counts in an order of their own."""
    both = pa.table([*original.columns, *ruled.columns], [*NAMES, *RULED])
    counted, original_weights = counted_rows(both, random)
    shown, weights = counted_rows(published, random)
    evidence = AuditContext(
        shown,
        schema,
        original=counted.select(NAMES),
        weights=weights,
        original_weights=original_weights,
        masking=masking,
    )
    cells = counted.select(RULED[:3]).rename_columns(NAMES[:3])
    return truth_by_rule(evidence, cells, np.asarray(counted["gone"]))


@examples(100)
@given(recodings(), st.sampled_from(MissingPolicy), st.booleans(), st.randoms(use_true_random=False))
def test_a_rule_is_as_true_as_the_rows_that_it_recoded(recoding, missing, masked, random):
    original, ruled = recoding
    published, rows = published_of(original, ruled)
    if not len(rows):
        return
    masking = MaskingRecord(perturbed=("age", "disease")) if masked else NOT_MASKED
    evidence = AuditContext(published, schema_of(missing), original=original, correspondence=rows, masking=masking)
    by_rows = audit_context(evidence, ()).truth
    shuffled = published.take(pa.array(random.sample(range(len(rows)), len(rows))))
    by_rule = judged(shuffled, original, ruled, schema_of(missing), random, masking=masking)
    assert by_rule == replace(by_rows, with_correspondence=False)


@examples(100)
@given(recodings(), recodings(), st.randoms(use_true_random=False))
def test_what_the_rule_does_not_give_is_counted(recoding, another, random):
    original, ruled = recoding
    given_by_rule = published_of(original, ruled)[0]
    nobody = pa.array([False] * ruled.num_rows)
    unsuppressed = published_of(original, ruled.set_column(3, "gone", nobody))[0]
    published = pa.concat_tables([given_by_rule, unsuppressed, published_of(*another)[0]])
    kept = random.sample(range(len(published)), random.randint(0, len(published)))
    published = published.take(pa.array(kept, pa.int64()))
    if not published.num_rows:
        return
    found = judged(published, original, ruled, schema_of(), random)
    more, less = (Counter(zip(*table.to_pydict().values(), strict=True)) for table in (published, given_by_rule))
    assert found.unmatched == (more - less).total()
    assert found.lost == given_by_rule.num_rows - published.num_rows
    assert found.unmatched - (less - more).total() == -found.lost
    assert found.holds == (more == less and not found.false_cells)


@given(recodings(), st.sampled_from(MissingPolicy), st.randoms(use_true_random=False))
def test_a_true_rule_proves_that_a_correspondence_exists(recoding, missing, random):
    original, ruled = recoding
    published, rows = published_of(original, ruled)
    if len(rows) and judged(published, original, ruled, schema_of(missing), random).holds:
        assert audit_context(AuditContext(published, schema_of(missing), original=original), ()).truth.holds


@given(recodings(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_disjoint_parts_add_up(recoding, parts, random):
    original, ruled = recoding
    published, rows = published_of(original, ruled)
    if not len(rows):
        return
    whole = judged(published, original, ruled, schema_of(), random)
    texts = [
        "|".join(map(str, row.values()))
        for row in ruled.select(RULED[:3]).append_column("c", original["city"]).to_pylist()
    ]
    part = np.array([sum(map(ord, text)) % parts for text in texts])
    truths = []
    for at in range(parts):
        mine = pa.array(part == at)
        if (part[rows] == at).any():
            shown = published.filter(pa.array(part[rows] == at))
            truths.append(judged(shown, original.filter(mine), ruled.filter(mine), schema_of(), random))
        elif (part == at).any():
            weight = int((part == at).sum())
            truths.append(replace(whole, rows_in=weight, rows_out=0, suppressed=weight, false_cells=0, unmatched=0))
    assert sum_truthfulness(iter(truths)) == whole


def test_all_figures_of_parts_are_added():
    first = Truthfulness(rows_in=9, rows_out=5, suppressed=3, with_correspondence=False, false_cells=1, unmatched=2)
    second = replace(first, rows_in=90, rows_out=50, suppressed=30, false_cells=10, unmatched=20)
    assert sum_truthfulness([first, second]) == replace(
        first, rows_in=99, rows_out=55, suppressed=33, false_cells=11, unmatched=22
    )


SHOWN = pa.table({"age": ["18"], "job": ["sea"], "disease": ["flu"], "city": ["Bern"]})
ORIGINAL = original_of([(18, "diver", "flu", "Bern")])


def test_a_table_of_nothing_but_masked_columns_is_compared_by_numbers_alone():
    schema = Schema(quasi_identifiers=["age"])
    evidence = AuditContext(
        SHOWN.select(["age"]).take([0, 0]), schema, original=ORIGINAL, masking=MaskingRecord(perturbed=("age",))
    )
    found = truth_by_rule(evidence, SHOWN)
    assert (found.unmatched, found.false_cells, found.unaccounted_records, found.holds) == (1, 0, -1, False)


def test_records_that_are_neither_published_nor_suppressed_are_told():
    evidence = AuditContext(SHOWN, schema_of(), original=ORIGINAL, original_weights=np.array([3]))
    found = replace(audit_context(evidence, (), compare=False), truth=truth_by_rule(evidence, SHOWN))
    assert not found.holds
    assert "0 records without an original, 2 neither published nor suppressed" in repr(found)


def test_strange_rules_are_refused():
    evidence = AuditContext(SHOWN, schema_of(), original=ORIGINAL)
    with pytest.raises(InvalidParameterError, match="no cells of 'job'"):
        truth_by_rule(evidence, SHOWN.drop_columns("job"))
    with pytest.raises(InvalidParameterError, match="2 rows but the original 1"):
        truth_by_rule(evidence, SHOWN.take([0, 0]))
    with pytest.raises(InvalidParameterError, match="of every original row"):
        truth_by_rule(evidence, SHOWN, np.array([True, False]))


def test_cells_that_no_rule_explains_are_refused():
    bucketed = SHOWN.append_column("_bucket_disease", pa.array([0]))
    for evidence in (
        AuditContext(bucketed, schema_of(), original=ORIGINAL),
        AuditContext(SHOWN, schema_of(), original=ORIGINAL, centers=True),
    ):
        with pytest.raises(SchemaError, match="no rule says which cell is whose"):
            truth_by_rule(evidence, SHOWN)
