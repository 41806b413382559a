"""Parquet files in and out."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import ReadError, SchemaError
from sfumato.io._parquet import read_parquet, write_parquet

TABLE = pa.table({"zip": [f"{number:05}" for number in range(2000)], "n": list(range(2000))})


def test_equal_tables_give_equal_bytes(tmp_path):
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    table = pa.table({"long": [f"{number:0900}" for number in range(4000)], "n": list(range(4000))})
    write_parquet(table, first)
    parts = pa.concat_tables([table.slice(0, 5), table.slice(5)]).replace_schema_metadata({"note": "x"})
    write_parquet(parts, second)
    assert first.read_bytes() == second.read_bytes()
    assert read_parquet(first).equals(table)


def test_an_unnamed_pandas_index_is_left_out(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": [1, 2]}, index=[5, 3]).to_parquet(path)
    assert read_parquet(path).to_pydict() == {"a": [1, 2]}


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = tmp_path / "x.parquet"
    write_parquet(TABLE, path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ReadError, match=r"x\.parquet is not a complete Parquet file"):
        read_parquet(path)


def test_a_damaged_page_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    write_parquet(TABLE, path)
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(ReadError, match="not a complete Parquet file"):
        read_parquet(path)


def test_nested_columns_are_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [[1]]}), path)
    with pytest.raises(SchemaError, match="'x' has type list"):
        read_parquet(path)
