"""Pairs of tables: what is split can be joined again, and neither order nor draw tells more than the buckets do."""

from __future__ import annotations

import io
import os
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv
from scipy.stats import chi2

import sfumato as sf
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato.tables import bucketized_tables
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.bucketized_tables import join_bucketized, split_bucketized

D = "disease"
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=[D], insensitive=["note"])
FALSE_ALARM = 1e-6


def release() -> sf.Release:
    diseases = ["flu", "flu", "ulcer", "gout", "asthma", "flu", "ulcer", "asthma"]
    table = pa.table({"age": np.arange(8) // 2, D: diseases, "note": list("abcdefgh"), "name": list("ABCDEFGH")})
    return sf.anonymize(table, SCHEMA, [sf.models.FrequencyLDiversity(l=2, sensitive=D)], Anatomy(), seed=4)


def contents(table: pa.Table, name: str = D) -> Counter[tuple[object, object]]:
    return Counter((row[f"_bucket_{name}"], row[name]) for row in table.to_pylist())


def test_records_keep_everything_but_the_values_in_buckets():
    published = release()
    records, values = split_bucketized(published)
    assert records.column_names == ["age", f"_bucket_{D}", "note"]
    assert records.num_rows == 8
    assert values[D].column_names == [f"_bucket_{D}", D, f"_count_{D}"]
    counted = {(row[f"_bucket_{D}"], row[D]): row[f"_count_{D}"] for row in values[D].to_pylist()}
    assert counted == contents(published.published)


def test_both_tables_are_sorted_by_what_they_show():
    published = release().published
    for order in (range(8), [3, 1, 7, 0, 2, 6, 5, 4]):
        records, values = split_bucketized(published.take(pa.array(order)), SCHEMA)
        shown = [tuple(row.values()) for row in records.to_pylist()]
        assert shown == sorted(shown)
        listed = [(row[f"_bucket_{D}"], row[D] is None, row[D] or "") for row in values[D].to_pylist()]
        assert listed == sorted(listed)


def test_a_joined_table_holds_what_the_release_held():
    published = release()
    joined = join_bucketized(*split_bucketized(published))
    assert joined.column_names == published.published.column_names
    assert contents(joined) == contents(published.published)
    left, right = joined.drop_columns([D]).to_pylist(), published.frame.drop_columns([D]).to_pylist()
    assert Counter(map(str, left)) == Counter(map(str, right))
    assert sf.audit(joined, SCHEMA, [sf.models.FrequencyLDiversity(l=2, sensitive=D)]).holds


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 2), st.sampled_from("abc")), min_size=1))
def test_any_table_comes_back_up_to_who_has_which_value_in_a_bucket(rows):
    ages, buckets, cells = zip(*rows, strict=True)
    table = pa.table({"age": ages, f"_bucket_{D}": pa.array(buckets, pa.int64()), D: cells, "note": cells})
    if table[f"_bucket_{D}"].null_count == len(rows):
        return
    joined = join_bucketized(*split_bucketized(table, SCHEMA))
    assert contents(joined) == contents(table)
    outside = [row for row in table.to_pylist() if row[f"_bucket_{D}"] is None]
    assert Counter(map(str, outside)) == Counter(str(row) for row in joined.to_pylist() if row[f"_bucket_{D}"] is None)


def test_cells_outside_buckets_stay_with_their_records():
    table = pa.table({"age": ["[20, 30]", "40", "50"], "_bucket_age": pa.array([None, 1, 1]), D: ["a", "b", "c"]})
    records, values = split_bucketized(table, sf.Schema(quasi_identifiers=["age"], sensitive=[D]))
    assert records["age"].drop_null().to_pylist() == ["[20, 30]"]
    joined = join_bucketized(records, values)
    assert {row[D]: row["age"] for row in joined.to_pylist()}["a"] == "[20, 30]"
    assert sorted(joined["age"].to_pylist()) == ["40", "50", "[20, 30]"]


