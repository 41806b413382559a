"""Disassociated baskets in files: parts, terms and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from sfumato.baskets.basket_files import read_csv
from sfumato.exceptions import SchemaError, WriteError

TABLES = {
    "parts": {"cluster": pa.int64(), "chunk": pa.int64(), "part": pa.int64(), "item": pa.string()},
    "terms": {"cluster": pa.int64(), "item": pa.string()},
    "clusters": {"cluster": pa.int64(), "baskets": pa.int64(), "within": pa.int64()},
}
DESCRIPTIONS = {
    "parts": "the items of every part, by cluster and chunk; numbers of parts join nothing across chunks",
    "terms": "the items of every cluster of which it is not told how many of its baskets have them",
    "clusters": "the number of baskets of every cluster, and the joint cluster it is in",
}
FORMATS = ("csv", "parquet")
FILES = {f"{name}.{form}": holds for name, holds in DESCRIPTIONS.items() for form in FORMATS}


def write_disassociated(tables: Sequence[pa.Table], folder: Path, table_format: str) -> None:
    """Write the three tables."""
    if table_format not in FORMATS:
        raise WriteError(f"Disassociated baskets are not written as {table_format!r}; choose csv or parquet.")
    for name, table in zip(TABLES, tables, strict=True):
        path = folder / f"{name}.{table_format}"
        if table_format == "csv":
            pa_csv.write_csv(table, path)
        else:
            pq.write_table(table, path)


def read_disassociated(folder: Path) -> tuple[pa.Table, pa.Table, pa.Table] | None:
    """Read the three tables; None if there are none."""
    for form in FORMATS:
        paths = [folder / f"{name}.{form}" for name in TABLES]
        if all(path.is_file() for path in paths):
            parts, terms, clusters = (
                _read_table(path, types) for path, types in zip(paths, TABLES.values(), strict=True)
            )
            return parts, terms, clusters
    return None


def _read_table(path: Path, types: dict[str, pa.DataType]) -> pa.Table:
    try:
        table = read_csv(path, types) if path.suffix == ".csv" else pq.read_table(path)
        return table.select(list(types)).cast(pa.schema(types))
    except (KeyError, pa.ArrowException):
        raise SchemaError(
            f"{path.name} does not have the columns {', '.join(types)} of disassociated baskets."
        ) from None
