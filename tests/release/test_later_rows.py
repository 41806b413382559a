"""Later rows: recoded by the rules of an earlier release, refused where they would break its promise."""

from __future__ import annotations

import traceback
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.recoding import ColumnRules, Recoding

CANARY = "kanarien" + "vogel"
ZIPS = ["53711", "53712", "53799", "90210", "90211"]
DISEASES = ["flu", "cold", "ulcer", "asthma"]
JOBS = sf.hierarchies.Taxonomy({"office": ["clerk", "lawyer"], "outdoors": ["farmer", "sailor"]})
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "zip", "job"],
    sensitive=["disease"],
    insensitive=["note"],
    hierarchies={"age": sf.hierarchies.Intervals(10, 20), "zip": sf.hierarchies.Prefixes(2), "job": JOBS},
)
LEVELS = {"age": 1, "zip": 1, "job": 1}
K = (sf.models.KAnonymity(k=3),)
L = (sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease"))


def people(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": rng.integers(20, 60, rows),
            "zip": rng.choice(ZIPS, rows),
            "job": rng.choice(JOBS.hierarchy.leaves, rows),
            "disease": rng.choice(DISEASES, rows, p=[0.7, 0.1, 0.1, 0.1]),
            "note": rng.integers(0, 9, rows),
        }
    )


def recoding_of(table, schema=SCHEMA, models=K, levels=LEVELS):
    algorithm = sf.algorithms.FixedLevels(levels=levels)
    coded = encode_table(table, schema)
    rng = np.random.default_rng(0)
    task = TableRequest(
        table=coded, models=models, max_suppressed=coded.rows, missing=MissingPolicy(schema.missing), rng=rng
    )
    recipe = sf.Recipe(schema=schema, models=models, algorithm=algorithm, max_suppressed=1)
    domains = [column.domain for column in coded.quasi]
    return Recoding.of(algorithm.search(task).by_value, domains, table, recipe)


@pytest.mark.parametrize("models", [K, L], ids=["k", "l"])
def test_the_same_rows_again_are_published_as_before(models):
    table = people()
    release = sf.anonymize(table, SCHEMA, models, sf.algorithms.FixedLevels(levels=LEVELS), max_suppressed=1)
    again = sf.transform(table, recoding_of(table, models=models))
    assert again.frame == release.frame
    assert again.correspondence.tolist() == release.correspondence.tolist()
    assert again.unknown == 0
    assert again.broken == release.suppressed
    assert again.metrics == release.metrics


@given(st.integers(1, 60), st.integers(0, 10_000), st.sampled_from([K, L]))
def test_later_rows_keep_the_promise_alone_and_together_with_the_earlier(rows, seed, models):
    table, later = people(80), people(rows, seed)
    release = sf.anonymize(table, SCHEMA, models, sf.algorithms.FixedLevels(levels=LEVELS), max_suppressed=1)
    try:
        found = sf.transform(later, recoding_of(table, models=models))
    except InfeasibleError:
        return
    assert sf.audit(found.frame, SCHEMA, models).holds
    both = pa.concat_tables([release.frame, found.frame], promote_options="permissive")
    assert sf.audit(both, SCHEMA, models).holds
    assert found.unknown + found.broken + found.frame.num_rows == rows


