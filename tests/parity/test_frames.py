"""The same recipe on the same table gives the same bytes, whatever dataframe or file it came in."""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import described_tables

SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "zip", "admission", "height_cm"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"zip": sf.hierarchies.Prefixes()},
)
MODELS = [KAnonymity(k=4), DistinctLDiversity(l=2, sensitive="disease")]
KINDS = {
    "pandas": lambda table: table.to_pandas(),
    "pandas, Arrow types": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas, categorical": lambda table: table.to_pandas().astype({"sex": "category", "zip": "category"}),
    "pandas, objects": lambda table: table.to_pandas(date_as_object=True).astype(object),
    "pandas, other index": lambda table: table.to_pandas().set_axis([9] * table.num_rows, axis=0),
    "Polars": pl.from_arrow,
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "Polars, small numbers": lambda table: pl.from_arrow(table).with_columns(pl.col("age").cast(pl.UInt8)),
    "Arrow, chunked": lambda table: pa.concat_tables([table.slice(0, 50), table.slice(50)]),
    "Arrow, reals": lambda table: table.set_column(1, "age", table["age"].cast(pa.float32())),
}


def with_gaps(table: pa.Table) -> pa.Table:
    """Empty some cells of every column."""
    columns = []
    for number, column in enumerate(table.columns):
        keep = pa.array([(row * 7 + number) % 11 > 0 for row in range(table.num_rows)])
        columns.append(pa.compute.if_else(keep, column, pa.scalar(None, column.type)))
    return pa.table(columns, names=table.column_names)


TABLES = {
    "complete": sf.datasets.generate_hospital(120, seed=3),
    "with gaps": with_gaps(sf.datasets.generate_hospital(120, seed=3)),
}


def written(release: sf.Release, folder: Path) -> dict[str, bytes]:
    release.write(folder, table_format="csv")
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    sf.write(release.frame, folder / "again.parquet")
    return files | {"again.parquet": (folder / "again.parquet").read_bytes()}


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_files(kind, content, tmp_path):
    table = TABLES[content]
    first = sf.anonymize(table, SCHEMA, MODELS, seed=1)
    other = sf.anonymize(KINDS[kind](table), SCHEMA, MODELS, seed=1)
    mine, theirs = written(first, tmp_path / "first"), written(other, tmp_path / "other")
    assert mine.keys() == theirs.keys()
    for name in mine:
        assert mine[name] == theirs[name], name
    assert other.metrics == first.metrics
    assert other.correspondence.tolist() == first.correspondence.tolist()


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table.xlsx"])
def test_a_table_read_from_a_file_gives_the_same_release(name, content, tmp_path):
    table = TABLES[content]
    sf.write(table, tmp_path / name)
    first = sf.anonymize(table, SCHEMA, MODELS, seed=1)
    read = sf.anonymize(sf.read(tmp_path / name), SCHEMA, MODELS, seed=1)
    assert read.recipe == first.recipe
    assert read.published.equals(first.published)


@pytest.mark.parametrize("content", TABLES)
def test_running_twice_gives_the_same_bytes(content, tmp_path):
    runs = [written(sf.anonymize(TABLES[content], SCHEMA, MODELS, seed=1), tmp_path / run) for run in ("a", "b")]
    assert runs[0] == runs[1]


def test_another_order_of_rows_is_published_alike(tmp_path):
    table = TABLES["with gaps"]
    order = pa.array([(row * 37) % table.num_rows for row in range(table.num_rows)])
    first, other = (sf.anonymize(each, SCHEMA, MODELS, seed=1) for each in (table, table.take(order)))
    assert first.published.equals(other.published)
    mine, theirs = written(first, tmp_path / "first"), written(other, tmp_path / "other")
    for name in mine:
        assert name.startswith("internal/") or mine[name] == theirs[name]


@given(described_tables(least_rows=4))
def test_random_tables_are_published_alike(described):
    table, schema = described
    frames = (table, table.to_pandas(), pl.from_arrow(table))
    releases = [sf.anonymize(frame, schema, [KAnonymity(k=2)], seed=1) for frame in frames]
    for first, second in itertools.pairwise(releases):
        assert first.published.equals(second.published)
        assert first.recipe == second.recipe
    assert [type(release.frame) for release in releases] == [pa.Table, pd.DataFrame, pl.DataFrame]