def test_values_are_dealt_uniformly_at_random(monkeypatch):
    """Repeatable here; bits come from the operating system otherwise."""
    secrets = map(secret_from_seed, range(1000))
    monkeypatch.setattr(bucketized_tables, "KeyedRandom", lambda: KeyedRandom(next(secrets)))
    table = pa.table({"age": [1, 2, 3], "note": ["x"] * 3, D: ["a", "b", "c"], f"_bucket_{D}": [0, 0, 0]})
    pair = split_bucketized(table, SCHEMA)
    draws = 600
    shown = Counter(tuple(join_bucketized(*pair)[D].to_pylist()) for _ in range(draws))
    assert len(shown) == 6
    statistic = sum((count - draws / 6) ** 2 / (draws / 6) for count in shown.values())
    assert statistic < chi2.isf(FALSE_ALARM, 5)


def test_every_join_draws_anew_from_the_operating_system(monkeypatch):
    drawn = []
    monkeypatch.setattr(os, "urandom", lambda count: drawn.append(count) or bytes(range(count)))
    pair = split_bucketized(release())
    join_bucketized(*pair)
    join_bucketized(*pair)
    assert len(drawn) == 2


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_come_back_as_they_were(kind):
    published = release().frame
    frame = published.to_pandas() if kind is pd.DataFrame else pl.from_arrow(published)
    records, values = split_bucketized(frame, SCHEMA)
    assert isinstance(records, kind)
    assert isinstance(values[D], kind)
    assert isinstance(join_bucketized(records, values), kind)


def test_pairs_survive_csv_files():
    published = release()
    records, values = split_bucketized(published)

    def through_csv(table: pa.Table) -> pa.Table:
        sink = io.BytesIO()
        csv.write_csv(table, sink)
        options = csv.ConvertOptions(strings_can_be_null=True)
        return csv.read_csv(io.BytesIO(sink.getvalue()), convert_options=options)

    joined = join_bucketized(through_csv(records), {D: through_csv(values[D])})
    assert contents(joined) == contents(published.published)


def test_tables_that_do_not_fit_are_refused_without_their_values():
    records, values = split_bucketized(release())
    with pytest.raises(sf.errors.SchemaError, match="it is not bucketized"):
        split_bucketized(records.drop_columns([f"_bucket_{D}"]), SCHEMA)
    with pytest.raises(sf.errors.SchemaError, match="needs the schema"):
        split_bucketized(records)
    with pytest.raises(sf.errors.SchemaError, match=f"has no column '_count_{D}'"):
        join_bucketized(records, {D: values[D].drop_columns([f"_count_{D}"])})
    with pytest.raises(sf.errors.SchemaError, match=f"table of records has no column '_bucket_{D}'"):
        join_bucketized(records.drop_columns([f"_bucket_{D}"]), values)
    with pytest.raises(sf.errors.SchemaError, match="1 buckets of 'disease' have more or fewer") as caught:
        join_bucketized(records, {D: values[D].slice(1)})
    assert "flu" not in str(caught.value)
    none = values[D].set_column(2, f"_count_{D}", pa.array([0] * values[D].num_rows))
    with pytest.raises(sf.errors.SchemaError, match="whole numbers of at least 1"):
        join_bucketized(records, {D: none})
    lost = values[D].set_column(0, f"_bucket_{D}", pa.nulls(values[D].num_rows, pa.int64()))
    with pytest.raises(sf.errors.SchemaError, match="without a bucket"):
        join_bucketized(records, {D: lost})


def test_what_is_no_bucket_number_is_refused():
    table = pa.table({"age": [1, 2], D: ["flu", "cold"], f"_bucket_{D}": ["1", "-"]})
    with pytest.raises(
        sf.errors.SchemaError, match="'_bucket_disease' holds 1 different values that are no bucket numbers"
    ):
        split_bucketized(table, SCHEMA)
    records = pa.table({"age": [1, 2], f"_bucket_{D}": ["-", "-"]})
    values = pa.table({f"_bucket_{D}": ["-", "-"], D: ["flu", "cold"], f"_count_{D}": [1, 1]})
    with pytest.raises(sf.errors.SchemaError, match="no bucket numbers"):
        join_bucketized(records, {D: values})