def test_only_groups_that_break_a_model_are_left_out():
    later = people(60, 5)
    found = sf.transform(later, recoding_of(people()))
    refused = found.rejected.to_pydict()
    assert set(refused["reason"]) == {"broken group"}
    assert len(refused["original_row"]) == found.broken == found.suppressed > 0
    cells = pd.DataFrame(later.to_pydict())
    groups = [cells["age"] // 10, cells["zip"].str[:2], cells["job"].map({r[0]: r[1] for r in JOBS.rows})]
    sizes = cells.groupby(groups)["name"].transform("size")
    assert refused["original_row"] == np.flatnonzero(sizes < 3).tolist()


def test_rows_with_unknown_values_are_left_out_and_counted():
    later = people(60, 5).to_pandas()
    later["age"] = later["age"].astype(float)
    later.loc[3, "job"] = CANARY
    later.loc[7, "zip"] = "10115"
    later.loc[9, "age"] = 99.0
    later.loc[11, "age"] = 33.5  # lies in a published interval
    later.loc[12, "zip"] = "53700"  # has a published prefix
    found = sf.transform(later, recoding_of(people()))
    refused = found.rejected.to_pydict()
    unknown = [row for row, why in zip(*refused.values(), strict=True) if why == "unknown value"]
    assert unknown == [3, 7, 9]
    assert found.unknown == 3
    assert refused["original_row"] == sorted(refused["original_row"])
    assert not {3, 7, 9} & set(found.correspondence.tolist())
    assert found.audit.holds
    assert len(found.frame) + found.unknown + found.broken == 60


def test_models_are_judged_until_nothing_more_falls():
    models = (sf.models.TCloseness(t=0.25, sensitive="disease"), sf.models.KAnonymity(k=3))
    later = people(150, 2)
    recoding = recoding_of(people(), models=models)
    found = sf.transform(later, recoding)
    all_of_them = replace(recoding, recipe=replace(recoding.recipe, models=(sf.models.KAnonymity(k=1),)))
    once = sf.audit(sf.transform(later, all_of_them).frame, SCHEMA, models)
    bad = set().union(*(once.violating_rows(model).tolist() for model in models))
    assert found.broken > len(bad) > 0
    assert sf.audit(found.frame, SCHEMA, models).holds


def test_a_model_on_some_quasi_identifiers_is_judged_on_those():
    models = (sf.models.KAnonymity(k=3, quasi=["zip"]),)
    found = sf.transform(people(30, 5), recoding_of(people(), models=models))
    assert found.broken == 0
    assert sf.transform(people(30, 5), recoding_of(people())).broken > 0


@pytest.mark.parametrize("missing", ["own-value", "matches-all"])
def test_missing_values_are_recoded_under_both_policies(missing):
    schema = replace(SCHEMA, missing=missing)
    table = people().set_column(3, "job", pa.array([None] * 40 + people()["job"].to_pylist()[40:]))
    later = people(60, 2).set_column(3, "job", pa.array([None] * 12 + people(60, 2)["job"].to_pylist()[12:]))
    found = sf.transform(later, recoding_of(table, schema))
    assert found.unknown == 0
    assert found.frame["job"].null_count > 0
    assert sf.audit(found.frame, schema, K).holds


@pytest.mark.parametrize(
    ("make", "kind"), [(pa.Table.to_pandas, pd.DataFrame), (pl.from_arrow, pl.DataFrame), (lambda t: t, pa.Table)]
)
def test_rows_come_back_in_the_callers_kind_of_dataframe(make, kind):
    table, recoding = people(60, 5), recoding_of(people())
    found = sf.transform(make(table), recoding)
    assert isinstance(found.frame, kind)
    assert found.published.to_pydict() == sf.transform(table, recoding).published.to_pydict()


def test_aligned_rows_show_stars_where_a_row_was_refused():
    later = people(60, 5).to_pandas()
    later.loc[3, "job"] = CANARY
    later.index = range(500, 560)
    found = sf.transform(later, recoding_of(people()))
    aligned = found.aligned()
    assert aligned.index.tolist() == list(range(500, 560))
    refused = found.rejected["original_row"].to_pylist()
    assert 3 in refused
    assert (aligned.iloc[refused][["age", "zip", "job"]] == "*").all(axis=None)
    assert (aligned.iloc[[row for row in range(60) if row not in refused]]["zip"] != "*").all()


def test_identifiers_and_columns_without_a_role_are_left_out():
    later = people(60, 5).append_column("more", pa.array(range(60)))
    found = sf.transform(later, recoding_of(people()))
    assert found.left_out == ("more",)
    assert found.frame.column_names == ["age", "zip", "job", "disease", "note"]


def test_columns_that_were_read_as_another_type_are_known_by_their_text():
    table, later = people(), people(60, 5)
    numbers = later.set_column(2, "zip", pa.array([int(text) for text in later["zip"].to_pylist()]))
    expected = sf.transform(later, recoding_of(table))
    assert sf.transform(numbers, recoding_of(table)).published.to_pydict() == expected.published.to_pydict()
    ages = [str(age) for age in later["age"].to_pylist()]
    ages[0] = CANARY
    words = later.set_column(1, "age", pa.array(ages))
    found = sf.transform(words, recoding_of(people(2000)))
    assert found.unknown == 1
    assert found.audit.holds


def test_values_that_are_published_as_they_are_keep_their_type():
    schema = replace(
        SCHEMA,
        quasi_identifiers=["age", "zip"],
        insensitive=["note", "job"],
        hierarchies={"zip": sf.hierarchies.Prefixes(2)},
    )
    table = people(400)
    found = sf.transform(table, recoding_of(table, schema, levels={"age": 0, "zip": 1}))
    assert found.frame["age"].type == pa.int64()


def test_codes_of_other_lengths_than_before_are_read_by_the_rules():
    """Prefixes are padded to the longest code of a table, which later rows need not have."""
    schema = sf.Schema(quasi_identifiers=["zip"], hierarchies={"zip": sf.hierarchies.Prefixes(2)})
    table = pa.table({"zip": ["53711", "53712", "901", "902"] * 3})
    recoding = recoding_of(table, schema, levels={"zip": 1})
    found = sf.transform(pa.table({"zip": ["901", "902", "901"]}), recoding)
    assert found.frame["zip"].to_pylist() == ["90***"] * 3
    assert found.audit.holds


@pytest.mark.parametrize("name", ["age", "zip", "job"])
def test_where_everything_is_suppressed_later_rows_may_have_any_value(name):
    recoding = recoding_of(people(), levels={**LEVELS, name: {"age": 3, "zip": 2, "job": 2}[name]})
    strange = {"age": pa.array([999] * 60), "zip": pa.array([CANARY] * 60), "job": pa.array(["pilot"] * 60)}[name]
    later = people(60, 5)
    later = later.set_column(later.column_names.index(name), name, strange)
    found = sf.transform(later, recoding)
    assert found.unknown == 0
    assert set(found.frame[name].to_pylist()) == {"*"}
    assert isinstance(found.recipe.schema.hierarchies.get(name), sf.hierarchies.Taxonomy) == (name != "age")


@pytest.mark.parametrize(
    ("settings", "strange"),
    [
        ({"hierarchies": {"a": sf.hierarchies.Intervals(cuts=[[0, 50, 100]])}}, [999]),
        ({"hierarchies": {"a": sf.hierarchies.Intervals(cuts=[[0, 50, 100]])}, "scales": {"a": "categorical"}}, [999]),
        ({"orders": {"a": ["1", "2", "3"]}}, ["many"]),
        ({"scales": {"a": "numeric"}}, ["many"]),
    ],
)
def test_where_everything_is_suppressed_no_limit_of_the_schema_stands_in_the_way(settings, strange):
    schema = sf.Schema(quasi_identifiers=["a"], **settings)
    table = pa.table({"a": [1, 2, 3]})
    recoding = recoding_of(table, schema, levels={"a": 2 if "hierarchies" in settings else 1})
    assert sf.transform(pa.table({"a": strange * 3}), recoding).frame["a"].to_pylist() == ["*"] * 3


def test_nothing_left_is_infeasible():
    recoding = recoding_of(people())
    with pytest.raises(InfeasibleError, match="All 2 rows that the recoding knows are in groups"):
        sf.transform(people(2), recoding)
    strangers = people(5).set_column(3, "job", pa.array([CANARY] * 5))
    with pytest.raises(InfeasibleError, match="does not know a value in each of these 5 rows") as refusal:
        sf.transform(strangers, recoding)
    assert CANARY not in "".join(traceback.format_exception(refusal.value))


def test_rules_that_do_not_tell_the_truth_are_withheld():
    recoding = recoding_of(people())
    rules = recoding.columns["age"]
    shifted = dict.fromkeys(rules.published.values(), "[20, 30)")
    lying = replace(rules, published={value: shifted[text] for value, text in rules.published.items()})
    with pytest.raises(GuaranteeViolatedError, match="withheld"):
        sf.transform(people(60, 5), replace(recoding, columns={**recoding.columns, "age": lying}))


@pytest.mark.parametrize(
    ("act", "error", "said"),
    [
        (
            lambda r: sf.transform(people(), repr(r)),
            InvalidParameterError,
            "recode.recoding must be an sf.tables.Recoding",
        ),
        (
            lambda r: sf.transform(people().drop(["zip"]), r),
            SchemaError,
            "'zip', which is not in the table; the table has",
        ),
        (lambda r: sf.transform(people(0), r), SchemaError, "no rows"),
        (lambda r: sf.transform([1], r), SchemaError, "pandas, Polars or Arrow"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(act, error, said):
    with pytest.raises(error, match=said):
        act(recoding_of(people()))


def test_both_folders_are_written_with_the_numbers_of_the_given_rows(tmp_path):
    later = people(60, 5).set_column(3, "job", pa.array([CANARY, *people(60, 5)["job"].to_pylist()[1:]]))
    found = sf.transform(later, recoding_of(people()))
    found.write(tmp_path / "february")
    assert sf.read(tmp_path / "february" / "public" / "table.csv").num_rows == found.frame.num_rows
    rows = pq.read_table(tmp_path / "february" / "internal" / "correspondence.parquet")["original_row"].to_pylist()
    assert rows == found.correspondence.tolist()
    assert later["disease"].take(pa.array(rows)).to_pylist() == found.frame["disease"].to_pylist()
    for path in (tmp_path / "february").rglob("*.*"):
        assert CANARY.encode() not in path.read_bytes()
    recipe = sf.Recipe.read(tmp_path / "february" / "internal" / "recipe.toml")
    assert recipe.input_rows == 60
    assert recipe.models == K


def test_the_representation_counts_what_was_refused_and_tells_no_cell():
    later = people(60, 5).set_column(3, "job", pa.array([CANARY, *people(60, 5)["job"].to_pylist()[1:]]))
    found = sf.transform(later, recoding_of(people()))
    assert f"refused: 1 rows with an unknown value, {found.broken} in groups that break a model" in repr(found)
    assert CANARY not in repr(found) + found._repr_html_()


def test_rules_read_from_a_file_recode_alike(tmp_path):
    recoding = recoding_of(people())
    recoding.write(tmp_path / "recoding.toml")
    later = people(60, 5)
    again = sf.transform(later, Recoding.read(tmp_path / "recoding.toml"))
    assert again.frame == sf.transform(later, recoding).frame


def test_the_input_is_not_touched():
    frame = people(60, 5).to_pandas()
    before = frame.copy()
    sf.transform(frame, recoding_of(people()))
    pd.testing.assert_frame_equal(frame, before)


def test_rules_of_a_column_can_be_compared():
    rules = ColumnRules(type=pa.int64(), published={"1": "*"}, missing=None)
    assert rules == replace(rules)
    assert rules != replace(rules, missing="*")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_later_rows_of_individuals_with_several_are_counted_only_on_purpose(engine, tmp_path):
    recoding = recoding_of(people())
    once = people(seed=7)
    table = pa.concat_tables([once, once])
    with pytest.raises(InfeasibleError, match=r"400 rows belong to 200 individuals.*count_rows=True"):
        sf.transform(table, recoding, engine=engine, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    release = sf.transform(table, recoding, engine=engine, out=tmp_path / "out", count_rows=True)
    assert release.audit.holds
    counted = replace(recoding, recipe=replace(recoding.recipe, count_rows=True))
    assert sf.transform(table, counted, engine=engine, out=tmp_path / "again").audit.holds
