"""Dataframes of any kind in, the same kind out."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.io._dataframes import get_time_zones, restore_time_zones, to_arrow, to_canonical

DAY, NEXT = dt.date(2020, 1, 1), dt.date(2020, 1, 2)
NOON = dt.datetime(2020, 1, 1, 12)


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (pa.array([1, None], pa.uint8()), pa.int64(), [1, None]),
        (pa.array([1.0, None, float("nan")]), pa.int64(), [1, None, None]),
        (pa.array([0.5, float("nan")], pa.float32()), pa.float64(), [0.5, None]),
        (pa.array([2.0**53, 1.0]), pa.float64(), [2.0**53, 1.0]),
        (pa.array([Decimal("1.00"), Decimal("2.00")]), pa.int64(), [1, 2]),
        (pa.array([Decimal("1.50"), None]), pa.float64(), [1.5, None]),
        (pa.array([True, None]), pa.bool_(), [True, None]),
        (pa.array(["a", None], pa.large_string()), pa.string(), ["a", None]),
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), pa.string(), ["a", "b", "a"]),
        (pa.array([1.0, 2.0]).dictionary_encode(), pa.int64(), [1, 2]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), pa.string(), ["a", "a", "b"]),
        (pa.array([DAY], pa.date64()), pa.date32(), [DAY]),
        (pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("ns")), pa.date32(), [DAY, None]),
        (pa.array([NOON], pa.timestamp("s")), pa.timestamp("us"), [NOON]),
        (
            pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], pa.timestamp("us", "Asia/Shanghai")),
            pa.date32(),
            [DAY],
        ),
        (pa.array([dt.time(1, 2, 3)]), pa.string(), ["01:02:03"]),
        (pa.nulls(2), pa.string(), [None, None]),
        (pa.array([float("nan")]), pa.string(), [None]),
        (pa.array([], pa.int8()), pa.string(), []),
    ],
)
def test_every_type_has_one_canonical_form(column, kind, values):
    found = to_canonical(pa.table({"x": column}))
    assert found.schema == pa.schema([("x", kind)])
    assert found["x"].to_pylist() == values


def test_negative_zero_becomes_zero():
    found = to_canonical(pa.table({"x": [-0.0, 0.5]}))["x"].to_pylist()
    assert [str(value) for value in found] == ["0.0", "0.5"]


def test_canonical_tables_stay_as_they_are():
    table = to_canonical(pa.table({"a": [1.5, None], "b": ["x", "y"], "c": [NOON, None]}))
    assert to_canonical(table).equals(table)
    assert to_canonical(pa.table({})).num_columns == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table([[1], [2]], names=["a", "a"]), "Several columns are named 'a'; give every column its own name."),
        (
            pa.table({"x": [1.0, float("inf"), float("-inf")]}),
            r"'x' contains infinite values \(rows: 2\); replace or clear them.",
        ),
        (pa.table({"x": [[1]]}), "'x' has type list<.*> ?, which|'x' has type list"),
        (pa.table({"x": [{"a": 1}]}), "'x' has type struct"),
        (pa.table({"x": [b"a"]}), "'x' has type binary"),
        (pa.table({"x": pa.array([], pa.binary())}), "'x' has type binary"),
        (pa.table({"x": pa.array([b"a"]).dictionary_encode()}), "'x' has type binary"),
        (pa.table({"x": [dt.timedelta(1)]}), "'x' has type duration"),
        (pa.table({"x": pa.array([2**64 - 1], pa.uint64())}), "'x' contains whole numbers of more than 64 bits"),
    ],
)
def test_what_cannot_be_published_is_refused_by_name(table, message):
    with pytest.raises(SchemaError, match=message):
        to_canonical(table)


def people() -> dict[str, object]:
    return {
        "age": [39.0, None, 52.0],
        "weight": [70.5, 80.0, None],
        "zip": ["02139", None, "10115"],
        "smoker": [True, False, True],
        "born": [dt.datetime(1984, 2, 29), dt.datetime(1990, 1, 1), dt.datetime(1970, 1, 1)],
        "seen": [NOON, NOON, None],
    }


def test_pandas_polars_and_arrow_give_equal_tables():
    polars = pl.DataFrame(people())
    pandas = pd.DataFrame(people())
    found = [to_arrow(frame)[0] for frame in (pandas, polars, polars.to_arrow(), polars.lazy())]
    batch = pa.RecordBatch.from_pydict(people())
    assert [str(field.type) for field in found[0].schema] == [
        *("int64", "double", "string", "bool", "date32[day]", "timestamp[us]")
    ]
    assert all(each.equals(found[0]) for each in (*found, to_arrow(batch)[0]))


def test_categories_and_small_types_give_equal_tables_too():
    pandas = pd.DataFrame({"job": pd.Categorical(["b", "a", None]), "n": pd.array([1, None, 3], dtype="Int8")})
    polars = pl.DataFrame(
        {"job": pl.Series(["b", "a", None], dtype=pl.Categorical), "n": pl.Series([1, None, 3], dtype=pl.UInt16)}
    )
    assert to_arrow(pandas)[0].equals(to_arrow(polars)[0])


def test_the_callers_frame_is_left_alone():
    pandas = pd.DataFrame(people(), index=[7, 7, 1])
    before = pandas.copy(deep=True)
    table, kind = to_arrow(pandas)
    restored = kind.restore(table)
    restored.loc[0, "age"] = -1.0
    pd.testing.assert_frame_equal(pandas, before)
    polars = pl.DataFrame(people())
    to_arrow(polars)
    assert polars.equals(pl.DataFrame(people()))


def test_later_changes_by_the_caller_do_not_reach_the_table():
    pandas = pd.DataFrame({"n": np.arange(3)})
    table, _ = to_arrow(pandas)
    pandas.loc[0, "n"] = 99
    assert table["n"].to_pylist() == [0, 1, 2]


@pytest.mark.parametrize("index", [[2, 0, 1], [5, 5, 5], pd.Index(["c", "b", "a"], name="key")])
def test_a_pandas_index_is_no_column_but_comes_back_when_aligned(index):
    frame = pd.DataFrame(people(), index=index)
    table, kind = to_arrow(frame)
    assert table.column_names == list(people())
    assert table.equals(to_arrow(frame.reset_index(drop=True))[0])
    assert kind.restore(table).index.equals(pd.RangeIndex(3))
    pd.testing.assert_frame_equal(kind.restore_aligned(table), frame)


def test_filtered_pandas_rows_align_by_position():
    frame = pd.DataFrame({"n": [1, 2, 3, 4]})
    even = frame[frame["n"] % 2 == 0]
    table, kind = to_arrow(even)
    assert table["n"].to_pylist() == [2, 4]
    pd.testing.assert_frame_equal(kind.restore_aligned(table), even)
    with pytest.raises(SchemaError, match="1 rows cannot be aligned with the original 2 rows"):
        kind.restore_aligned(table.slice(0, 1))


PANDAS_COLUMNS = {
    "int8": pd.Series([1, 2, 3], dtype="int8"),
    "whole floats": pd.Series([1.0, np.nan, 3.0]),
    "nullable": pd.Series([1, None, 3], dtype="Int32"),
    "float32": pd.Series([0.5, np.nan, 1.5], dtype="float32"),
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "str": pd.Series(["a", None, "b"]),
    "object": pd.Series(["a", None, "b"], dtype=object),
    "string": pd.Series(["a", None, "b"], dtype="string"),
    "category": pd.Series(["y", "x", None], dtype="category"),
    "ordered": pd.Series(pd.Categorical(["low", "high", None], ["low", "high"], ordered=True)),
    "numbers as category": pd.Series([3, 1, 3], dtype="category"),
    "days": pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"])),
    "seconds": pd.Series(pd.to_datetime(["2020-01-01 10:00", None, "2020-01-03 11:00"])).astype("datetime64[s]"),
    "zone": pd.Series(pd.to_datetime(["2020-07-01 10:00", None, "2020-01-03 11:00"])).dt.tz_localize("Europe/Rome"),
    "date objects": pd.Series([DAY, None, NEXT], dtype=object),
    "arrow": pd.Series([1, None, 3], dtype="int16[pyarrow]"),
    "arrow dictionary": pd.Series(["a", "b", "a"]).astype(pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "no value": pd.Series([np.nan] * 3, dtype="float32"),
}


@pytest.mark.parametrize("name", PANDAS_COLUMNS)
def test_pandas_gets_its_dtypes_back(name):
    frame = PANDAS_COLUMNS[name].to_frame("x")
    table, kind = to_arrow(frame)
    assert kind.name == "pandas"
    pd.testing.assert_frame_equal(kind.restore(table), frame)


POLARS_COLUMNS = {
    "UInt8": pl.Series([1, None, 3], dtype=pl.UInt8),
    "whole floats": pl.Series([1.0, None, 3.0]),
    "Float32": pl.Series([0.5, None, 1.5], dtype=pl.Float32),
    "Categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "Enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a"])),
    "Datetime": pl.Series([dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 2)], dtype=pl.Datetime("ms")),
    "zone": pl.Series([NOON, None, NOON], dtype=pl.Datetime("ns", "Europe/Rome")),
    "Date": pl.Series([DAY, None, NEXT]),
    "Time": pl.Series([dt.time(1, 2), None, dt.time(3, 4, 5)]),
    "Decimal": pl.Series([Decimal("1.50"), None, Decimal(2)], dtype=pl.Decimal(10, 2)),
    "Null": pl.Series([None, None, None]),
    "Boolean": pl.Series([True, None, False]),
}


@pytest.mark.parametrize("name", POLARS_COLUMNS)
def test_polars_gets_its_dtypes_back(name):
    frame = POLARS_COLUMNS[name].to_frame("x")
    table, kind = to_arrow(frame)
    restored = kind.restore_aligned(table)
    assert kind.name == "polars"
    assert restored.schema == frame.schema
    assert restored.equals(frame)


@pytest.mark.parametrize("name", POLARS_COLUMNS)
def test_arrow_gets_its_types_back(name):
    frame = pa.table({"x": POLARS_COLUMNS[name].to_arrow()})
    table, kind = to_arrow(frame)
    restored = kind.restore(table)
    assert kind.name == "pyarrow"
    assert restored.schema.types == frame.schema.types
    assert restored.to_pydict() == frame.to_pydict()


@pytest.mark.parametrize("frame", [pd.DataFrame(people()), pl.DataFrame(people()), pl.DataFrame(people()).to_arrow()])
def test_generalized_columns_are_text_and_new_columns_are_natural(frame):
    table, kind = to_arrow(frame)
    table = table.set_column(0, "age", pa.array(["[30, 40)", "*", None])).append_column("_group", pa.array([0, 0, 1]))
    restored = kind.restore(table)
    again, _ = to_arrow(restored)
    assert type(restored) is type(frame)
    assert again.equals(table)


def test_generalized_categories_stay_and_unpublished_ones_are_forgotten():
    frame = pd.DataFrame({"zip": pd.Categorical(["10115", "10117", "99999"])})
    table, kind = to_arrow(frame)
    fewer = kind.restore(table.slice(0, 2))["zip"]
    assert list(fewer.cat.categories) == ["10115", "10117"]
    coarser = kind.restore(pa.table({"zip": ["1011*", "1011*"]}))["zip"]
    assert list(coarser.cat.categories) == ["1011*"]
    enum = pl.DataFrame({"zip": pl.Series(["b", "a"], dtype=pl.Enum(["b", "z", "a"]))})
    table, kind = to_arrow(enum)
    assert kind.restore(table).schema["zip"] == pl.Enum(["b", "a"])
    assert kind.restore(pa.table({"zip": ["*"]}))["zip"].to_list() == ["*"]


def test_values_that_no_longer_fit_keep_a_wider_dtype():
    _, kind = to_arrow(pd.DataFrame({"n": np.array([1, 2], dtype="uint8")}))
    assert kind.restore(pa.table({"n": [300, 2]}))["n"].tolist() == [300, 2]
    assert kind.restore(pa.table({"n": [None, 2]}))["n"].tolist() == [pd.NA, 2]
    _, kind = to_arrow(pd.DataFrame({"b": [True, False]}))
    assert kind.restore(pa.table({"b": [None, False]}))["b"].tolist() == [pd.NA, False]
    _, kind = to_arrow(pl.DataFrame({"n": pl.Series([1, 2], dtype=pl.UInt8)}))
    assert kind.restore(pa.table({"n": [300, 2]}))["n"].to_list() == [300, 2]
    _, kind = to_arrow(pa.table({"n": pa.array([1, 2], pa.uint8())}))
    assert kind.restore(pa.table({"n": [300, 2]}))["n"].to_pylist() == [300, 2]


def test_a_kind_shows_no_values_and_survives_pickling():
    frame = pd.DataFrame({"zip": pd.Categorical(["10115"])}, index=["Ann"])
    table, kind = to_arrow(frame)
    assert repr(kind) == "DataFrameBackend(name='pandas')"
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(kind)).restore_aligned(table), frame)  # noqa: S301 - ours


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "must be a pandas, Polars or Arrow table; got list"),
        (None, "got NoneType"),
        (pd.Series([1]), "got Series"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Several columns are named 'a'"),
        (pd.DataFrame([[1, 2]]), "2 column names are not text"),
        (pd.DataFrame({"zip": ["02139", 2139]}), "'zip' mixes text and numbers; convert it to one type"),
        (pd.DataFrame({"x": [True, 1, None]}, dtype=object), "'x' mixes booleans and numbers"),
        (pd.DataFrame({"x": [DAY, "2020"]}), "'x' mixes text and dates"),
        (pd.DataFrame({"x": pd.Categorical(["a", 1])}), "'x' mixes text and numbers"),
        (pd.DataFrame({"x": [2**70, 1]}), "'x' contains values that do not fit one type"),
        (pd.DataFrame({"x": [object()]}), "'x' contains values that do not fit one type"),
        (pd.DataFrame({"x": [1j]}), "'x' has type complex128"),
        (pd.DataFrame({"x": pd.period_range("2020", periods=1, freq="M")}), "'x' has type .*period"),
        (pd.DataFrame({"x": [["a"]]}), "'x' has type list"),
        (pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)}), "'x' has type Int128"),
        (pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}), "'x' has type"),
        (pl.LazyFrame({"x": ["a"]}).cast(pl.Int8), "The Polars LazyFrame cannot be collected"),
    ],
)
def test_bad_frames_are_refused_in_one_sentence(frame, message):
    with pytest.raises(SchemaError, match=message):
        to_arrow(frame)


def test_another_lazy_table_must_be_collected_first():
    import duckdb

    with pytest.raises(SchemaError, match="collect this duckdb table first"):
        to_arrow(duckdb.connect().sql("SELECT 1 AS x"))


def test_object_columns_of_one_kind_are_fine():
    frame = pd.DataFrame(
        {
            "numbers": pd.Series([1, 2.5, None], dtype=object),
            "moments": pd.Series([DAY, NOON, None], dtype=object),
            "decimals": pd.Series([Decimal(1), Decimal("2.5"), None], dtype=object),
            "sparse": pd.arrays.SparseArray([0, 0, 1]),
        }
    )
    assert to_arrow(frame)[0].to_pydict() == {
        "numbers": [1.0, 2.5, None],
        "moments": [dt.datetime(2020, 1, 1), NOON, None],
        "decimals": [1.0, 2.5, None],
        "sparse": [0, 0, 1],
    }


ORDER = ["low", "middle", "high", "never"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(["high", "low", "middle"], categories=ORDER, ordered=True)}),
        pl.DataFrame({"x": pl.Series(["high", "low", "middle"], dtype=pl.Enum(ORDER))}),
    ],
    ids=["pandas", "polars"],
)
def test_ordered_categories_have_an_order(frame):
    _, kind = to_arrow(frame)
    assert kind.category_orders == {"x": tuple(ORDER)}
    schema = sf.Schema(quasi_identifiers=["x"])
    assert schema.with_orders(kind.category_orders).orders == {"x": tuple(ORDER)}
    (proposal,) = sf.inspect(frame).proposals
    assert (proposal.scale.value, proposal.order) == ("ordinal", ("low", "middle", "high"))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(["b", "a"])}),
        pd.DataFrame({"x": pd.Categorical([2, 1], ordered=True)}),
        pl.DataFrame({"x": pl.Series(["b", "a"], dtype=pl.Categorical)}),
        pa.table({"x": ["b", "a"]}),
    ],
    ids=["unordered", "numbers", "polars categorical", "arrow"],
)
def test_other_columns_have_none(frame):
    assert to_arrow(frame)[1].category_orders == {}


def test_what_a_schema_says_outweighs_the_order_of_categories():
    said = sf.Schema(quasi_identifiers=["x", "y"], orders={"x": ["b", "a"]}, scales={"y": "nominal"})
    assert said.with_orders({"x": ("a", "b"), "y": ("a", "b"), "z": ("a",)}) == said


def test_a_release_takes_the_order_of_categories_over():
    frame = pd.DataFrame({"x": pd.Categorical(["low", "middle", "high"] * 4, categories=ORDER, ordered=True)})
    made = sf.anonymize(frame, sf.Schema(quasi_identifiers=["x"]), [sf.models.KAnonymity(k=5)])
    assert made.recipe.schema.orders == {"x": tuple(ORDER)}
    assert sf.explore(frame, sf.Schema(quasi_identifiers=["x"]), [sf.models.KAnonymity(k=5)]).recipe.schema.orders == {
        "x": tuple(ORDER)
    }


ZONED = pa.table({"at": pa.array([0, 3_600_000_000, None], pa.timestamp("us", "Europe/Berlin")), "n": [1, 1, 1]})


def test_moments_are_held_in_utc_and_know_their_zone():
    held = to_canonical(ZONED)
    assert held.schema.field("at").type == pa.timestamp("us")
    assert get_time_zones(held) == get_time_zones(to_canonical(held)) == {"at": "Europe/Berlin"}
    assert restore_time_zones(held, get_time_zones(held))["at"].equals(ZONED["at"])
    assert restore_time_zones(held.drop_columns("at"), get_time_zones(held)).column_names == ["n"]


@pytest.mark.parametrize("table_format", ["csv", "parquet", "xlsx"])
def test_moments_are_published_with_their_zone(tmp_path, table_format):
    made = sf.anonymize(ZONED, sf.Schema(quasi_identifiers=["n"], insensitive=["at"]), [sf.models.KAnonymity(k=2)])
    made.write(tmp_path / "release", table_format=table_format, report=False)
    read = sf.read(tmp_path / "release" / "public" / f"table.{table_format}")
    assert get_time_zones(read) == {"at": "Europe/Berlin" if table_format == "parquet" else "UTC"}
    assert sorted(each for each in read["at"].cast(pa.int64()).to_pylist() if each is not None) == [0, 3_600_000_000]
    if table_format == "csv":
        written = (tmp_path / "release/public/table.csv").read_text()
        assert "1970-01-01T01:00:00+01:00" in written


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_databases_keep_the_instant_of_moments_with_a_zone(tmp_path, scheme):
    url = f"{scheme}:///{tmp_path}/x.db"
    sf.write(ZONED, url, table_name="t")
    read = sf.read(url, table="t")
    assert read["at"].cast(pa.int64()).to_pylist() == [0, 3_600_000_000, None]
    assert list(get_time_zones(read)) == ["at"]
