"""Sliced releases as pairs of tables, in long form, in DuckDB, and in the folders that are written."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.tables.algorithms.bucketization.slicing import Slicing

D = "disease"
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=[D])
TABLE = pa.table(
    {
        "age": [20, 20, 30, 40],
        "sex": ["F", "F", "M", "M"],
        "_bucket_age+sex": [1, 1, 1, 2],
        D: ["flu", "cold", "flu", "cold"],
    }
)


def test_a_slice_is_one_table_of_combinations():
    records, values = sf.tables.split_bucketized(TABLE, SCHEMA)
    assert records.column_names == ["_bucket_age+sex", D]
    assert list(values) == ["age+sex"]
    assert values["age+sex"].to_pylist() == [
        {"_bucket_age+sex": 1, "age": 20, "sex": "F", "_count_age+sex": 2},
        {"_bucket_age+sex": 1, "age": 30, "sex": "M", "_count_age+sex": 1},
        {"_bucket_age+sex": 2, "age": 40, "sex": "M", "_count_age+sex": 1},
    ]


def test_slices_are_dealt_together():
    joined = sf.tables.join_bucketized(*sf.tables.split_bucketized(TABLE, SCHEMA))
    assert joined.column_names == ["age", "sex", "_bucket_age+sex", D]
    for names in (["age", "sex", "_bucket_age+sex"], ["_bucket_age+sex", D]):
        rows = [Counter(zip(*(t[n].to_pylist() for n in names), strict=True)) for t in (joined, TABLE)]
        assert rows[0] == rows[1]


def test_a_slice_without_one_of_its_columns_is_refused():
    records, values = sf.tables.split_bucketized(TABLE, SCHEMA)
    with pytest.raises(SchemaError, match="has no column 'sex'"):
        sf.tables.join_bucketized(records, {"age+sex": values["age+sex"].drop_columns(["sex"])})


def expected_counts(spelled):
    counts = Counter()
    for row in spelled.to_pylist():
        counts[row["age"], row["sex"], row[D]] += row["_probability"]
    return counts


def test_the_long_form_has_only_combinations_that_occur():
    spelled = sf.queries.long_form(TABLE, SCHEMA)
    assert spelled.column_names == ["_record", "age", "sex", D, "_probability"]
    assert expected_counts(spelled) == pytest.approx(
        {
            (20, "F", "flu"): 4 / 3,
            (30, "M", "flu"): 2 / 3,
            (20, "F", "cold"): 2 / 3,
            (30, "M", "cold"): 1 / 3,
            (40, "M", "cold"): 1,
        }
    )


def test_a_part_of_a_slice_can_be_spelled_out():
    spelled = sf.queries.long_form(TABLE, SCHEMA, ["age"])
    assert spelled.column_names == ["_record", "age", "sex", "_bucket_age+sex", D, "_probability"]
    assert spelled["sex"].null_count == spelled.num_rows == 7


def test_views_say_what_the_long_form_says():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        names = sf.queries.long_form_views(database, TABLE, SCHEMA)
        long = next(name for name in names if name.endswith("long"))
        found = database.execute(f'SELECT age, sex, disease, _probability FROM "{long}"').fetchall()  # noqa: S608 - named here
    counts = Counter()
    for *key, probability in found:
        counts[tuple(key)] += probability
    assert counts == pytest.approx(expected_counts(sf.queries.long_form(TABLE, SCHEMA)))


def test_sliced_releases_are_written_and_reported(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({"age": rng.integers(20, 60, 60), "sex": ["F", "M"] * 30, D: ["x", "y", "z"] * 20})
    models = [sf.models.FrequencyLDiversity(l=2, sensitive=D), sf.models.KAnonymity(k=2)]
    release = sf.anonymize(table, SCHEMA, models, Slicing(), seed=1)
    bucket = next(name for name in release.frame.column_names if name.startswith("_bucket_"))
    release.write(tmp_path / "out")
    written = sf.read(tmp_path / "out" / "public" / "table.csv")
    assert bucket in written.column_names
    assert sf.audit(written, SCHEMA, models, original=table).holds
