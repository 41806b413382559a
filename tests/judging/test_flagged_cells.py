"""Models of flagged cells are judged bucket by bucket, from the published table."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from flagged_tables import golden

SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], flags={"age": "age__sensitive"})
PUBLISHED = pa.table(
    {
        "age": ["20", "21", "20", "20", "22", "[30, 40]", "*"],
        "_bucket_age": [1, 1, 5, 5, 5, None, None],
        "sex": ["F", "F", "F", "M", "M", "M", "M"],
    }
)
TWO = sf.models.FrequencyLDiversity(l=2, sensitive="age")


def test_each_bucket_by_itself_must_keep_the_model():
    audit = sf.audit(PUBLISHED, SCHEMA, [TWO])
    assert not audit.holds
    assert audit.level("frequency-l-diversity", "age") == 1.5
    assert audit.verdicts[0].groups == 1
    assert audit.verdicts[0].records == 3
    assert audit.violating_rows(TWO).tolist() == [2, 3, 4]
    assert audit.per_group(TWO).to_pydict() == {
        "size": [3, 2],
        "level": [1.5, 2.0],
        "margin": [-0.5, 0.0],
        "holds": [False, True],
    }


def test_groups_of_records_are_judged_as_before():
    audit = sf.audit(PUBLISHED, SCHEMA, [sf.models.KAnonymity(k=1)])
    assert sorted(audit.sizes.tolist()) == [1, 3, 3]


def test_closeness_compares_with_all_flagged_cells():
    close = sf.models.TCloseness(t=1, sensitive="age", distance="ordered")
    audit = sf.audit(PUBLISHED, SCHEMA, [close])
    # shares of 20, 21, 22: 3/5, 1/5, 1/5 in all; 1/2, 1/2, 0 and 2/3, 0, 1/3 in the buckets
    per_bucket = audit.per_group(close)["level"].to_pylist()
    assert per_bucket == pytest.approx([(1 / 10 + 2 / 10) / 2, (1 / 15 + 2 / 15) / 2])
    assert audit.level("t-closeness", "age") == pytest.approx(0.15)


def test_levels_are_told_of_flagged_attributes_too():
    told = {(verdict.model.name, verdict.model.sensitive_attributes) for verdict in sf.audit(PUBLISHED, SCHEMA).levels}
    assert ("distinct-l-diversity", ("age",)) in told
    without = sf.audit(PUBLISHED.drop_columns(["_bucket_age"]), SCHEMA)
    assert [verdict.model.name for verdict in without.levels] == ["k-anonymity"]


def test_a_table_without_its_buckets_cannot_be_judged():
    with pytest.raises(
        sf.errors.SchemaError,
        match="The published table has no column '_bucket_age', so the flagged cells of 'age' cannot be judged",
    ):
        sf.audit(PUBLISHED.drop_columns(["_bucket_age"]), SCHEMA, [TWO])


def test_a_flagged_cell_that_is_published_openly_is_found_by_correspondence():
    original = pa.table({"age": [20, 21, 22, 23], "sex": ["F"] * 4, "age__sensitive": [True, True, True, False]})
    shown = {"age": ["21", "20", "22", "23"], "_bucket_age": [0, 0, None, None], "sex": ["F"] * 4}
    assert sf.audit(pa.table(shown), SCHEMA, [TWO]).holds
    audit = sf.audit(pa.table(shown), SCHEMA, [TWO], original=original, correspondence=range(4))
    assert not audit.holds
    assert audit.violating_rows(TWO).tolist() == [2]
    hidden = {**shown, "age": ["21", "20", "*", "23"]}
    assert sf.audit(pa.table(hidden), SCHEMA, [TWO], original=original, correspondence=range(4)).holds


def test_nobody_in_a_bucket_breaks_nothing():
    table = pa.table({"age": ["20", "21"], "_bucket_age": pa.nulls(2, pa.int64()), "sex": ["F", "M"]})
    audit = sf.audit(table, SCHEMA, [TWO])
    assert audit.holds
    assert audit.violating_rows(TWO).tolist() == []


def test_rows_whose_cells_all_stand_in_buckets_are_not_taken_for_suppressed():
    table = pa.table({"age": ["20", "21", "*"], "_bucket_age": [0, 0, None], "sex": ["*"] * 3})
    audit = sf.audit(table, SCHEMA, [TWO], ignore_suppressed=True)
    assert audit.set_aside == 1
    assert audit.records == 2


@pytest.mark.parametrize(
    "model",
    [sf.models.KLAnonymity(k=2, l=2, sensitive="age"), sf.models.XYAnonymity(k=2, y="age", x=["sex"])],
    ids=["with group sizes", "alone"],
)
def test_models_that_mix_cells_and_groups_are_refused(model):
    with pytest.raises(sf.errors.SchemaError, match="split the model"):
        sf.audit(PUBLISHED, SCHEMA, [model])


def test_attributes_without_flags_still_need_the_role():
    with pytest.raises(sf.errors.SchemaError, match="names 'sex', but its role is not sensitive"):
        sf.audit(PUBLISHED, SCHEMA, [sf.models.FrequencyLDiversity(l=2, sensitive="sex")])


@pytest.mark.parametrize(("name", "l", "attributes"), [("4_4", 4, 3), ("5_4", 2, 4)])
def test_the_thesis_tables_keep_what_their_author_says(name, l, attributes):
    printed = golden(f"thesis_{name}")
    names = [column.removesuffix("__bucket") for column in printed.column_names if column.endswith("__bucket")]
    assert len(names) == attributes
    renamed = [
        f"_bucket_{column.removesuffix('__bucket')}" if column.endswith("__bucket") else column
        for column in printed.column_names
    ]
    quasi = [column for column in printed.column_names if column in {"age", "sex", "zip", "occupation"}]
    schema = sf.Schema(
        quasi_identifiers=quasi, sensitive=["disease"], flags={column: f"{column}__sensitive" for column in names}
    )
    models = [sf.models.FrequencyLDiversity(l=l, sensitive=column) for column in names]
    models += [sf.models.KAnonymity(k=2)] if name == "5_4" else []
    table = printed.rename_columns(renamed)
    assert sf.audit(table, schema, models).holds
    assert not sf.audit(table, schema, [sf.models.FrequencyLDiversity(l=l + 1, sensitive=names[0])]).holds


def flagged_task(models, flags):
    from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy

    table = pa.table({"age": [20, 21, 22, 23], "sex": ["F"] * 4, "age__sensitive": flags})
    return sf.anonymize(table, SCHEMA, models, LocalAnatomy(), seed=1)


def test_no_flagged_cell_at_all_is_refused():
    with pytest.raises(
        sf.errors.SchemaError, match="protects the flagged cells of 'age', but no cell is flagged there"
    ):
        flagged_task([TWO], [False] * 4)


def test_only_flagged_cells_count_for_what_is_possible():
    assert flagged_task([sf.models.FrequencyLDiversity(l=3, sensitive="age")], [True, True, True, False]).audit.holds
    with pytest.raises(sf.errors.InfeasibleError, match="No release of these 3 flagged cells of 'age' can keep"):
        flagged_task([sf.models.FrequencyLDiversity(l=4, sensitive="age")], [True, True, True, False])


def test_values_that_no_flagged_cell_has_cannot_be_protected_by_name():
    model = sf.models.ConfidenceBounding(bounds={"23": 0.5}, sensitive="age")
    with pytest.raises(sf.errors.SchemaError, match="names 1 values that are not in column 'age'"):
        flagged_task([TWO, model], [True, True, True, False])


def test_an_original_with_flags_is_refused_without_a_correspondence():
    original = pa.table({"age": [20, 21], "sex": ["F", "M"], "age__sensitive": [True, True]})
    shown = pa.table({"age": ["20", "21"], "_bucket_age": pa.nulls(2, pa.int64()), "sex": ["F", "M"]})
    with pytest.raises(sf.errors.SchemaError, match="cannot be told without the correspondence"):
        sf.audit(shown, SCHEMA, [TWO], original=original)
    assert not sf.audit(shown, SCHEMA, [TWO], original=original, correspondence=range(2)).holds


def test_flagged_cells_in_no_bucket_are_not_called_unexposed():
    original = pa.table({"age": [20, 21, 30], "sex": ["F", "M", "M"], "age__sensitive": [True, True, False]})
    shown = {"age": ["20", "21", "30"], "_bucket_age": pa.nulls(3, pa.int64()), "sex": ["F", "M", "M"]}
    with pytest.raises(sf.errors.SchemaError, match="At least 2 flagged cells of 'age' are published openly"):
        sf.attribute_disclosure_risk(pa.table(shown), SCHEMA, original=original)
    starred = pa.table({**shown, "age": ["*", "*", "30"]})
    assert sf.attribute_disclosure_risk(starred, SCHEMA, original=original).adversary == 1
