"""A table that a database hands out in batches is the one that is read at once."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.io import _duckdb as duckdb_format
from sfumato.io._database import read_database, stream_database, write_database
from sfumato.io._dataframes import to_canonical

TABLE = pa.table({"age": [39, None, 50], "name": ["Eve", None, "Bob"], "weight": [70.5, 80.0, None]})


def streamed(url: str, tmp_path, **options: str) -> pa.Table:
    target = tmp_path / "streamed.parquet"
    target.unlink(missing_ok=True)
    stream_database(url, target, **options)
    return to_canonical(pq.read_table(target))


def test_tables_views_and_queries_of_duckdb_are_streamed(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_format, "BATCH", 2)
    url = f"duckdb:///{tmp_path}/a.duckdb"
    write_database(TABLE, url, table_name="persons")
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE VIEW grown AS SELECT * FROM persons WHERE age > 40")
    for asked in ({"table": "persons"}, {"table": "grown"}, {"query": "SELECT age FROM persons"}):
        assert streamed(url, tmp_path, **asked).equals(read_database(url, **asked))
    with pytest.raises(ReadError, match="persons"):
        streamed(url, tmp_path)
    with pytest.raises(InvalidParameterError):
        streamed(url, tmp_path, table="persons", query="SELECT 1")
    with pytest.raises(ReadError, match="would reach other files"):
        streamed(url, tmp_path, query="SELECT * FROM read_csv('x.csv')")
    with pytest.raises(ReadError, match="no database file"):
        streamed(f"duckdb:///{tmp_path}/b.duckdb", tmp_path, table="persons")


@examples(15)
@given(
    st.lists(
        st.tuples(
            st.none() | st.decimals(-(10**6), 10**6, places=2),
            st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
            st.none() | st.sampled_from(["1", "2.50", "NaN", "-7", "0.1"]),
        ),
        max_size=6,
    )
)
def test_decimals_of_postgresql_have_the_type_of_the_whole_column(postgresql, tmp_path_factory, rows):
    values = ", ".join(f"({', '.join('NULL' if cell is None else repr(str(cell)) for cell in row)})" for row in rows)
    postgresql.execute(
        "DROP TABLE IF EXISTS decimals",
        "CREATE TABLE decimals (price numeric(12, 2), whole numeric, odd numeric)",
        *([f"INSERT INTO decimals VALUES {values}"] if rows else []),  # noqa: S608 - numbers
    )
    expected = read_database(postgresql.url, table="decimals")
    assert streamed(postgresql.url, tmp_path_factory.mktemp("pg"), table="decimals").equals(expected)


def test_types_and_refusals_are_those_of_reading_at_once(postgresql, tmp_path):
    postgresql.execute(
        "CREATE TABLE streamed_kinds (n int4, t text, cash money, zone timestamptz, clock time)",
        "INSERT INTO streamed_kinds (n) VALUES (NULL)",
        "INSERT INTO streamed_kinds VALUES (1, 'a', 1.5, '2020-01-01 10:00+01', '10:30')",
        "CREATE TABLE too_fine (x numeric)",
        "INSERT INTO too_fine VALUES (0.12345678901234567891), (0.5)",
    )
    assert streamed(postgresql.url, tmp_path, table="streamed_kinds").equals(
        read_database(postgresql.url, table="streamed_kinds")
    )
    with pytest.raises(SchemaError, match="more digits"):
        streamed(postgresql.url, tmp_path, table="too_fine")
    with pytest.raises(ReadError, match="has no table"):
        streamed(postgresql.url, tmp_path, table="nothing")
