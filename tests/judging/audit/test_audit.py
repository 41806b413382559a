"""The audit recomputes what a published table keeps; every figure is compared with a slow definition."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import oracles
import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from strategies import described_tables

SCHEMA = Schema(quasi_identifiers=["age", "zip"], sensitive=["disease"])
TABLE = pa.table(
    {
        "age": ["[20, 30)"] * 3 + ["[30, 40)"] * 2 + ["*"],
        "zip": ["537**"] * 5 + ["*"],
        "disease": ["flu", "flu", "cold", "ulcer", "ulcer", "flu"],
    }
)


def grouped_values(table: pa.Table, schema: Schema) -> list[list[object]]:
    """Give the sensitive values of every group, groups made row by row."""
    groups = defaultdict(list)
    quasi = [table[name].to_pylist() for name in schema.quasi_identifiers]
    for row, value in zip(zip(*quasi, strict=True), table[schema.sensitive[0]].to_pylist(), strict=True):
        groups[row].append(value)
    return [filled(group) for group in groups.values()]


def filled(group: list[object]) -> list[object]:
    """Give missing values, which may be anything, the most frequent value of the group: the worst case."""
    known = [value for value in group if value is not None]
    worst = max(known, key=known.count) if known else None
    return [worst if value is None else value for value in group]


def own_value(schema: Schema) -> Schema:
    return Schema(
        quasi_identifiers=schema.quasi_identifiers, sensitive=schema.sensitive, hierarchies=schema.hierarchies
    )


@given(described_tables(most_rows=20))
def test_levels_are_those_of_the_definitions(described):
    table, schema = described
    audit = sf.audit(table, own_value(schema))
    groups = grouped_values(table, schema)
    totals = Counter(table["disease"].to_pylist())
    counts = [[Counter(group)[value] for value in totals] for group in groups]
    assert audit.records == table.num_rows
    assert sorted(audit.sizes.tolist()) == sorted(map(len, groups))
    assert audit.level("k-anonymity") == min(map(oracles.size, counts))
    assert audit.level("distinct-l-diversity") == min(map(oracles.distinct_values, counts))
    assert audit.level("frequency-l-diversity") == pytest.approx(float(min(map(oracles.inverse_largest_share, counts))))
    assert audit.level("entropy-l-diversity") == pytest.approx(min(map(oracles.effective_values, counts)))
    if None not in totals:
        distances = [oracles.equal_distance(group, list(totals.values())) for group in counts]
        assert audit.level("t-closeness") == pytest.approx(float(max(distances)))


@given(described_tables(most_rows=20))
def test_verdicts_count_groups_and_records_that_break_a_promise(described):
    table, schema = described
    models = [KAnonymity(k=3), DistinctLDiversity(l=2, sensitive="disease")]
    audit = sf.audit(table, own_value(schema), models)
    groups = grouped_values(table, schema)
    broken = [[g for g in groups if len(g) < 3], [g for g in groups if len(set(g)) < 2]]
    for verdict, bad in zip(audit.verdicts, broken, strict=True):
        assert (verdict.groups, verdict.records) == (len(bad), sum(map(len, bad)))
        assert verdict.holds == (not bad)
    assert audit.holds == (not any(broken))


def test_the_largest_k_of_a_file_needs_no_model():
    audit = sf.audit(TABLE, SCHEMA)
    assert audit.holds
    assert audit.verdicts == ()
    assert audit.level("k-anonymity") == 1
    assert isinstance(audit.level("k-anonymity"), int)


def test_two_notations_of_one_interval_make_two_groups():
    table = pa.table({"age": ["[20, 30]", "20-30"], "zip": ["1", "1"], "disease": ["a", "b"]})
    assert sf.audit(table, SCHEMA).level("k-anonymity") == 1


def test_suppressed_rows_are_a_group_unless_they_are_ignored():
    promise = [KAnonymity(k=2)]
    strict = sf.audit(TABLE, SCHEMA, promise)
    assert (strict.holds, strict.set_aside, strict.records) == (False, 0, 6)
    lenient = sf.audit(TABLE, SCHEMA, promise, ignore_suppressed=True)
    assert (lenient.holds, lenient.set_aside, lenient.records) == (True, 1, 5)
    assert lenient.level("k-anonymity") == 2


def test_a_row_that_is_starred_in_some_columns_only_is_judged():
    table = pa.table({"age": ["*", "20", "20"], "zip": ["1", "1", "1"], "disease": ["a", "b", "c"]})
    audit = sf.audit(table, SCHEMA, ignore_suppressed=True)
    assert (audit.set_aside, audit.level("k-anonymity")) == (0, 1)


def test_nothing_is_set_aside_where_there_are_no_quasi_identifiers():
    audit = sf.audit(TABLE, Schema(sensitive=["disease"]), ignore_suppressed=True)
    assert (audit.set_aside, audit.level("k-anonymity")) == (0, 6)


def test_a_table_of_nothing_but_suppressed_rows_cannot_be_judged_without_them():
    with pytest.raises(SchemaError, match="has no rows"):
        sf.audit(TABLE.slice(5), SCHEMA, ignore_suppressed=True)


@pytest.mark.parametrize("star", ["*", "**", " * "])
def test_a_suppressed_sensitive_cell_never_helps(star):
    table = pa.table({"age": ["20"] * 4, "zip": ["1"] * 4, "disease": ["flu", "flu", star, "cold"]})
    audit = sf.audit(table, SCHEMA)
    assert audit.level("distinct-l-diversity") == 2
    assert audit.level("frequency-l-diversity") == pytest.approx(4 / 3)


def test_numbers_beside_suppressed_sensitive_cells_are_numbers():
    table = pa.table({"age": ["20"] * 4, "zip": ["1"] * 4, "disease": ["9", "10", "*", "11"]})
    model = TCloseness(t=1, sensitive="disease", distance="ordered")
    assert sf.audit(table, SCHEMA, [model]).holds


def test_unknown_sensitive_cells_are_one_value_in_the_worst_case():
    table = pa.table({"age": ["20"] * 2, "zip": ["1"] * 2, "disease": ["*", "*"]})
    assert sf.audit(table, SCHEMA).level("distinct-l-diversity") == 1


def test_a_promise_about_a_column_that_is_not_sensitive_is_refused():
    with pytest.raises(SchemaError, match="DistinctLDiversity names the unknown column 'disese'; did you mean"):
        sf.audit(TABLE, SCHEMA, [DistinctLDiversity(l=2, sensitive="disese")])
    with pytest.raises(SchemaError, match="names 'age', but its role is not sensitive; give it the role sensitive"):
        sf.audit(TABLE, SCHEMA).evaluate(DistinctLDiversity(l=2, sensitive="age"))


@pytest.mark.parametrize(
    ("schema", "models", "sentence"),
    [
        ({"quasi": ["age"]}, [], "audit.schema must be an sf.Schema; got {'quasi': ['age']}."),
        (TABLE, [], "audit.schema must be an sf.Schema; got Table."),
        (SCHEMA, KAnonymity(k=2), "audit.models must be a list of models; got KAnonymity."),
        (SCHEMA, ["k-anonymity"], "audit.models must be a list of models; got ['k-anonymity']."),
        (SCHEMA, [KAnonymity], "audit.models must be a list of models; got [<class "),
    ],
)
def test_what_is_no_schema_or_no_model_is_refused(schema, models, sentence):
    with pytest.raises(InvalidParameterError) as refusal:
        sf.audit(TABLE, schema, models)
    assert str(refusal.value).startswith(sentence)


def test_one_more_model_is_judged_on_the_same_groups():
    audit = sf.audit(TABLE, SCHEMA)
    verdict = audit.evaluate(KAnonymity(k=2))
    assert (verdict.level, verdict.holds, verdict.groups, verdict.records) == (1, False, 1, 1)
    assert verdict.margin == -1
    assert audit.evaluate(TCloseness(t=1, sensitive="disease")).margin == pytest.approx(1 - audit.level("t-closeness"))


TWO = Schema(quasi_identifiers=["age"], sensitive=["disease", "zip"])


def test_the_level_of_one_of_several_attributes_must_be_named():
    audit = sf.audit(TABLE, TWO, [DistinctLDiversity(l=1, sensitive="zip")])
    with pytest.raises(InvalidParameterError, match=r"Several attributes were judged by 'distinct-l-.*choose one with"):
        audit.level("distinct-l-diversity")
    assert audit.level("distinct-l-diversity", "zip") == 1
    assert audit.level("distinct-l-diversity", sensitive="disease") == 1
    assert audit.level("k-anonymity") == 1


def test_promises_that_reach_different_levels_are_not_mixed_up():
    audit = sf.audit(TABLE, SCHEMA, [RecursiveLDiversity(c=9, l=i, sensitive="disease") for i in (1, 2)])
    with pytest.raises(InvalidParameterError, match="Several promises of 'recursive-l-diversity' reach different"):
        audit.level("recursive-l-diversity")
    same = sf.audit(TABLE, SCHEMA, [KAnonymity(k=1), KAnonymity(k=4)])
    assert same.level("k-anonymity") == 1


def test_a_promised_distance_comes_before_the_standard_one():
    orders = {"disease": ["cold", "flu", "ulcer"]}
    schema = Schema(quasi_identifiers=["age", "zip"], sensitive=["disease"], orders=orders)
    model = TCloseness(t=1, sensitive="disease", distance="ordered")
    audit = sf.audit(TABLE, schema, [model])
    assert audit.level("t-closeness") == audit.verdicts[0].level
    assert audit.level("t-closeness") != sf.audit(TABLE, schema).level("t-closeness")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("k-anonimity",), "The audit did not judge 'k-anonimity'; did you mean 'k-anonymity'?"),
        (("delta",), "The audit did not judge 'delta'; it judged distinct-l-diversity, "),
        (("k-anonymity", "disease"), "The audit did not judge 'k-anonymity' for 'disease'."),
        (("t-closeness", "desease"), "The audit did not judge 't-closeness' for 'desease'; did you mean 'disease'?"),
    ],
)
def test_a_level_that_was_not_judged_is_refused(asked, sentence):
    with pytest.raises(InvalidParameterError) as refusal:
        sf.audit(TABLE, SCHEMA).level(*asked)
    assert str(refusal.value).startswith(sentence)


def test_the_audit_can_be_written_as_json():
    models = [RecursiveLDiversity(c=2, l=3, sensitive="disease"), KAnonymity(k=1)]
    written = json.loads(json.dumps(sf.audit(TABLE, SCHEMA, models, original=None).to_dict(), allow_nan=False))
    assert written["records"] == 6
    assert written["groups"] == 3
    assert written["holds"] is False
    assert [model["level"] for model in written["models"]] == ["infinity", 1]
    assert [model["violating_records"] for model in written["models"]] == [6, 0]
    assert written["levels"][0] == {"model": "k-anonymity", "sensitive": "", "level": 1}
    assert "truth" not in written


def test_the_audit_shows_itself_as_a_table():
    audit = sf.audit(TABLE, SCHEMA, [KAnonymity(k=2), EntropyLDiversity(l=1, sensitive="disease")])
    lines = repr(audit).splitlines()
    assert lines[0] == "Audit: DOES NOT HOLD, 6 records, 3 groups"
    assert lines[2].split() == ["KAnonymity(k=2)", "1", "NO", "1"]
    assert lines[3].split()[-2:] == ["yes", "0"]
    assert "<td>KAnonymity(k=2)</td><td>1</td><td>NO</td>" in audit._repr_html_()


def test_a_published_frame_is_not_changed():
    frame = TABLE.to_pandas()
    before = frame.copy(deep=True)
    sf.audit(frame, SCHEMA, [FrequencyLDiversity(l=2, sensitive="disease")])
    pd.testing.assert_frame_equal(frame, before)


def test_models_see_the_groups_and_not_the_rows():
    """A table repeated row by row keeps its shares and doubles its groups."""
    twice = pa.concat_tables([TABLE, TABLE])
    once, again = sf.audit(TABLE, SCHEMA), sf.audit(twice, SCHEMA)
    assert np.array_equal(np.sort(again.sizes), 2 * np.sort(once.sizes))
    assert again.level("entropy-l-diversity") == once.level("entropy-l-diversity")
